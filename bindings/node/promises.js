'use strict';

// The promise API: the drop-in's functions and more. Every error, also a wrong
// argument, rejects the promise.

const { dropIn, more } = require('./lib/load.js').load();
const check = require('./lib/arguments.js');
const { promised, failed } = require('./lib/failed.js');
const { BufferPool } = require('./lib/pool.js');

const { O_DIRECT, O_DSYNC, O_EXCL, O_EXLOCK, O_SYNC } = dropIn;

/** A zeroed Buffer of `size` bytes at a multiple of `alignment`. */
async function getAlignedBuffer(size, alignment) {
  return promised(more.alignedBuffer, undefined, check.size(size), check.alignment(alignment));
}

/** Whether a Buffer's first byte is at a multiple of `alignment`. */
function isAligned(buffer, alignment) {
  if (!(buffer instanceof Uint8Array)) {
    throw check.typeError('buffer', 'a Buffer or a Uint8Array', buffer);
  }
  return more.address(buffer) % BigInt(check.alignment(alignment)) === 0n;
}

/** All facts of a block device, by a descriptor, a FileHandle or its path. */
async function getBlockDevice(target) {
  if (check.isPath(target)) {
    const path = check.path(target, 'target');
    return promised(more.blockDeviceAt, path.toString(), path);
  }
  const fd = check.descriptor(target, 'target');
  if (fd < 0) throw closed('fstat');
  return promised(more.blockDeviceOf, undefined, fd);
}

/** Facts about a path, the alignment direct I/O needs, and the devices below. */
async function probe(path) {
  const bytes = check.path(path);
  return promised(more.probe, bytes.toString(), bytes);
}

/** Read into a buffer from `position`: how many bytes, 0 at the end of the file. */
async function read(file, buffer, position) {
  return transfer(file, buffer, position, false);
}

/** Write a buffer at `position`: how many bytes. */
async function write(file, buffer, position) {
  return transfer(file, buffer, position, true);
}

function transfer(file, buffer, position, isWrite) {
  const fd = check.descriptor(file, 'file');
  if (!ArrayBuffer.isView(buffer)) {
    throw check.typeError('buffer', 'a Buffer, a TypedArray or a DataView', buffer);
  }
  const bytes = buffer instanceof Uint8Array
    ? buffer : new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  const offset = check.offset(position);
  if (fd < 0) throw closed(isWrite ? 'write' : 'read');
  return promised(more.transfer, undefined, fd, bytes, offset, isWrite);
}

const locks = new Map([[0, 0], [false, 0], [1, 1], [true, 1], ['shared', 2]]);

/** Lock (1), lock with others ('shared') or unlock (0) an open file. */
async function setFlock(fd, value) {
  const number = check.descriptor(fd);
  if (!locks.has(value)) throw check.typeError('value', "0, 1, false, true or 'shared'", value);
  if (number < 0) throw closed('flock');
  return promised(more.flock, undefined, number, locks.get(value)).then(() => undefined);
}

/** Bypass the cache of a file, where the system is macOS. */
async function setF_NOCACHE(fd, value) {
  return dropInSetter('setF_NOCACHE', fd, value);
}

/** Lock a volume, where the system is Windows. */
async function setFSCTL_LOCK_VOLUME(fd, value) {
  return dropInSetter('setFSCTL_LOCK_VOLUME', fd, value);
}

const elsewhere = new Map([
  ['setF_NOCACHE', 'darwin'],
  ['setFSCTL_LOCK_VOLUME', 'win32'],
]);

function dropInSetter(name, fd, value) {
  const number = check.descriptor(fd);
  if (value !== 0 && value !== 1 && typeof value !== 'boolean') {
    throw check.typeError('value', '0, 1, false or true', value);
  }
  const syscall = name.slice('set'.length);
  if (elsewhere.get(name) !== process.platform) {
    const error = new Error(`${name} is supported on ${elsewhere.get(name)} only, not on ${process.platform}`);
    error.code = 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM';
    error.syscall = syscall;
    throw error;
  }
  return new Promise((resolve, reject) => {
    dropIn[name](number, Number(value), (error) => {
      if (error) reject(Object.assign(error, { syscall }));
      else resolve();
    });
  });
}

/** The error for the descriptor of a closed FileHandle. */
function closed(syscall) {
  return failed({ errno: 9, syscall, message: '' });
}

module.exports = {
  BufferPool,
  O_DIRECT,
  O_DSYNC,
  O_EXCL,
  O_EXLOCK,
  O_SYNC,
  getAlignedBuffer,
  getBlockDevice,
  isAligned,
  probe,
  read,
  setF_NOCACHE,
  setFlock,
  setFSCTL_LOCK_VOLUME,
  write,
};
