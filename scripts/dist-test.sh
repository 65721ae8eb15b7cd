#!/bin/bash
# Installs each package of dist/ that is for this processor in a clean place, runs it, and removes it:
#
#   scripts/dist-test.sh
#
# The .deb in an overlay of this system (root, a mount namespace, dpkg), the .rpm in an empty root (rpm), the wheel in
# an empty virtual environment without a network, with its module's tests and types (pytest, mypy); binaries for aarch64
# under qemu; the sources by cargo install; the npm packages by scripts/dist-test-npm.sh. What cannot be tested here is named
# and makes the script fail, unless SKIP_MISSING=1.
set -euo pipefail
cd "$(dirname "$0")/.."

DIST=$PWD/dist
ROOT=$PWD
MACHINE=$(uname -m)
VERSION=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
mkdir -p target
WORK=$(mktemp -d "$PWD/target/dist-test.XXXXXX") && trap 'rm -rf "$WORK"' EXIT

say() { echo "dist-test: $*"; }
fail() { say "$*" >&2; exit 1; }
missing() { [ "${SKIP_MISSING:-}" = 1 ] && say "skipped $*" || fail "cannot test $*"; }

# What each installed program has to do.
runs() { # program
	[ "$("$1" --version)" = "iosonde $VERSION" ] || fail "$1 is not iosonde $VERSION"
	(cd "$WORK" && "$1" --name=t --size=1m --rw=write --bs=4k --end_fsync=1 --output=t.txt && grep -q '  write ' t.txt \
		&& rm t.0.0 t.txt) || fail "$1 does not run a job"
}

# The lines of README.md are about files that are here.
readme() {
	local name
	for name in $(sed -n '/^## Install/,/^## /p' README.md | grep -o 'dist/[^ ]*' | grep -v '^dist/`'); do
		for name in $(eval "echo $name"); do
			[ -f "$name" ] || fail "README.md installs $name, which is not there"
		done
	done
}

sources() {
	"${CARGO:-cargo}" install --quiet --locked --path crates/iosonde --root "$WORK/cargo" --no-track
	runs "$WORK/cargo/bin/iosonde"
	say "sources: installed by cargo, ran"
}

tarball() {
	tar -C "$WORK" -xzf "$DIST/iosonde-$VERSION-linux-$MACHINE.tar.gz"
	runs "$WORK/iosonde-$VERSION-linux-$MACHINE/iosonde"
	# The debug information is of this binary.
	tar -C "$WORK" -xJf "$DIST/iosonde-$VERSION-linux-$MACHINE-debug.tar.xz"
	[ -s "$WORK/iosonde.debug" ] || fail "there is no debug information"
	say "tarball: unpacked, ran"
}

