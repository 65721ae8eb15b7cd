#!/bin/bash
# Installs the npm packages of dist/ in empty folders, without a compiler, and runs them on each Node and each system
# that is to be had here:
#
#   scripts/dist-test-npm.sh
#
# npm gets them from a registry on this machine, as it would from the public one, and has to choose one binary by system,
# processor and C library. Then both kinds of modules are used, and the package's own tests run on what was installed. What
# was run and what was only linked is said; what cannot be run for want of a Node makes the script fail, unless
# SKIP_MISSING=1. Nodes are in target/dist-nodes (scripts/dist-nodes.sh).
set -euo pipefail
cd "$(dirname "$0")/.."

DIST=$PWD/dist
NODES=$PWD/target/dist-nodes
TESTS=$PWD/bindings/node/test
VERSION=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
mkdir -p target
WORK=$(mktemp -d "$PWD/target/dist-test-npm.XXXXXX")
trap 'rm -rf "$WORK"' EXIT

say() { echo "dist-test: npm: $*"; }
fail() { say "$*" >&2; exit 1; }
missing() { [ "${SKIP_MISSING:-}" = 1 ] && say "skipped $*" || fail "cannot run $*"; }

cat > "$WORK/common.cjs" <<'JS'
const direct = require('@iosonde/direct-io');
const { probe } = require('@iosonde/direct-io/promises');
probe(__filename).then(({ kind }) => console.log(direct.getAlignedBuffer(8, 8).length, kind));
JS
cat > "$WORK/module.mjs" <<'JS'
import direct, { getAlignedBuffer, O_DSYNC } from '@iosonde/direct-io';
import promises, { probe, BufferPool } from '@iosonde/direct-io/promises';
if (direct.O_DSYNC !== O_DSYNC || promises.probe !== probe) throw new Error('not the same');
if (new BufferPool({ size: 8, count: 1 }).free !== 1) throw new Error('no pool');
console.log(getAlignedBuffer(8, 8).length, (await probe(new URL(import.meta.url))).kind);
JS

# Installs into an empty folder; PATH has npm's node, a shell and nothing else.
install() { # folder, node, more of npm's arguments
	local folder=$1 node=$2 found
	shift 2
	mkdir -p "$folder/bin"
	ln -s "$node" "$folder/bin/node"
	ln -s /bin/sh "$folder/bin/sh"
	echo '{ "private": true }' > "$folder/package.json"
	(cd "$folder" && PATH=$folder/bin HOME=$WORK "$node" "$NODES/npm/bin/npm-cli.js" install --no-audit --no-fund --loglevel=error \
		--cache "$folder/cache" "$@") || fail "npm install fails: $*"
}

# The platforms whose binaries are in a folder: there has to be this one.
installed() { # folder, platform
	local found
	found=$(cd "$1/node_modules/@iosonde" && ls | sed -n 's/^direct-io-//p' | tr '\n' ' ')
	[ "$found" = "$2 " ] || fail "npm installs the binaries of \"$found\", not of $2"
}

# Uses what is installed in a folder, and runs the package's tests on it.
try() { # folder, node, name, tests
	local folder=$1 node=$2 name=$3 package=$1/node_modules/@iosonde/direct-io script tests=() one log=$WORK/log
	shift 3
	cp "$WORK/common.cjs" "$WORK/module.mjs" "$folder/"
	for script in common.cjs module.mjs; do
		# Into a file: Node under Wine takes no pipe.
		(cd "$folder" && "$node" $script > printed 2>&1) || { cat "$folder/printed"; fail "$name: $script fails"; }
		[ "$(tr -d '\r' < "$folder/printed")" = "8 file" ] || { cat "$folder/printed"; fail "$name: $script fails"; }
	done
	cp -r "$TESTS" "$package/test"
	for one; do tests+=("test/$one.test.js"); done
	(cd "$package" && for one in "${tests[@]}"; do timeout 600 "$node" "$one" || exit 1; done) > "$log" 2>&1 || { cat "$log"; fail "$name: a test fails"; }
	say "$name: installed, required, imported; $(grep -cE '^(ok|✔)' "$log") tests pass: $*"
}

[ -f "$DIST/iosonde-direct-io-$VERSION.tgz" ] || fail "there are no packages in dist: run make dist"
scripts/dist-nodes.sh "$NODES"
[ -f "$NODES/npm/bin/npm-cli.js" ] || { missing "anything: there is no npm 10"; exit 0; }

# It ends with this script, which holds its standard input open.
coproc REGISTRY { exec "$NODES/node-20" scripts/npm-registry.js "$DIST"; }
read -r -u "${REGISTRY[0]}" ADDRESS || fail "the registry on this machine does not start"
FROM=--registry=$ADDRESS

# On this machine: what npm chooses by itself.
for version in 18 20 22 24; do
	[ -x "$NODES/node-$version" ] || { missing "Node $version"; continue; }
	install "$WORK/node-$version" "$NODES/node-$version" "$FROM" @iosonde/direct-io
	installed "$WORK/node-$version" linux-x64-gnu
	try "$WORK/node-$version" "$NODES/node-$version" "linux-x64-gnu on Node $version" \
		arguments buffers device flock inflight pool threads
done
# From files, without a registry.
install "$WORK/files" "$NODES/node-20" --offline "$DIST/iosonde-direct-io-$VERSION.tgz" "$DIST/iosonde-direct-io-linux-x64-gnu-$VERSION.tgz"
installed "$WORK/files" linux-x64-gnu
try "$WORK/files" "$NODES/node-20" "linux-x64-gnu from files" arguments

# For other systems: as npm chooses there.
foreign() { # platform, npm's words for it, tests
	local platform=$1 words=$2
	shift 2
	# shellcheck disable=SC2086
	install "$WORK/$platform" "$NODES/node-20" "$FROM" $words @iosonde/direct-io
	installed "$WORK/$platform" "$platform"
	[ $# != 0 ] || { say "$platform: installed; linked, not run"; return; }
	[ -x "$NODES/node-$platform" ] || { missing "$platform: there is no Node for it"; return; }
	try "$WORK/$platform" "$NODES/node-$platform" "$platform" "$@"
}
foreign linux-x64-musl "--os=linux --cpu=x64 --libc=musl" arguments buffers device flock inflight pool threads
# qemu-user of Debian 12 has no pwritev2(2), and the memory that tests measure would be the emulator's.
foreign linux-arm64-gnu "--os=linux --cpu=arm64 --libc=glibc" arguments device flock pool
foreign win32-x64 "--os=win32 --cpu=x64" arguments pool
foreign darwin-arm64 "--os=darwin --cpu=arm64"
