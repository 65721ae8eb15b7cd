#!/bin/bash
# Checks the crates that the project stands on with cargo-deny, by deny.toml: licences, versions, sources, and advisories
# of RustSec.
#
#   scripts/deny.sh             reports what could not be checked, and goes on
#   scripts/deny.sh --require   fails if something could not be checked, unless SKIP_MISSING=1
#
# Advisories are read from the database that cargo-deny fetches with git, or from the copy of an earlier fetch, whose date
# is then printed. Licences, versions and sources are also checked by `xtask tidy`, which takes neither.
set -euo pipefail
cd "$(dirname "$0")/.."

required=${1:-}
incomplete=
say() { echo "deny: $*"; }
unchecked() {
	say "NOT CHECKED: $*" >&2
	incomplete=1
}

if command -v cargo-deny >/dev/null; then
	deny() { # manifest, more of its arguments
		cargo-deny --manifest-path "$1" --config deny.toml --locked "${@:2}"
	}
	for manifest in Cargo.toml bindings/node/Cargo.toml; do
		# A version that only one of the two has twice is skipped for both.
		deny "$manifest" check --allow unnecessary-skip licenses bans sources
	done
	# The tool's own place for databases, in a folder for each.
	copies=${CARGO_HOME:-$HOME/.cargo}/advisory-dbs
	fetched=$(deny Cargo.toml fetch db 2>&1) || true
	copy=$(ls -dt "$copies"/*/.git 2>/dev/null | head -1) || true
	if [ -n "$copy" ]; then
		for manifest in Cargo.toml bindings/node/Cargo.toml; do
			deny "$manifest" --offline check advisories
		done
		say "advisories of $(git -C "${copy%/.git}" log -1 --format=%cs)"
	else
		unchecked "advisories: there is no database in $copies, and it cannot be fetched: $(tail -1 <<<"$fetched")"
		say "where there is a network, \"cargo deny fetch\" gets it; a clone of github.com/rustsec/advisory-db will do" >&2
	fi
else
	unchecked "advisories: there is no cargo-deny (cargo install cargo-deny --locked). Licences, versions and sources: xtask tidy"
fi
[ -z "$incomplete" ] || [ "$required" != --require ] || [ "${SKIP_MISSING:-}" = 1 ] || exit 1
