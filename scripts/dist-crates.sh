#!/bin/bash
# Checks that the crates can be published:  scripts/dist-crates.sh
#
# Each is packed as cargo publish would pack it, and built from its package, against the packages of the others. This takes
# cargo 1.90 or newer, and no network: whether a version is on crates.io already, cargo publish --dry-run asks.
set -euo pipefail
cd "$(dirname "$0")/.."

${CARGO:-cargo} package --quiet --workspace --exclude iosonde-testing --exclude iosonde-faults --exclude xtask \
	--locked --offline --allow-dirty
echo "dist: the crates can be published: $(${CARGO:-cargo} metadata --no-deps --offline --format-version 1 \
	| python3 -c 'import json, sys; print(sum(p["publish"] != [] for p in json.load(sys.stdin)["packages"]))')"
