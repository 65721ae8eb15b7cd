"""The crates that are linked into what is packaged, for the SBOM and the notices."""

import os
import subprocess

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


def crates(package: str, edges: str) -> set:
    """Names, versions and licences of the crates that these edges of the dependency graph reach, on any of its systems."""
    manifest, _, targets = PACKAGES[package]
    command = [os.environ.get("CARGO", "cargo"), "tree", "--locked", "--manifest-path", manifest]
    command += ["-p", package, "--edges", edges, "--prefix", "none", "--format", "{p}\t{l}"]
    command += [word for target in targets for word in ("--target", target)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    found = set()
    # An empty line is between two systems.
    for line in filter(None, lines):
        crate, licence = line.replace(" (*)", "").split("\t")
        name, version = crate.split(" ")[:2]
        found.add((name, version.removeprefix("v"), licence.replace("/", " OR ")))
    return found


def linked(package: str) -> set:
    """Those that are in the binary."""
    return crates(package, "normal,no-proc-macro")
