#!/usr/bin/env python3
"""Prints what the program is made of, as CycloneDX 1.5:  scripts/dist-sbom.py VERSION

The crates that are linked into it, and those that ran to build it (scope "excluded"), from Cargo.lock."""

import json
import os
import subprocess
import sys


def crates(edges: str) -> set:
    """Names and versions of the crates that these edges of the dependency graph reach."""
    command = [os.environ.get("CARGO", "cargo"), "tree", "--locked", "--offline", "-p", "iosonde", "--edges", edges]
    command += ["--target", "x86_64-unknown-linux-gnu", "--prefix", "none", "--format", "{p}\t{l}"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    found = set()
    for line in lines:
        package, licence = line.replace(" (*)", "").split("\t")
        name, version = package.split(" ")[:2]
        found.add((name, version.removeprefix("v"), licence.replace("/", " OR ")))
    return found


def component(name: str, version: str, licence: str, linked: bool) -> dict:
    url = f"pkg:cargo/{name}@{version}"
    made = {"type": "library", "bom-ref": url, "name": name, "version": version, "purl": url}
    made["scope"] = "required" if linked else "excluded"
    made["licenses"] = [{"expression": licence}]
    return made


linked = crates("normal,no-proc-macro")
everything = crates("normal,build")
version = sys.argv[1]
document = {
    "bomFormat": "CycloneDX",
    "specVersion": "1.5",
    "version": 1,
    "metadata": {"component": {"type": "application", "bom-ref": "iosonde", "name": "iosonde", "version": version}},
    "components": [component(*one, one in linked) for one in sorted(everything) if one[0] != "iosonde"],
}
json.dump(document, sys.stdout, indent=1)
print()
