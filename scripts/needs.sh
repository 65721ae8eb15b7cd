#!/bin/sh
# Installs what the tests and benches use (Debian packages, when root), or
# names what is missing. Tests that lack something are skipped; make test lists them at its end.
set -eu

missing=""
need() { # command package
	command -v "$1" >/dev/null 2>&1 || [ -x "/sbin/$1" ] || [ -x "/usr/sbin/$1" ] || missing="$missing $2"
}
need cc gcc
need fio fio
need strace strace
need valgrind valgrind
need python3 python3
need mkfs.ext4 e2fsprogs
need mkfs.xfs xfsprogs
need mkfs.btrfs btrfs-progs
need losetup mount
need dmsetup dmsetup

command -v cargo >/dev/null 2>&1 || { echo "needs: a Rust toolchain (cargo) is missing; see https://rustup.rs" >&2; exit 1; }
for part in rustfmt clippy; do
	cargo "$( [ $part = rustfmt ] && echo fmt || echo clippy )" --version >/dev/null 2>&1 \
		|| rustup component add "$part" >/dev/null 2>&1 \
		|| { echo "needs: the toolchain's $part is missing (rustup component add $part)" >&2; exit 1; }
done

[ -z "$missing" ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
	echo "needs: installing$missing"
	apt-get update -qq >/dev/null
	# shellcheck disable=SC2086
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $missing >/dev/null
else
	echo "needs: not installed:$missing; tests that use them are skipped, and listed at the end" >&2
fi
