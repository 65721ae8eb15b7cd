'use strict';

// What the drop-in's functions take, and the texts of what they refuse.

const assert = require('assert');
const { test } = require('node:test');

const direct = require('..');

const callback = () => assert.fail('never called: the call threw');

function refuses(name, message, ...calls) {
  for (const args of calls) {
    const shown = `${name}(${args.map((arg) => `${typeof arg} ${String(arg)}`).join(', ')})`;
    let thrown;
    try {
      direct[name](...args);
    } catch (error) {
      thrown = error;
    }
    assert.ok(thrown, `${shown} did not throw`);
    assert.strictEqual(thrown.message, message, shown);
    assert.strictEqual(Object.getPrototypeOf(thrown), Error.prototype, shown);
    assert.deepStrictEqual(Object.getOwnPropertyNames(thrown).sort(), ['message', 'stack'], shown);
  }
}

/** Whatever is not a whole number from 0 to 2147483647. */
const notWhole = [
  undefined, null, true, '1', '', 1n, {}, [], [8], NaN, Infinity, -Infinity, -1, -1e-9, 0.5, 8.5,
  2147483648, 4294967296, 2 ** 53, new Number(8), Symbol('8'), () => 8,
];
const notFunction = [undefined, null, 1, 'callback', {}, [], Symbol('f')];

test('the exports are ten, in order, with the values of this system', () => {
  assert.strictEqual(Object.getPrototypeOf(direct), Object.prototype);
  assert.deepStrictEqual(Reflect.ownKeys(direct), [
    'O_DIRECT', 'O_DSYNC', 'O_EXCL', 'O_EXLOCK', 'O_SYNC', 'getAlignedBuffer', 'getBlockDevice',
    'setF_NOCACHE', 'setFlock', 'setFSCTL_LOCK_VOLUME',
  ]);
  for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(direct))) {
    const { writable, enumerable, configurable, value } = property;
    assert.deepStrictEqual({ writable, enumerable, configurable },
      { writable: true, enumerable: true, configurable: true }, name);
    if (typeof value !== 'function') continue;
    assert.strictEqual(value.name, '', name);
    assert.strictEqual(value.length, 0, name);
    assert.ok('prototype' in value, name);
  }
  if (process.platform !== 'linux') return;
  const { O_DIRECT, O_DSYNC, O_EXCL, O_SYNC } = require('fs').constants;
  assert.strictEqual(direct.O_DSYNC, O_DSYNC);
  assert.strictEqual(direct.O_EXCL, O_EXCL);
  assert.strictEqual(direct.O_SYNC, O_SYNC);
  assert.strictEqual(direct.O_EXLOCK, 0);
  if (process.arch === 'x64') assert.strictEqual(direct.O_DIRECT, O_DIRECT);
  assert.ok(direct.O_DIRECT > 0);
});

test('getAlignedBuffer refuses in its order and its words', () => {
  const bad = 'bad arguments, expected: (size, alignment)';
  refuses('getAlignedBuffer', bad, [], [8], [8, 8, 8], [8, 8, undefined]);
  for (const value of notWhole) {
    refuses('getAlignedBuffer', bad, [value, 8], [8, value], [value, value]);
  }
  refuses('getAlignedBuffer', 'size must not be 0', [0, 8], [-0, 8], [0, 0], [0, 3]);
  refuses('getAlignedBuffer', 'alignment must not be 0', [1, 0], [1, -0]);
  refuses('getAlignedBuffer', 'alignment must be a power of 2', [1, 3], [1, 4097], [1, 2147483647]);
  refuses('getAlignedBuffer', 'alignment must be at least 8 bytes', [1, 1], [1, 2], [1, 4]);
  refuses('getAlignedBuffer', 'alignment must be at most 4194304 bytes', [1, 8388608], [1, 2 ** 30]);
  assert.strictEqual(direct.getAlignedBuffer(1.0, 8.0).length, 1);
});

test('getBlockDevice refuses in its words', () => {
  const bad = 'bad arguments, expected: (fd, callback)';
  refuses('getBlockDevice', bad, [], [0], [callback], [0, callback, 0], [0, callback, undefined]);
  for (const fd of notWhole) refuses('getBlockDevice', bad, [fd, callback]);
  for (const other of notFunction) refuses('getBlockDevice', bad, [0, other]);
});

test('the setters of other systems say so before they look at arguments', () => {
  const calls = [[], [0], [0, 1, callback], ['0', 7], [0, 1, callback, 4]];
  if (process.platform !== 'darwin') refuses('setF_NOCACHE', 'only supported on mac os', ...calls);
  if (process.platform !== 'win32') {
    refuses('setFSCTL_LOCK_VOLUME', 'only supported on windows', ...calls);
  } else {
    refuses('setFlock', 'not supported on windows', ...calls);
  }
});

test('the setters of this system refuse in their words', () => {
  const here = { darwin: ['setF_NOCACHE', 'setFlock'], win32: ['setFSCTL_LOCK_VOLUME'] };
  const bad = 'bad arguments, expected: (fd, value=0/1, callback)';
  for (const name of here[process.platform] || ['setFlock']) {
    refuses(name, bad, [], [0], [0, 1], [0, callback], [0, 1, callback, 0]);
    for (const fd of notWhole) refuses(name, bad, [fd, 1, callback]);
    for (const value of [...notWhole, 2, 3, 2147483647]) refuses(name, bad, [0, value, callback]);
    for (const other of notFunction) refuses(name, bad, [0, 1, other]);
  }
});
