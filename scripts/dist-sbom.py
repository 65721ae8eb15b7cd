#!/usr/bin/env python3
"""Prints what a program is made of, as CycloneDX 1.5:  scripts/dist-sbom.py PACKAGE VERSION

The crates that are linked into it on any of its systems, and those that ran to build it (scope "excluded"), from
Cargo.lock. PACKAGE is iosonde or iosonde-direct-io-node."""

import json
import os
import subprocess
import sys

# Where each package is, what it is, and the systems that it is made for.
PACKAGES = {
    "iosonde": ("Cargo.toml", "application", ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"]),
    "iosonde-direct-io-node": (
        "bindings/node/Cargo.toml",
        "library",
        [
            "x86_64-unknown-linux-gnu",
            "x86_64-unknown-linux-musl",
            "aarch64-unknown-linux-gnu",
            "x86_64-pc-windows-gnu",
            "aarch64-apple-darwin",
        ],
    ),
}
package, version = sys.argv[1:]
manifest, kind, targets = PACKAGES[package]


def crates(edges: str) -> set:
    """Names and versions of the crates that these edges of the dependency graph reach."""
    command = [os.environ.get("CARGO", "cargo"), "tree", "--locked", "--offline", "--manifest-path", manifest]
    command += ["-p", package, "--edges", edges, "--prefix", "none", "--format", "{p}\t{l}"]
    command += [word for target in targets for word in ("--target", target)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    found = set()
    # An empty line is between two systems.
    for line in filter(None, lines):
        crate, licence = line.replace(" (*)", "").split("\t")
        name, number = crate.split(" ")[:2]
        found.add((name, number.removeprefix("v"), licence.replace("/", " OR ")))
    return found


def component(name: str, version: str, licence: str, linked: bool) -> dict:
    url = f"pkg:cargo/{name}@{version}"
    made = {"type": "library", "bom-ref": url, "name": name, "version": version, "purl": url}
    made["scope"] = "required" if linked else "excluded"
    made["licenses"] = [{"expression": licence}]
    return made


linked = crates("normal,no-proc-macro")
everything = crates("normal,build")
document = {
    "bomFormat": "CycloneDX",
    "specVersion": "1.5",
    "version": 1,
    "metadata": {"component": {"type": kind, "bom-ref": package, "name": package, "version": version}},
    "components": [component(*one, one in linked) for one in sorted(everything) if one[0] != package],
}
json.dump(document, sys.stdout, indent=1)
print()
