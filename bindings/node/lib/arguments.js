'use strict';

// Checks of the promise API's arguments, with Node's own error codes.

const { constants } = require('buffer');
const { inspect } = require('util');
const { fileURLToPath } = require('url');

/** Of a file. */
const OFFSET_MAX = 2n ** 63n - 1n;

function typeError(name, expected, value) {
  const error = new TypeError(
    `The "${name}" argument must be ${expected}. Received ${inspect(value, { depth: 0 })}`);
  error.code = 'ERR_INVALID_ARG_TYPE';
  return error;
}

function rangeError(name, expected, value) {
  const error = new RangeError(
    `The value of "${name}" is out of range. It must be ${expected}. Received ${inspect(value)}`);
  error.code = 'ERR_OUT_OF_RANGE';
  return error;
}

/** A whole number from `min` to `max`, from a Number or a BigInt. */
function whole(name, value, min, max) {
  if (typeof value !== 'number' && typeof value !== 'bigint') {
    throw typeError(name, 'a number or a bigint', value);
  }
  const number = Number(value);
  if (!Number.isSafeInteger(number) || number < min || number > max) {
    throw rangeError(name, `a whole number >= ${min} and <= ${max}`, value);
  }
  return number;
}

/** A length of a buffer in bytes. */
function size(value, name = 'size') {
  return whole(name, value, 1, constants.MAX_LENGTH);
}

/** A power of two up to 1 GiB. */
function alignment(value, name = 'alignment') {
  const number = whole(name, value, 1, 2 ** 30);
  if (!Number.isInteger(Math.log2(number))) {
    throw rangeError(name, 'a power of two', value);
  }
  return number;
}

/** An offset in a file, as a BigInt. */
function offset(value, name = 'position') {
  if (typeof value !== 'bigint') return BigInt(whole(name, value, 0, Number.MAX_SAFE_INTEGER));
  if (value < 0n || value > OFFSET_MAX) {
    throw rangeError(name, `a whole number >= 0 and <= ${OFFSET_MAX}`, value);
  }
  return value;
}

/** The descriptor of a number or a FileHandle; -1 for one that is closed. */
function descriptor(value, name = 'fd') {
  if (typeof value === 'number') return whole(name, value, 0, 2 ** 31 - 1);
  if (value !== null && typeof value === 'object' && typeof value.fd === 'number') return value.fd;
  throw typeError(name, 'a file descriptor or a FileHandle', value);
}

/** Whether a value is meant as a path. */
function isPath(value) {
  return typeof value === 'string' || value instanceof Uint8Array || value instanceof URL;
}

/** The bytes of a path, from a string, a Buffer or a file: URL. */
function path(value, name = 'path') {
  if (!isPath(value)) throw typeError(name, 'a string, a Buffer or a URL', value);
  const bytes = value instanceof URL ? Buffer.from(fileURLToPath(value)) : Buffer.from(value);
  if (bytes.includes(0)) {
    const error = new TypeError(
      `The argument "${name}" must be without null bytes. Received ${inspect(value)}`);
    error.code = 'ERR_INVALID_ARG_VALUE';
    throw error;
  }
  return bytes;
}

module.exports = { alignment, descriptor, isPath, offset, path, rangeError, size, typeError, whole };
