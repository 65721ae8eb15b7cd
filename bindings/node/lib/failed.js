'use strict';

// Errors of the system, in the form of Node's own: `code`, `errno` (negative),
// `syscall` and, where there is one, `path`.

const { getSystemErrorMap } = require('util');
const { more: addon } = require('./load.js').load();
const { started } = require('./operations.js');

// Numbers that libuv has no name for.
const unnamed = new Map([[-15, ['ENOTBLK', 'block device required']]]);

/** The error for what the addon reports: `{ errno, syscall, message }`. */
function failed({ errno, syscall, message }, path) {
  const where = path === undefined ? '' : ` '${path}'`;
  let code;
  let text;
  if (errno === null) {
    text = `${message}, ${syscall}${where}`;
  } else {
    const [name, meaning] = getSystemErrorMap().get(-errno) || unnamed.get(-errno) ||
      [`Unknown system error ${-errno}`, 'unknown error'];
    code = name;
    text = `${code}: ${meaning}, ${syscall}${where}${message === '' ? '' : `: ${message}`}`;
  }
  const error = new Error(text);
  if (errno !== null) error.errno = -errno;
  if (code) error.code = code;
  error.syscall = syscall;
  if (path !== undefined) error.path = path;
  return error;
}

/** A promise of what the addon's function calls back with. */
function promised(act, path, ...more) {
  return new Promise((resolve, reject) => started(act === addon.transfer, (ended) => {
    act(...more, (failure, result) => {
      ended();
      if (failure) reject(failed(failure, path));
      else resolve(result);
    });
  }));
}

/** The error of what a signal has aborted, as Node's own functions have it. */
function aborted(signal) {
  const error = new Error('The operation was aborted', { cause: signal.reason });
  error.name = 'AbortError';
  error.code = 'ABORT_ERR';
  return error;
}

module.exports = { aborted, failed, promised };
