'use strict';

// Where tasks run and how they end: worker threads, exits, contexts, throws.

const assert = require('assert');
const { AsyncLocalStorage } = require('async_hooks');
const { spawnSync } = require('child_process');
const { once } = require('events');
const { test } = require('node:test');
const path = require('path');
const { Worker } = require('worker_threads');

const direct = require('..');
const promises = require('../promises.js');

/** The package by its path: a worker's script is in no folder. */
const ROOT = JSON.stringify(path.join(__dirname, '..'));

/** What every kind of task does, many times, without waiting. */
const BUSY = `
  const direct = require(${ROOT});
  const promises = require(${ROOT} + '/promises.js');
  const quiet = () => {};
  const kept = [];
  for (let i = 0; i < 64; i++) {
    kept.push(direct.getAlignedBuffer(65536, 4096));
    direct.getBlockDevice(0, quiet);
    direct.setFlock(2147483647, 1, quiet);
    promises.getAlignedBuffer(1 << 20, 4096).then((buffer) => kept.push(buffer), quiet);
    promises.probe('/').then(quiet, quiet);
  }`;

test('workers are terminated with tasks in flight', async () => {
  for (let round = 0; round < 8; round++) {
    const workers = [0, 1].map(() => new Worker(
      `${BUSY}; require('worker_threads').parentPort.postMessage('busy'); setInterval(() => {}, 1e6);`,
      { eval: true }));
    await Promise.all(workers.map((worker) => once(worker, 'message')));
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
  // This thread still has all it had.
  assert.strictEqual(direct.getAlignedBuffer(1, 8).length, 1);
  await promises.probe('/');
});

test('workers end by themselves and their memory with them', async () => {
  const before = process.memoryUsage.rss();
  for (let round = 0; round < 8; round++) {
    const worker = new Worker(`
      const kept = [];
      for (let i = 0; i < 256; i++) kept.push(require(${ROOT}).getAlignedBuffer(1 << 18, 4096).fill(1));
      require('worker_threads').parentPort.postMessage(kept.length);
    `, { eval: true });
    // It may end before its message is read: nothing is awaited between the two events.
    const ended = once(worker, 'exit');
    assert.strictEqual((await once(worker, 'message'))[0], 256);
    await ended;
  }
  const grown = (process.memoryUsage.rss() - before) / 2 ** 20;
  assert.ok(grown < 192, `8 workers of 64 MiB each left ${grown} MiB`);
});

for (const [how, end, status] of [
  ['process.exit', 'process.exit(7);', 7],
  ['a throw', "throw new Error('on purpose');", 1],
  ['the end of the script', '', 0],
]) {
  test(`${how} with tasks in flight ends the process well`, () => {
    for (let round = 0; round < 3; round++) {
      const done = spawnSync(process.execPath, ['-e', `${BUSY}; ${end}`], { encoding: 'utf8' });
      assert.strictEqual(done.signal, null, done.stderr);
      assert.strictEqual(done.status, status, done.stderr);
    }
  });
}

test('a worker that alone has loaded the addon may unload it', () => {
  const done = spawnSync(process.execPath, ['-e', `
    const { Worker } = require('worker_threads');
    let left = 6;
    const next = () => {
      if (left-- === 0) return;
      const script = ${JSON.stringify(`${BUSY}; require('worker_threads').parentPort.postMessage(0);`)};
      const worker = new Worker(script, { eval: true });
      worker.once('message', () => {
        if (left % 2 === 0) worker.terminate();
      });
      worker.once('exit', next);
    };
    next();`], { encoding: 'utf8' });
  assert.strictEqual(done.signal, null, done.stderr);
  assert.strictEqual(done.status, 0, done.stderr);
});

test('callbacks and promises keep the async context of the call', async () => {
  const storage = new AsyncLocalStorage();
  const seen = [];
  await Promise.all([1, 2, 3].map((name) => storage.run(name, async () => {
    await new Promise((resolve) => direct.getBlockDevice(0, () => {
      seen.push(storage.getStore() === name);
      resolve();
    }));
    await new Promise((resolve) => direct.setFlock(2147483647, 1, () => {
      seen.push(storage.getStore() === name);
      resolve();
    }));
    await promises.getAlignedBuffer(8, 8);
    seen.push(storage.getStore() === name);
  })));
  assert.deepStrictEqual(seen, Array(9).fill(true));
});

test('a throw in a callback is an uncaughtException, and its result is nothing', () => {
  const done = spawnSync(process.execPath, ['-e', `
    const { getBlockDevice, setFlock } = require(${ROOT});
    const seen = [];
    process.on('uncaughtException', (error) => seen.push(error.message));
    getBlockDevice(0, () => { throw new Error('first'); });
    setFlock(2147483647, 0, () => { throw new Error('second'); });
    setFlock(2147483647, 0, () => Promise.resolve(7));
    process.on('exit', () => console.log(seen.sort().join()));
  `], { encoding: 'utf8' });
  assert.strictEqual(done.stdout, 'first,second\n', done.stderr);
  assert.strictEqual(done.status, 0, done.stderr);
  const uncaught = spawnSync(process.execPath, ['-e', `
    require(${ROOT}).getBlockDevice(0, () => { throw new Error('nobody looks'); });
  `], { encoding: 'utf8' });
  assert.strictEqual(uncaught.status, 1);
  assert.match(uncaught.stderr, /nobody looks/);
});
