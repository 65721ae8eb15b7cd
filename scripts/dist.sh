#!/bin/bash
# Builds the packages into dist/: of the program tarballs, .deb, .rpm and wheels, for Windows a zip, of the library for Node
# npm packages, of both an SBOM, and checksums; and checks that the crates can be published.
#
#   scripts/dist.sh [x86_64] [aarch64]        (both without arguments; the zip is of x86_64)
#
# The binaries run with glibc 2.28 and newer: they are linked by zig against its symbols. Each tool that it takes and that
# is missing is named before anything is built; nothing is left out silently.
set -euo pipefail
cd "$(dirname "$0")/.."

GLIBC=2.28
LARGEST=11000000
VERSION=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
CARGO=${CARGO:-cargo}
TARGETS=${CARGO_TARGET_DIR:-$PWD/target}
DIST=$PWD/dist

WINDOWS=x86_64-pc-windows-gnu

# The program's targets are those of the arguments; the library for Node has these.
NODE_TARGETS=$(node -p 'Object.values(require("./bindings/node/scripts/packages.js").PLATFORMS).map((one) => one.triple).join(" ")' 2>/dev/null) || true

say() { echo "dist: $*"; }
. scripts/cross-std.sh
fail() { say "$*" >&2; exit 1; }

[ $# = 0 ] && set -- x86_64 aarch64
for processor; do
	case $processor in
		x86_64 | aarch64) ;;
		*) fail "unknown processor \"$processor\": use x86_64 or aarch64" ;;
	esac
done

# Everything that is missing, at once.
missing=
need() { command -v "$1" >/dev/null || missing+=$'\n'"  $1: $2"; }
need cargo-zigbuild "pip install cargo-zigbuild"
command -v zig >/dev/null || command -v python-zig >/dev/null || python3 -c 'import ziglang' 2>/dev/null \
	|| missing+=$'\n'"  zig: pip install ziglang"
