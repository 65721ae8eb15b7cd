#!/usr/bin/env python3
"""Prints the licences of the crates that are linked into a program, as their authors ask of copies:

    scripts/dist-notices.py PACKAGE

Equal texts are printed once, below the names of the crates that have them. A crate without a licence file is named
with its licence. PACKAGE is iosonde or iosonde-direct-io-node."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from linked_crates import PACKAGES, linked

LICENCE = re.compile(r"^(licen[cs]e|copying|copyright|notice|unlicense)", re.IGNORECASE)


def folders(manifest: str) -> dict:
    """Where the sources of each crate are, by name and version."""
    command = [os.environ.get("CARGO", "cargo"), "metadata", "--locked", "--format-version=1"]
    output = subprocess.run(command + ["--manifest-path", manifest], check=True, capture_output=True, text=True).stdout
    packages = json.loads(output)["packages"]
    return {(one["name"], one["version"]): Path(one["manifest_path"]).parent for one in packages if one["source"]}


def main() -> None:
    package = sys.argv[1]
    sources = folders(PACKAGES[package][0])
    texts: dict = {}
    for name, version, licence in sorted(linked(package)):
        if (name, version) not in sources:
            continue  # Ours.
        files = sorted(path for path in sources[name, version].iterdir() if path.is_file() and LICENCE.match(path.name))
        for text in {path.read_text(errors="replace").strip() for path in files} or {f"Licence: {licence}"}:
            texts.setdefault(text, []).append(f"{name} {version}")
    print(f"{package} has parts of these crates, and of Rust's standard library (MIT or Apache-2.0).")
    for text, crates in sorted(texts.items(), key=lambda one: one[1]):
        print(f"\n{'=' * 78}\n{', '.join(crates)}\n{'=' * 78}\n\n{text}")


main()
