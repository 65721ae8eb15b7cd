'use strict';

// Locks of whole files, between descriptors and between processes.

const assert = require('assert');
const { spawn } = require('child_process');
const fs = require('fs');
const { once } = require('events');
const { test } = require('node:test');

const direct = require('..');
const promises = require('../promises.js');
const { file, open } = require('./support/loop.js');

const BUSY = 'EWOULDBLOCK, the file is already locked';

/** The arguments that setFlock calls back with. */
function setFlock(fd, value) {
  return new Promise((resolve) => direct.setFlock(fd, value, (...given) => resolve(given)));
}

async function succeeds(fd, value) {
  assert.deepStrictEqual(await setFlock(fd, value), [undefined]);
}

async function fails(fd, value, message) {
  const given = await setFlock(fd, value);
  assert.strictEqual(given.length, 1);
  assert.strictEqual(given[0].message, message);
  assert.deepStrictEqual(Object.keys(given[0]), []);
}

test('a second descriptor is refused until the first unlocks', async (t) => {
  const name = file(t);
  const [first, second] = [open(t, name, 'r+'), open(t, name, 'r+')];
  await succeeds(first, 0);
  await succeeds(first, 1);
  await succeeds(first, 1);
  await fails(second, 1, BUSY);
  await assert.rejects(promises.setFlock(second, 1),
    { code: 'EAGAIN', errno: -11, syscall: 'flock', message: /, flock: it is locked by another/ });
  await succeeds(second, 0);
  await fails(second, 1, BUSY);
  await succeeds(first, 0);
  await succeeds(second, 1);
  await succeeds(second, 0);
  await fails(2147483647, 1, 'EBADF, fd is an invalid file descriptor');
});

test('a lock ends with its descriptor: the task keeps no second one', async (t) => {
  const name = file(t);
  const first = fs.openSync(name, 'r+');
  await succeeds(first, 1);
  fs.closeSync(first);
  await succeeds(open(t, name, 'r+'), 1);
});

test('shared locks go together and keep an exclusive one out', async (t) => {
  const name = file(t);
  const [first, second, third] = [0, 1, 2].map(() => open(t, name, 'r+'));
  assert.strictEqual(await promises.setFlock(first, 'shared'), undefined);
  await promises.setFlock(second, 'shared');
  await fails(third, 1, BUSY);
  await promises.setFlock(first, 0);
  await promises.setFlock(second, false);
  await promises.setFlock(third, true);
});

test('another process is refused, and gets the lock when this one dies', async (t) => {
  const name = file(t);
  const holder = spawn(process.execPath, ['-e', `
    const fd = require('fs').openSync(process.argv[1], 'r+');
    require('..').setFlock(fd, 1, (error) => console.log(error ? error.message : 'locked'));
    process.stdin.resume();
  `, name], { cwd: __dirname, stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => holder.kill());
  assert.strictEqual(String((await once(holder.stdout, 'data'))[0]), 'locked\n');
  const handle = await fs.promises.open(name, 'r+');
  t.after(() => handle.close());
  await fails(handle.fd, 1, BUSY);
  await assert.rejects(promises.setFlock(handle, 1), { code: 'EAGAIN' });
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  await promises.setFlock(handle, 1);
  const [refused] = await once(spawn(process.execPath, ['-e', `
    const fd = require('fs').openSync(process.argv[1], 'r+');
    require('..').setFlock(fd, 1, (error) => process.exit(error ? 3 : 0));
  `, name], { cwd: __dirname }), 'exit');
  assert.strictEqual(refused, 3);
});
