'use strict';

// Finds the addon for this machine: one that was built here, else that of the
// optional package for this system. Nothing is compiled or downloaded when the
// package is installed.

const fs = require('fs');
const path = require('path');

const { name, version, optionalDependencies } = require('../package.json');

/** What this machine's binary is called: `linux-x64-gnu`, `darwin-arm64`. */
function platform() {
  const parts = [process.platform, process.arch];
  if (process.platform === 'linux') parts.push(libc());
  return parts.join('-');
}

function libc() {
  // The report names glibc's version if this process runs on glibc. Without
  // the network part it takes a millisecond.
  const before = process.report.excludeNetwork;
  process.report.excludeNetwork = true;
  try {
    return process.report.getReport().header.glibcVersionRuntime ? 'gnu' : 'musl';
  } finally {
    process.report.excludeNetwork = before;
  }
}

/** Where an addon that is built on this machine is, or would be. */
function addon() {
  return path.join(__dirname, '..', 'prebuilds', platform(), 'direct-io.node');
}

/** The optional package that has this machine's addon. */
function prebuilt() {
  return `${name}-${platform()}`;
}

/** The file of the addon: who built one here wants that. */
function file() {
  if (fs.existsSync(addon())) return addon();
  try {
    return require.resolve(prebuilt());
  } catch (cause) {
    const error = new Error(missing());
    error.code = 'ERR_NO_PREBUILT';
    error.cause = cause;
    throw error;
  }
}

const BUILD = 'with a Rust toolchain (https://rustup.rs) by `npm run build` in bindings/node of the iosonde repository';

/** Why there is no addon, and what to do. */
function missing() {
  const packages = Object.keys(optionalDependencies);
  if (packages.includes(prebuilt())) {
    return `${name} cannot find the package ${prebuilt()}, which has the binary for this machine ` +
      '(npm leaves it out with --omit=optional, and node_modules of another system has that system\'s): ' +
      `\`npm install ${prebuilt()}@${version}\`, or build it ${BUILD}`;
  }
  const others = packages.map((one) => one.slice(name.length + 1)).join(', ');
  return `${name} has no prebuilt binary for ${platform()}, only for ${others}: build it ${BUILD}`;
}

function load() {
  const found = file();
  try {
    return require(found);
  } catch (cause) {
    const error = new Error(`${name} cannot load ${found}: ${cause.message}; build it on this machine ${BUILD}`);
    error.code = cause.code;
    error.cause = cause;
    throw error;
  }
}

module.exports = { addon, load, platform };