deb() {
	command -v dpkg >/dev/null && [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null \
		|| { missing "the .deb: it takes dpkg, root and mount namespaces"; return; }
	local package
	package=$DIST/iosonde_${VERSION}_$(dpkg --print-architecture).deb
	mkdir -p "$WORK/tmpfs"
	DEB=$package VERSION=$VERSION unshare -m --propagation private bash -euc '
		mount -t tmpfs none "$0"
		mkdir "$0"/upper "$0"/work "$0"/root
		mount -t overlay overlay -o "lowerdir=/,upperdir=$0/upper,workdir=$0/work" "$0/root"
		mount -t proc proc "$0/root/proc"
		mount --rbind /dev "$0/root/dev"
		mount -t tmpfs none "$0/root/tmp"
		cp "$DEB" "$0/root/tmp/package.deb"
		inside() { chroot "$0/root" env PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"; }
		inside dpkg -i /tmp/package.deb >/dev/null
		[ "$(inside iosonde --version)" = "iosonde $VERSION" ]
		inside sh -c "cd /tmp && iosonde --name=t --size=1m --rw=write --bs=4k --output=t.txt && test -s t.0.0"
		for file in man/man1/iosonde.1.gz man/man1/iosonde-probe.1.gz bash-completion/completions/iosonde \
			zsh/vendor-completions/_iosonde fish/vendor_completions.d/iosonde.fish doc/iosonde/README.md; do
			test -s "$0/root/usr/share/$file"
		done
		inside bash -n /usr/share/bash-completion/completions/iosonde
		# The alternative is off, can be turned on, and ends with the package.
		test ! -e "$0/root/usr/local/bin/fio"
		inside update-alternatives --quiet --install /usr/local/bin/fio fio /usr/lib/iosonde/fio 10
		inside /usr/local/bin/fio --version | grep -q ^fio-3
		inside dpkg --purge iosonde >/dev/null
		# Of the system, only the lists of dpkg and of the alternatives have changed.
		cd "$0/upper"
		left=$(find . -not -type d -not -path "./var/lib/dpkg/*" -not -path "./var/log/*" -not -path "./var/cache/*" \
			-not -path "./etc/ld.so.cache")
		lists=$(find ./var/lib/dpkg -type f -path "*iosonde*" -o -path "./var/lib/dpkg/alternatives/fio" -size +0)
		[ -z "$left$lists" ] || { echo "left behind: $left $lists" >&2; exit 1; }
	' "$WORK/tmpfs" || fail ".deb: failed"
	say ".deb: installed, ran, purged, nothing left"
}

rpm_() {
	command -v rpm >/dev/null || { missing "the .rpm: there is no rpm"; return; }
	local root=$WORK/rpm package=$DIST/iosonde-$VERSION-1.$MACHINE.rpm
	mkdir -p "$root"
	rpm --root "$root" --initdb
	# Without scripts and dependencies: the root is empty, there is not even a shell.
	rpm --root "$root" --nodeps --noscripts -i "$package"
	runs "$root/usr/bin/iosonde"
	[ "$("$root/usr/lib/iosonde/fio" --version | cut -c1-5)" = fio-3 ] || fail ".rpm: lib/iosonde/fio is not fio"
	rpm --root "$root" --nodeps --noscripts -e iosonde
	[ -z "$(find "$root/usr" -name '*iosonde*')" ] || fail ".rpm: leaves $(find "$root/usr" -name '*iosonde*')"
	say ".rpm: installed, ran, removed, nothing left"
}

wheel() {
	python3 -m venv "$WORK/venv"
	local python=$WORK/venv/bin/python
	"$python" -m pip install --quiet --no-index --disable-pip-version-check "$DIST"/iosonde-"$VERSION"-py3-none-*_"$MACHINE".whl
	runs "$WORK/venv/bin/iosonde"
	(cd "$WORK" && env -u IOSONDE "$python" -c '
import iosonde
result = iosonde.run({"name": "t", "ioengine": "null", "size": "1m", "rw": "read", "bs": "4k"})
assert result.jobs[0].read.ios == 256 and iosonde.program().endswith("/venv/bin/iosonde"), iosonde.program()
') || fail "wheel: the module does not run the program"
	command -v pytest >/dev/null && command -v mypy >/dev/null || { missing "the module: there is no pytest or no mypy"; return; }
	(cd python && IOSONDE=$WORK/venv/bin/iosonde PYTHONPATH=$PWD PYTHONDONTWRITEBYTECODE=1 pytest -q -p no:cacheprovider tests \
		&& mypy --strict --cache-dir="$WORK/mypy" iosonde tests) || fail "module: failed"
	"$python" -m pip uninstall --quiet --yes --disable-pip-version-check iosonde
	[ ! -e "$WORK/venv/bin/iosonde" ] || fail "wheel: leaves the program"
	say "wheel: installed, ran, its module tested and type-checked, removed"
}

# Packages for the other processor: the program runs on an emulated one, with null, psync and verify, and says so
# where there is no io_uring.
foreign() { # processor, architecture of Debian, libraries
	[ "$1" != "$MACHINE" ] && [ -f "$DIST/iosonde-$VERSION-linux-$1.tar.gz" ] || return 0
	command -v "qemu-$1" >/dev/null && [ -d "$3" ] || { missing "$1: there is no qemu-$1 (qemu-user) or no $3"; return; }
	tar -C "$WORK" -xzf "$DIST/iosonde-$VERSION-linux-$1.tar.gz"
	printf '#!/bin/sh\nexec qemu-%s -L %s %s "$@"\n' "$1" "$3" "$WORK/iosonde-$VERSION-linux-$1/iosonde" > "$WORK/run-$1"
	chmod +x "$WORK/run-$1"
	runs "$WORK/run-$1"
	(cd "$WORK" && "./run-$1" --name=n --ioengine=null --size=16m --rw=randread --bs=4k --output=t.txt \
		&& "./run-$1" --name=t --size=1m --rw=randwrite --bs=4k --verify=crc32c --output=t.txt && rm t.txt t.0.0) \
		|| fail "$1: a job fails"
	if (cd "$WORK" && "./run-$1" --name=r --ioengine=io_uring --size=1m --rw=read >r.txt 2>&1); then
		say "$1: io_uring works in this emulator"
	else
		grep -q io_uring "$WORK/r.txt" || fail "$1: a missing io_uring is not named: $(cat "$WORK/r.txt")"
	fi
	[ "$(dpkg-deb -f "$DIST/iosonde_${VERSION}_$2.deb" Architecture)" = "$2" ] || fail "$1: the .deb is of another processor"
	[ "$(rpm -qp --qf '%{ARCH}' "$DIST/iosonde-$VERSION-1.$1.rpm" 2>/dev/null)" = "$1" ] || fail "$1: the .rpm is of another processor"
	say "$1: ran under qemu-$1; its .deb, .rpm and wheel were not installed"
}

# The zip for Windows: unpacked, and tried under Wine beside the program of this machine.
windows() {
	local wine=${WINE:-${IOSONDE_CROSS_DIR:-$PWD/target/cross}/wine/run} name=iosonde-$VERSION-windows-x86_64
	python3 -m zipfile -e "$DIST/$name.zip" "$WORK"
	[ -f "$WORK/$name/doc/README.md" ] || fail "windows: the zip has no documents"
	[ -x "$wine" ] || { missing "windows: there is no Wine (make cross)"; return; }
	scripts/wine-check.sh "$wine" "$WORK/$name/iosonde.exe" "$WORK/iosonde-$VERSION-linux-$MACHINE/iosonde" || fail "windows: a check fails under Wine"
	say "windows: unpacked, its checks pass under Wine"
}

[ -f "$DIST/SHA256SUMS" ] || fail "there is nothing in dist: run make dist"
(cd "$DIST" && sha256sum --quiet -c SHA256SUMS)
for sbom in iosonde iosonde-direct-io; do python3 -m json.tool "$DIST/$sbom-$VERSION.cdx.json" >/dev/null; done
readme
sources
tarball
deb
rpm_
wheel
foreign aarch64 arm64 /usr/aarch64-linux-gnu
windows
scripts/dist-test-npm.sh
say "all packages of $VERSION for $MACHINE work"
