'use strict';

// Finds the prebuilt addon of this machine. Nothing is compiled or downloaded
// when the package is installed.

const path = require('path');

/** What this machine's prebuilt is called: `linux-x64-gnu`, `darwin-arm64`. */
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

/** Where this machine's addon is, or would be. */
function addon() {
  return path.join(__dirname, '..', 'prebuilds', platform(), 'direct-io.node');
}

function load() {
  const file = addon();
  try {
    return require(file);
  } catch (cause) {
    if (cause.code === 'MODULE_NOT_FOUND') {
      const error = new Error(
        `@iosonde/direct-io has no prebuilt binary for ${platform()}: ` +
          'build it from source with a Rust toolchain (https://rustup.rs) by ' +
          '`npm run build` in bindings/node of the iosonde repository');
      error.code = 'ERR_NO_PREBUILT';
      throw error;
    }
    const error = new Error(
      `@iosonde/direct-io cannot load ${file}: ${cause.message}; ` +
        'rebuild it on this machine by `npm run build` in bindings/node of the iosonde repository');
    error.code = cause.code;
    error.cause = cause;
    throw error;
  }
}

module.exports = { addon, load, platform };