need python3 "apt-get install python3"
need dpkg-deb "apt-get install dpkg"
need rpmbuild "apt-get install rpm"
need node "18 or newer: https://nodejs.org"
need npm "comes with node"
OBJCOPY=$(command -v llvm-objcopy || ls "$(rustc --print sysroot)"/lib/rustlib/*/bin/rust-objcopy 2>/dev/null | head -1) || true
[ -n "$OBJCOPY" ] || missing+=$'\n'"  llvm-objcopy: apt-get install llvm, or rustup component add llvm-tools"
[ -z "$missing" ] || fail "these are missing:$missing"
# Standard libraries that the toolchain lacks are made now, so that a build does not stop at one after minutes.
for target in $(printf '%s\n' "${@/%/-unknown-linux-gnu}" $WINDOWS $NODE_TARGETS | sort -u); do
	has_own "$target" || has_made "$target" || say "the toolchain has no standard library for $target (rustup target add $target): making one"
	compiler_for "$target" || missing+=$'\n'"  the standard library for $target: rustup target add $target; it cannot be made: $why"
done
PATH=$DIR/bin:$PATH
command -v x86_64-w64-mingw32-gcc >/dev/null || unpack || missing+=$'\n'"  x86_64-w64-mingw32-gcc: apt-get install gcc-mingw-w64-x86-64: $why"
[ -z "$missing" ] || fail "these are missing:$missing"
$CARGO fetch --quiet --locked
$CARGO fetch --quiet --locked --manifest-path bindings/node/Cargo.toml

# Highest GLIBC_ version that a binary asks for.
highest_glibc() { python3 - "$1" <<-'PY'
	import re, sys
	found = {tuple(map(int, v.split(b"."))) for v in re.findall(rb"GLIBC_(2(?:\.\d+)+)\0", open(sys.argv[1], "rb").read())}
	print(".".join(map(str, max(found))))
	PY
}

# The program for a processor, stripped, with its debug information in a file beside it.
binary() { # processor, folder
	local triple=$1-unknown-linux-gnu targets=$TARGETS built
	compiler_for "$triple"
	# What one compiler has built the other builds again: each has a folder.
	[ "$compiler" = rustc ] || targets=$TARGETS/cross
	# No folder of this machine is in the binary. Joined with the flags of .cargo/config.toml, as RUSTFLAGS would not be.
	local flags="--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}/registry/src=crates\", \"--remap-path-prefix=$PWD=iosonde"
	RUSTC=$compiler CARGO_TARGET_DIR=$targets $CARGO zigbuild --profile dist --locked -p iosonde --target "$triple.$GLIBC" \
		--config "target.$triple.rustflags = [\"$flags\"]"
	built=$targets/$triple/dist/iosonde
	"$OBJCOPY" --only-keep-debug "$built" "$2/iosonde.debug"
	"$OBJCOPY" --strip-all --add-gnu-debuglink="$2/iosonde.debug" "$built" "$2/iosonde"
	local glibc size
	glibc=$(highest_glibc "$2/iosonde") size=$(stat -c %s "$2/iosonde")
	[ "$(printf '%s\n' "$glibc" $GLIBC | sort -V | tail -1)" = $GLIBC ] || fail "$1 asks for GLIBC_$glibc, above $GLIBC"
	[ "$size" -lt $LARGEST ] || fail "$1 has $size bytes, $LARGEST at most"
	say "$1: $size bytes, GLIBC_$glibc at most"
}

# The program for Windows, with the documents, as a zip.
windows_zip() { # shared
	local name=iosonde-$VERSION-windows-x86_64 folder=$WORK/windows targets=$TARGETS
	compiler_for $WINDOWS
	[ "$compiler" = rustc ] || targets=$TARGETS/cross
	local flags="--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}/registry/src=crates\", \"--remap-path-prefix=$PWD=iosonde"
	RUSTC=$compiler CARGO_TARGET_DIR=$targets CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=x86_64-w64-mingw32-gcc \
		$CARGO build --release --locked -p iosonde --target $WINDOWS --config "target.$WINDOWS.rustflags = [\"$flags\"]"
	mkdir -p "$folder/$name"
	"$OBJCOPY" --strip-all "$targets/$WINDOWS/release/iosonde.exe" "$folder/$name/iosonde.exe"
	cp -r "$1/doc" "$folder/$name/"
	(cd "$folder" && python3 -m zipfile -c "$DIST/$name.zip" "$name")
	say "windows: $(stat -c %s "$folder/$name/iosonde.exe") bytes"
}

# What is the same for every processor: pages, completions, documents. They come out of the program itself: one that
# runs here.
shared() { # program, folder
	mkdir -p "$2/man" "$2/completions" "$2/doc"
	"$1" man | gzip -9n > "$2/man/iosonde.1.gz"
	local command
	for command in $("$1" help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p'); do
		"$1" man "$command" > "$2/page"
		gzip -9n < "$2/page" > "$2/man/iosonde-$command.1.gz"
	done
	rm "$2/page"
	"$1" completions bash > "$2/completions/iosonde.bash"
	"$1" completions zsh > "$2/completions/_iosonde"
	"$1" completions fish > "$2/completions/iosonde.fish"
	python3 scripts/dist-notices.py iosonde > "$2/doc/THIRD-PARTY-LICENSES"
	cp -r README.md CHANGELOG.md SECURITY.md LICENSE-MIT LICENSE-APACHE docs examples "$2/doc/"
}

# A tree as it is installed, for .deb and .rpm.
tree() { # binaries, shared, root
	install -D -m 755 "$1/iosonde" "$3/usr/bin/iosonde"
	install -d "$3/usr/share/man/man1" "$3/usr/share/bash-completion/completions" "$3/usr/share/zsh/site-functions" \
		"$3/usr/share/fish/vendor_completions.d" "$3/usr/share/doc" "$3/usr/lib/iosonde"
	install -m 644 "$2"/man/*.gz "$3/usr/share/man/man1/"
	install -m 644 "$2/completions/iosonde.bash" "$3/usr/share/bash-completion/completions/iosonde"
	install -m 644 "$2/completions/_iosonde" "$3/usr/share/zsh/site-functions/_iosonde"
	install -m 644 "$2/completions/iosonde.fish" "$3/usr/share/fish/vendor_completions.d/iosonde.fish"
	cp -r "$2/doc" "$3/usr/share/doc/iosonde"
	chmod -R u=rwX,go=rX "$3/usr/share/doc/iosonde"
	# For those who want it as fio; in no PATH.
	for name in fio fio-genzipf fio-dedupe fio-verify-state; do
		ln -s ../../bin/iosonde "$3/usr/lib/iosonde/$name"
	done
}

rm -rf "$DIST" && mkdir -p "$DIST"
WORK=$(mktemp -d) && trap 'rm -rf "$WORK"' EXIT

for processor; do
	mkdir -p "$WORK/$processor"
	binary "$processor" "$WORK/$processor"
done
# The first that runs on this machine.
native=$WORK/$(uname -m)/iosonde
[ -x "$native" ] || fail "pages and completions come out of the program: build for $(uname -m) too"
shared "$native" "$WORK/shared"

for processor; do
	case $processor in x86_64) deb=amd64 ;; aarch64) deb=arm64 ;; esac
	name=iosonde-$VERSION-linux-$processor
	mkdir "$WORK/$name"
	cp "$WORK/$processor/iosonde" "$WORK/$name/"
	cp -r "$WORK/shared/." "$WORK/$name/"
	tar -C "$WORK" --owner=0 --group=0 --sort=name -czf "$DIST/$name.tar.gz" "$name"
	# Level 6, the usual one, takes more than twice as long for 15 % less.
	XZ_OPT='-3 -T0' tar -C "$WORK/$processor" --owner=0 --group=0 -cJf "$DIST/$name-debug.tar.xz" iosonde.debug
	tree "$WORK/$processor" "$WORK/shared" "$WORK/$processor-tree"
	scripts/dist-deb.sh "$WORK/$processor-tree" "$VERSION" $deb "$DIST"
	scripts/dist-rpm.sh "$WORK/$processor-tree" "$VERSION" "$processor" "$DIST"
	python3 scripts/dist-wheel.py "$WORK/$processor/iosonde" "$WORK/shared/doc/THIRD-PARTY-LICENSES" "$VERSION" \
		"manylinux_${GLIBC/./_}_$processor" "$DIST"
done
windows_zip "$WORK/shared"
node bindings/node/scripts/packages.js "$DIST"
python3 scripts/dist-sbom.py iosonde "$VERSION" > "$DIST/iosonde-$VERSION.cdx.json"
python3 scripts/dist-sbom.py iosonde-direct-io-node "$VERSION" > "$DIST/iosonde-direct-io-$VERSION.cdx.json"
(cd "$DIST" && sha256sum -- * > SHA256SUMS)
ls -l "$DIST"
scripts/dist-crates.sh
