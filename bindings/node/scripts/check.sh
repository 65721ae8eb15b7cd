#!/bin/sh
# The Node package's part of `make test`: format, lints, build, tests.
set -eu
cd "$(dirname "$0")/.."
CARGO="${CARGO:-cargo}"

$CARGO fmt --check
$CARGO clippy --quiet --all-targets -- -D warnings
if ! command -v node >/dev/null 2>&1; then
	echo "bindings/node: tests skipped: there is no node (18 or later)"
	exit 0
fi
node scripts/build.js
node --test test/*.test.js
