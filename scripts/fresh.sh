#!/bin/bash
# Runs both commands of the README as somebody does who has just installed Debian: in a Debian made by debootstrap, in
# namespaces of its own, with what the README names and nothing else. What was missing there is named.
#
#   scripts/fresh.sh [--keep] [run] [test]     both without arguments; --keep leaves the system where it is
#
# Takes root, debootstrap, mount namespaces and a network. The toolchain is this machine's, brought in read-only. SUITE and
# MIRROR choose the Debian; FRESH_DIR is where it is made, 4 GB of room at least (a folder of its own in /var/tmp).
set -euo pipefail
cd "$(dirname "$0")/.."

SUITE=${SUITE:-bookworm}
MIRROR=${MIRROR:-http://deb.debian.org/debian}
# What the README names, beside Rust: `apt-get install gcc` brings libc6-dev, which debootstrap does not.
PACKAGES=gcc,libc6-dev,make,git,ca-certificates

say() { echo "fresh: $*"; }
fail() { say "$*" >&2; exit 1; }

keep='' commands=()
for word; do
	case $word in
		--keep) keep=1 ;;
		run | test) commands+=("$word") ;;
		*) fail "unknown argument \"$word\": use --keep, run or test" ;;
	esac
done
[ ${#commands[@]} -gt 0 ] || commands=(run test)

[ "$(id -u)" = 0 ] || fail "it takes root, for debootstrap and mounts"
missing=''
for program in debootstrap git rustc unshare; do
	command -v $program >/dev/null || missing+=" $program"
done
[ -z "$missing" ] || fail "these are missing:$missing"
[ -z "$(git status --porcelain)" ] || say "changes that are not committed are not in the clone"

dir=$(mktemp -d "${FRESH_DIR:-/var/tmp}/iosonde-fresh.XXXXXX")
root=$dir/root
[ -n "$keep" ] || trap 'rm -rf --one-file-system "$dir"' EXIT
say "Debian $SUITE in $root"
debootstrap --variant=minbase --include=$PACKAGES "$SUITE" "$root" "$MIRROR" >"$dir/debootstrap.log" 2>&1 \
	|| { tail -5 "$dir/debootstrap.log" >&2; fail "debootstrap failed"; }
mkdir -p "$root/opt/rust" "$root/root/iosonde"
cp /etc/resolv.conf "$root/etc/resolv.conf"
# Certificates that this machine trusts beyond Debian's (a company's proxy): downloads go the same way there.
bundle=${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt} theirs=$root/etc/ssl/certs/ca-certificates.crt
if [ -r "$bundle" ]; then
	awk -v into="$root/usr/local/share/ca-certificates/this-machine-" '
		/BEGIN CERTIFICATE/ { block = "" }
		{ block = block $0 "\n" }
		/END CERTIFICATE/ { if (NR == FNR) known[block] = 1; else if (!(block in known)) printf "%s", block > (into NR ".crt") }
	' "$theirs" "$bundle"
	chroot "$root" update-ca-certificates >/dev/null 2>>"$dir/debootstrap.log"
fi
# It has no service manager: what packages bring is not started.
printf '#!/bin/sh\nexit 101\n' > "$root/usr/sbin/policy-rc.d" && chmod +x "$root/usr/sbin/policy-rc.d"
git clone --quiet --no-local . "$root/root/iosonde"
say "clone of $(git rev-parse --short HEAD)"

# Mounts end with the namespace. Processes too, which tests may leave when they are interrupted.
inside() { # command
	ROOT=$root RUST=$(rustc --print sysroot) unshare --mount --pid --fork --kill-child --propagation private bash -euc '
		# A root of its own: in a mere chroot nothing is mounted at /, and no namespace can be made.
		mount --bind "$ROOT" "$ROOT"
		mount --rbind /dev "$ROOT/dev"
		mount --rbind /sys "$ROOT/sys"
		mount -t proc proc "$ROOT/proc"
		mount -t tmpfs -o size=2g tmpfs "$ROOT/tmp"
		mount --bind -o ro "$RUST" "$ROOT/opt/rust"
		cd "$ROOT"
		pivot_root . .
		umount -l .
		exec env -i HOME=/root PATH=/opt/rust/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
			TERM=dumb ${CI:+CI=$CI} ${NODE_EXTRA_CA_CERTS:+NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt} bash -c "cd /root/iosonde && $0"
	' "$1" </dev/null
}

failed=''
for command in "${commands[@]}"; do
	began=$(date +%s)
	if inside "make $command" >"$dir/$command.log" 2>&1; then result=passed; else result=FAILED failed=1; fi
	say "make $command: $result in $(($(date +%s) - began)) s"
	case $command-$result in
		*-FAILED) sed -n '/^failures:$/,/^test result/p' "$dir/$command.log"; tail -40 "$dir/$command.log" ;;
		run-*) sed -n '/Finished/,$p' "$dir/$command.log" ;;
		test-*) grep '^needs:' "$dir/$command.log" || true; sed -n '/^slowest test programs/,$p' "$dir/$command.log" ;;
	esac
done
# What a program was looked for and not found, in the words of make test's summary.
if [ -f "$dir/test.log" ]; then
	lacked=$(sed -n '/^skipped/,$p' "$dir/test.log" | grep -i 'not installed\|there is no ' || true)
	[ -z "$lacked" ] || printf 'fresh: missing there:\n%s\n' "$lacked"
fi
[ -z "$keep" ] || say "left in $dir"
[ -z "$failed" ]
