#!/bin/sh
# Installs what the tests and benches use (Debian packages, when root), or
# names what is missing. Tests that lack something are skipped; make test lists them at its end.
#
#   scripts/needs.sh          packages that bring no service
#   scripts/needs.sh --all    those with services too: CI, and machines for tests
set -eu

all=${1:-}
[ "${CI:-}" = true ] && all=--all
missing="" services="" large=""
is_there() { command -v "$1" >/dev/null 2>&1 || [ -x "/sbin/$1" ] || [ -x "/usr/sbin/$1" ]; }
need() { # command, packages
	is_there "$1" || missing="$missing $2"
}
# A daemon that Debian starts with its package is not put on somebody's machine.
need_with_service() { # command, packages
	is_there "$1" || if [ "$all" = --all ]; then missing="$missing $2"; else services="$services $2"; fi
}
need cc gcc
need fio fio
need strace strace
need valgrind valgrind
need python3 python3
need mkfs.ext4 e2fsprogs
need mkfs.xfs xfsprogs
need mkfs.btrfs btrfs-progs
need mkfs.vfat dosfstools
need mkfs.f2fs f2fs-tools
need mksquashfs squashfs-tools
need mkfs.erofs erofs-utils
need losetup mount
need dmsetup dmsetup
need setpriv util-linux
need script bsdutils
need ip iproute2
need mpirun.openmpi openmpi-bin
need mpirun.mpich mpich
need zsh zsh
need zstd zstd
# fio has it do arithmetic in job files.
need bc bc
# Hundreds of megabytes are not put there either; Debian's node has no npm beside it.
need_large() { # command, packages, what for
	is_there "$1" || large="$large$2 ($3) "
}
need_large node "nodejs npm" "the package for Node"
need_large chromium chromium "pages looked at by a browser"
need_with_service promtool prometheus
need_with_service slurmctld "slurmctld slurmd slurm-client"

command -v cargo >/dev/null 2>&1 || { echo "needs: a Rust toolchain (cargo) is missing; see https://rustup.rs" >&2; exit 1; }
for part in rustfmt clippy; do
	cargo "$( [ $part = rustfmt ] && echo fmt || echo clippy )" --version >/dev/null 2>&1 \
		|| rustup component add "$part" >/dev/null 2>&1 \
		|| { echo "needs: the toolchain's $part is missing (rustup component add $part)" >&2; exit 1; }
done

if [ -n "$missing" ]; then
	if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
		echo "needs: installing$missing"
		apt-get update -qq >/dev/null
		# A service among them is not started.
		# shellcheck disable=SC2086
		RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
	else
		echo "needs: not installed:$missing; tests that use them are skipped, and listed at the end" >&2
	fi
fi
[ -z "$services" ] || echo "needs: not installed, as their packages start services:$services;" \
	"tests that use them are skipped (scripts/needs.sh --all installs them)" >&2
[ -z "$large" ] || echo "needs: not installed, as it is large: ${large% }; tests that use it are skipped" >&2
