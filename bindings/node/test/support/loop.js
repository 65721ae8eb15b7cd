'use strict';

// Loop devices and files to test on, gone when the test is.

const { execFileSync, spawnSync } = require('child_process');
const fs = require('fs');
const path = require('path');

/** A folder on the disk that the package is on: /tmp may be a tmpfs. */
function folder(t) {
  const made = fs.mkdtempSync(path.join(__dirname, '..', '..', '.test-'));
  t.after(() => fs.rmSync(made, { recursive: true, force: true }));
  return made;
}

/** A file of `size` zeroed bytes. */
function file(t, size = 8 << 20) {
  const made = path.join(folder(t), 'file');
  fs.writeFileSync(made, '');
  fs.truncateSync(made, size);
  return made;
}

/** The path of a loop device, or undefined: then the test is skipped. */
function loop(t, sector, size = 8 << 20) {
  const backing = file(t, size);
  const made = spawnSync('losetup', ['--find', '--show', '-b', sector, backing], { encoding: 'utf8' });
  if (made.status !== 0) {
    t.skip(`no loop device: ${made.error ? made.error.message : made.stderr.trim()}`);
    return undefined;
  }
  const device = made.stdout.trim();
  t.after(() => execFileSync('losetup', ['--detach', device]));
  return device;
}

/** An open descriptor, closed with the test. */
function open(t, name, flags) {
  const fd = fs.openSync(name, flags);
  t.after(() => fs.closeSync(fd));
  return fd;
}

module.exports = { file, folder, loop, open };
