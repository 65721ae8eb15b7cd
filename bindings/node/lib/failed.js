'use strict';

// Errors of the system, in the form of Node's own: `code`, `errno` (negative),
// `syscall` and, where there is one, `path`.

const { getSystemErrorMap } = require('util');

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
  return new Promise((resolve, reject) => {
    act(...more, (failure, result) => {
      if (failure) reject(failed(failure, path));
      else resolve(result);
    });
  });
}

module.exports = { failed, promised };
