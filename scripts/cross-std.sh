#!/bin/bash
# Standard libraries for systems that the toolchain has none for: a part of cross-check.sh, dist.sh and packages.js, which
# say what for. rustup has them where it can download (rustup target add); elsewhere one is built from Debian's sources,
# with Debian's compiler, once: about 300 MB of downloads and two minutes of two processors a target, in target/cross
# (IOSONDE_CROSS_DIR for another place). Run by itself it makes them:
#
#   scripts/cross-std.sh TARGET...     prints the compiler to build each with (RUSTC=...)
#
# What is read: the function say; what is set: DIR, STD, CARGO, and `why` where something is not to be had.

CARGO=${CARGO:-cargo}
DIR=${IOSONDE_CROSS_DIR:-$PWD/target/cross}
STD=$DIR/sysroot/lib/rustlib
PACKAGES="rustc-web libstd-rust-web-dev rust-web-src libllvm22
	binutils-mingw-w64-x86-64 gcc-mingw-w64-x86-64-win32 gcc-mingw-w64-x86-64-win32-runtime
	gcc-mingw-w64-base mingw-w64-x86-64-dev mingw-w64-common"

# Whether the toolchain in use has a standard library for a target.
has_own() { [ -n "$(ls "$(rustc --print sysroot)/lib/rustlib/$1/lib/"libstd-*.rlib 2>/dev/null)" ]; }
# Whether one was made.
has_made() { [ -x "$DIR/rustc" ] && [ -n "$(ls "$STD/$1/lib/"libstd-*.rlib 2>/dev/null)" ]; }

# Debian's compiler and its sources, unpacked and not installed: installing them
# would remove rustup's.
unpack() {
	[ -x "$DIR/root/usr/bin/rustc" ] && return
	command -v apt-get >/dev/null && command -v dpkg >/dev/null || { why="no Debian packages here"; return 1; }
	mkdir -p "$DIR/debs" "$DIR/bin" "$STD"
	say "downloading Debian's rustc-web and mingw to $DIR"
	# The library's package is named after the compiler's version.
	library=$(apt-cache depends libstd-rust-web-dev 2>/dev/null | grep -o 'libstd-rust-web-[0-9][0-9.]*' | head -1) || true
	[ -n "$library" ] || { why="Debian's rustc-web is not among the packages here"; return 1; }
	# shellcheck disable=SC2086
	(cd "$DIR/debs" && apt-get download -qq $PACKAGES "$library" >/dev/null 2>&1) \
		|| { why="Debian's packages could not be downloaded"; return 1; }
	for package in "$DIR"/debs/*.deb; do dpkg -x "$package" "$DIR/root"; done
	rm -rf "$DIR/debs"
	for tool in "$DIR"/root/usr/bin/x86_64-w64-mingw32-*; do ln -sfn "$tool" "$DIR/bin/$(basename "$tool")"; done
	ln -sfn "$DIR/root/usr/bin/x86_64-w64-mingw32-gcc-win32" "$DIR/bin/x86_64-w64-mingw32-gcc"
	ln -sfn "$DIR/root/usr/lib/rustlib/x86_64-unknown-linux-gnu" "$STD/x86_64-unknown-linux-gnu"
	wrapper "$DIR/rustc-raw" ""
	wrapper "$DIR/rustc" "--sysroot $DIR/sysroot"
}

wrapper() { # file, more arguments
	printf '#!/bin/sh\nexport LD_LIBRARY_PATH=%s\nexec %s %s "$@"\n' \
		"$DIR/root/usr/lib/x86_64-linux-gnu" "$DIR/root/usr/bin/rustc" "$2" > "$1"
	chmod +x "$1"
}

# The standard library for a target, built from its sources with Debian's compiler.
make_std() {
	say "making a standard library for $1"
	mkdir -p "$DIR/std/src"
	printf '[package]\nname = "std-only"\nversion = "0.0.0"\nedition = "2021"\n[lib]\n[workspace]\n' \
		> "$DIR/std/Cargo.toml"
	: > "$DIR/std/src/lib.rs"
	# With bitcode, as rustup's have it: the packages for Node are optimised as a whole.
	(cd "$DIR/std" && env RUSTFLAGS="-C embed-bitcode=yes" PATH="$DIR/bin:$PATH" RUSTC="$DIR/rustc-raw" RUSTC_BOOTSTRAP=1 \
		CARGO_TARGET_DIR="$DIR/std/target" \
		"$CARGO" build -q --release -Zbuild-std=std,panic_abort,proc_macro,test --target "$1") \
		> "$DIR/std-$1.log" 2>&1 || { why="its standard library did not build: see $DIR/std-$1.log"; return 1; }
	rm -rf "${STD:?}/$1" && mkdir -p "$STD/$1/lib"
	cp "$DIR/std/target/$1/release/deps/"*.rlib "$STD/$1/lib/"
	rm -f "$STD/$1/lib/"libstd_only-*
	# What was built with another one cannot be linked with this.
	rm -rf "$DIR/std/target/$1" "${DIR:?}/$1" "bindings/node/target/cross/$1"
}

# The compiler that builds for a target, in `compiler`: the toolchain's own, or the one whose standard library is made here.
compiler_for() { # target
	if has_own "$1"; then compiler=rustc; return; fi
	compiler=$DIR/rustc
	has_made "$1" || { unpack && make_std "$1"; }
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
	set -euo pipefail
	cd "$(dirname "$0")/.."
	DIR=${IOSONDE_CROSS_DIR:-$PWD/target/cross} STD=$DIR/sysroot/lib/rustlib
	say() { echo "cross-std: $*" >&2; }
	for target; do
		compiler_for "$target" || { say "$target: $why"; exit 1; }
		echo "$compiler"
	done
fi
