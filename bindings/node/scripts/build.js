'use strict';

// Builds the addon for this machine and puts it where the loader looks.

const { spawnSync } = require('child_process');
const fs = require('fs');
const path = require('path');

const { addon, platform } = require('../lib/load.js');

const root = path.join(__dirname, '..');
const built = { darwin: 'libiosonde_direct_io.dylib', win32: 'iosonde_direct_io.dll' };

const cargo = spawnSync(process.env.CARGO || 'cargo', ['build', '--release'], {
  cwd: root,
  stdio: 'inherit',
});
if (cargo.error) {
  console.error(`build: cannot run cargo (${cargo.error.message}): see https://rustup.rs`);
  process.exit(1);
}
if (cargo.status !== 0) process.exit(cargo.status || 1);

const target = process.env.CARGO_TARGET_DIR || path.join(root, 'target');
const from = path.join(target, 'release', built[process.platform] || 'libiosonde_direct_io.so');
const to = addon();
fs.mkdirSync(path.dirname(to), { recursive: true });
// A new file under the same name: a process that has the old one loaded keeps it.
fs.copyFileSync(from, `${to}.new`);
fs.renameSync(`${to}.new`, to);
// A package has its licences beside it.
for (const licence of ['LICENSE-APACHE', 'LICENSE-MIT']) {
  fs.copyFileSync(path.join(root, '..', '..', licence), path.join(root, licence));
}
console.log(`build: ${path.relative(root, to)} (${platform()}), ${fs.statSync(to).size} bytes`);
