#!/bin/bash
# Checks that the crates can be published:  scripts/dist-crates.sh
#
# Each is packed as cargo publish would pack it, and built from its package, against the packages of the others. This takes
# cargo 1.90 or newer, and no network: whether a version is on crates.io already, cargo publish --dry-run asks.
set -euo pipefail
cd "$(dirname "$0")/.."

# Names of the workspace's crates that are published, or of those that never are.
crates() { # published|unpublished
	${CARGO:-cargo} metadata --no-deps --offline --format-version 1 | python3 -c '
import json, sys
for crate in json.load(sys.stdin)["packages"]:
    if (crate["publish"] != []) == (sys.argv[1] == "published"):
        print(crate["name"])' "$1"
}

exclude=()
for crate in $(crates unpublished); do exclude+=(--exclude "$crate"); done
${CARGO:-cargo} package --quiet --workspace "${exclude[@]}" --locked --offline --allow-dirty
echo "dist: the crates can be published: $(crates published | wc -l)"
