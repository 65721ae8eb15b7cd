#!/bin/bash
# Type-checks the program and the direct-I/O crate for the systems we do not run on; for Windows
# runs their tests and the program (wine-check.sh) under Wine where that is to be had.
#
#   scripts/cross-check.sh [--cached] [--wine] [TARGET ...]
#
# A target with its standard library in the toolchain (rustup target add) is checked
# with that. For the others one is made from Debian's packages, once: about 300 MB
# of downloads and two minutes of two processors a target, kept in target/cross
# (IOSONDE_CROSS_DIR for another place). --cached makes nothing and skips what is
# not there. What was skipped is said, and why; only an error in our code fails.
set -euo pipefail
cd "$(dirname "$0")/.."

CRATE=iosonde-direct

say() { echo "cross-check: $*"; }
. scripts/cross-std.sh

may_make=yes wine=no targets=()
for word in "$@"; do
	case $word in
		--cached) may_make=no ;;
		--wine) wine=yes ;;
		-*) say "$word is not an option; they are --cached and --wine" >&2; exit 2 ;;
		*) targets+=("$word") ;;
	esac
done
[ ${#targets[@]} = 0 ] && targets=(x86_64-pc-windows-gnu aarch64-apple-darwin x86_64-unknown-freebsd)

# Whether there is a linker for Windows.
has_linker() { PATH="$DIR/bin:$PATH" command -v x86_64-w64-mingw32-gcc >/dev/null; }

# Sets `with` to the environment for cargo, or `why` it cannot be set.
ready() {
	with=(CARGO_TARGET_DIR="$DIR/target")
	has_own "$1" && return
	with+=(RUSTC="$DIR/rustc" PATH="$DIR/bin:$PATH")
	has_made "$1" && return
	[ $may_make = yes ] || { why="no standard library for it; make one with scripts/cross-check.sh"; return 1; }
	unpack && make_std "$1"
}

# Debian's Wine, unpacked, in a separate mount namespace; DIR/wine/run is it.
make_wine() {
	[ -f "$WINE/ready" ] && return
	[ $may_make = yes ] || { why="no Wine here; make one with scripts/cross-check.sh --wine"; return 1; }
	[ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null || { why="it takes root and mount namespaces"; return 1; }
	command -v apt-get >/dev/null && command -v dpkg >/dev/null || { why="no Debian packages here"; return 1; }
	mkdir -p "$WINE/debs" "$SYSTEM32"
	say "downloading Debian's Wine to $WINE"
	packages=$(apt-get install -s --no-install-recommends wine64 2>/dev/null | awk '/^Inst/ { print $2 }')
	# shellcheck disable=SC2086
	[ -n "$packages" ] && (cd "$WINE/debs" && apt-get download -qq $packages >/dev/null 2>&1) \
		|| { why="Debian's Wine could not be downloaded"; return 1; }
	for package in "$WINE"/debs/*.deb; do dpkg -x "$package" "$WINE/root"; done
	rm -rf "$WINE/debs"
	printf '#!/bin/bash\nexport WINEPREFIX=%s WINEDLLOVERRIDES="mscoree,mshtml=" WINEDEBUG=${WINEDEBUG:--all}\n%s\n' \
		"$WINE/prefix" "exec unshare -m --propagation private bash -c 'mount -t overlay overlay \
-o lowerdir=$WINE/root/usr:/usr /usr && exec /usr/lib/wine/wine64 \"\$@\"' wine \"\$@\"" > "$WINE/run"
	chmod +x "$WINE/run"
	# Debian links this one in a script that unpacking does not run.
	cp "$WINE/root/usr/x86_64-w64-mingw32/lib/zlib1.dll" "$SYSTEM32/"
	timeout 300 "$WINE/run" wineboot -i >/dev/null 2>&1 || true
	# Rust's library imports ProcessPrng, which Wine 8 does not have.
	cat > "$WINE/prng.c" <<-'C'
		#include <windows.h>
		BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
		__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE at, SIZE_T bytes) {
			for (; bytes; ) {
				ULONG some = bytes > 65536 ? 65536 : (ULONG)bytes;
				if (!SystemFunction036(at, some)) return FALSE;
				at += some; bytes -= some;
			}
			return TRUE;
		}
	C
	PATH="$DIR/bin:$PATH" x86_64-w64-mingw32-gcc -shared -O2 "$WINE/prng.c" -o "$SYSTEM32/bcryptprimitives.dll" -ladvapi32 \
		|| { why="its library could not be completed"; return 1; }
	touch "$WINE/ready"
}

# The Node package's addon. (napi wants to see a Node for Windows to link with, and then takes nothing
# from it.)
check_addon() { # target
	mkdir -p "$DIR/libnode"
	touch "$DIR/libnode/libnode.dll" "$DIR/libnode/libnode.a"
	if env "${with[@]}" LIBNODE_PATH="$DIR/libnode" RUSTFLAGS="-D warnings" \
		"$CARGO" check -q --manifest-path bindings/node/Cargo.toml --target "$1"; then
		say "$1: the Node package's addon type-checks"
	else
		say "$1: the Node package's addon: failed"
		failed=1
	fi
}

# The whole program, and the tests of the crates below it that choose nothing of a system.
check_program() { # target
	if env "${with[@]}" RUSTFLAGS="-D warnings" "$CARGO" check -q --locked -p iosonde --target "$1" \
		&& env "${with[@]}" RUSTFLAGS="-D warnings" "$CARGO" check -q --locked --lib --tests \
			-p iosonde-base -p iosonde-engine --target "$1"; then
		say "$1: the program and the tests of the engines type-check"
	else
		say "$1: the program: failed"
		failed=1
	fi
}

# The program under Wine, beside the one of this system.
run_program() { # target
	if env "${with[@]}" PATH="$DIR/bin:$PATH" \
		CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=x86_64-w64-mingw32-gcc \
		"$CARGO" build -q --locked -p iosonde --target "$1" \
		&& "$CARGO" build -q --locked -p iosonde \
		&& PATH="$DIR/bin:$PATH" scripts/wine-check.sh "$WINE/run" "$DIR/target/$1/debug/iosonde.exe" \
			"${CARGO_TARGET_DIR:-target}/debug/iosonde"; then
		say "$1: the program passes its checks under Wine"
	else
		say "$1: the program failed under Wine"
		failed=1
	fi
}

# The tests of the engines under Wine.
run_engines() { # target
	if timeout 1800 env "${with[@]}" PATH="$DIR/bin:$PATH" \
		CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=x86_64-w64-mingw32-gcc \
		CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER="$WINE/run" \
		"$CARGO" test -q --locked -p iosonde-engine --lib --tests --target "$1"; then
		say "$1: the tests of the engines pass under Wine"
	else
		say "$1: tests of the engines failed under Wine"
		failed=1
	fi
}

WINE=$DIR/wine SYSTEM32=$DIR/wine/prefix/drive_c/windows/system32
failed=0
for target in "${targets[@]}"; do
	why="" with=()
	if ! ready "$target"; then
		say "skipped $target: $why"
		continue
	fi
	if env "${with[@]}" RUSTFLAGS="-D warnings" \
		"$CARGO" check -q --locked -p "$CRATE" --lib --tests --target "$target"; then
		say "$target: $CRATE and its tests type-check"
	else
		say "$target: failed"
		failed=1
		continue
	fi
	check_program "$target"
	check_addon "$target"
	[ $wine = yes ] && [ "$target" = x86_64-pc-windows-gnu ] || continue
	# The toolchain's own standard library comes without a linker.
	has_linker || { [ $may_make = yes ] && unpack; } || true
	if ! has_linker; then
		say "skipped running for Windows: there is no x86_64-w64-mingw32-gcc to link with"
	elif ! make_wine; then
		say "skipped running for Windows: $why"
	elif ! timeout 120 "$WINE/run" cmd /c ver >/dev/null 2>&1; then
		say "skipped running for Windows: Wine does not start (it takes root, mount namespaces and overlayfs)"
	elif timeout 600 env "${with[@]}" PATH="$DIR/bin:$PATH" \
		CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=x86_64-w64-mingw32-gcc \
		CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER="$WINE/run" \
		"$CARGO" test -q --locked -p "$CRATE" --lib --test portable --target "$target"; then
		say "$target: the tests of $CRATE pass under Wine"
		run_engines "$target"
		run_program "$target"
	else
		say "$target: tests failed under Wine"
		failed=1
	fi
done
scripts/recipes-check.sh || failed=1
exit $failed
