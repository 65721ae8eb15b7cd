#!/bin/sh
# Checks the spelling of the documents with typos (pip install typos, or cargo install typos-cli), if it is there.
set -eu
cd "$(dirname "$0")/.."
if ! command -v typos >/dev/null 2>&1; then
	echo "spelling: skipped: there is no typos (pip install typos)"
	exit 0
fi
git ls-files '*.md' | xargs typos
