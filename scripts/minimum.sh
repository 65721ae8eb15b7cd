#!/bin/sh
# Type-checks everything with the oldest Rust that Cargo.toml and bindings/node/Cargo.toml name (rust-version). Takes that
# toolchain: rustup toolchain install VERSION.0 --profile minimal.
set -eu
cd "$(dirname "$0")/.."

version=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
[ "$(sed -n 's/^rust-version = "\(.*\)"/\1/p' bindings/node/Cargo.toml)" = "$version" ] \
	|| { echo "minimum: bindings/node/Cargo.toml has another rust-version than Cargo.toml, $version" >&2; exit 1; }
cargo "+$version.0" --version >/dev/null 2>&1 \
	|| { echo "minimum: there is no Rust $version: rustup toolchain install $version.0 --profile minimal" >&2; exit 1; }
# In a folder of its own: the other toolchain would build all of it again.
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/minimum"
cargo "+$version.0" check --quiet --locked --workspace --all-targets
cargo "+$version.0" check --quiet --locked --manifest-path bindings/node/Cargo.toml
echo "minimum: everything type-checks with Rust $version"
