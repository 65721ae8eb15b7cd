#!/usr/bin/env python3
"""Prints what a program is made of, as CycloneDX 1.5:  scripts/dist-sbom.py PACKAGE VERSION

The crates that are linked into it on any of its systems, and those that ran to build it (scope "excluded"), from
Cargo.lock. PACKAGE is iosonde or iosonde-direct-io-node."""

import json
import sys

from linked_crates import PACKAGES, crates, linked

package, version = sys.argv[1:]
_, kind, _ = PACKAGES[package]


def component(name: str, version: str, licence: str, is_linked: bool) -> dict:
    url = f"pkg:cargo/{name}@{version}"
    made = {"type": "library", "bom-ref": url, "name": name, "version": version, "purl": url}
    made["scope"] = "required" if is_linked else "excluded"
    made["licenses"] = [{"expression": licence}]
    return made


inside = linked(package)
everything = crates(package, "normal,build")
document = {
    "bomFormat": "CycloneDX",
    "specVersion": "1.5",
    "version": 1,
    "metadata": {"component": {"type": kind, "bom-ref": package, "name": package, "version": version}},
    "components": [component(*one, one in inside) for one in sorted(everything) if one[0] != package],
}
json.dump(document, sys.stdout, indent=1)
print()
