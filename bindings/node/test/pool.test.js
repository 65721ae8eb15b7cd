'use strict';

// Pools: buffers taken, given back, forgotten, misused.

const assert = require('assert');
const { execFileSync } = require('child_process');
const { test } = require('node:test');
const { Worker } = require('worker_threads');
const { once } = require('events');
const path = require('path');

const { BufferPool, isAligned } = require('../promises.js');

test('buffers are equal, aligned, zeroed at first, and as many as asked', () => {
  const pool = new BufferPool({ size: 5000, count: 3, alignment: 8192 });
  assert.deepStrictEqual([pool.size, pool.count, pool.alignment, pool.free], [5000, 3, 8192, 3]);
  const buffers = [0, 1, 2].map(() => pool.tryAcquire());
  for (const [at, buffer] of buffers.entries()) {
    assert.ok(Buffer.isBuffer(buffer));
    assert.strictEqual(buffer.length, 5000);
    assert.ok(isAligned(buffer, 8192));
    assert.ok(buffer.every((byte) => byte === 0));
    buffer.fill(at + 1);
  }
  assert.strictEqual(pool.free, 0);
  assert.strictEqual(pool.tryAcquire(), null);
  assert.ok(buffers.every((buffer, at) => buffer.every((byte) => byte === at + 1)));
});

test('a released buffer is out of reach, and its memory is used again', async () => {
  const pool = new BufferPool({ size: 4096, count: 1n });
  const first = pool.tryAcquire();
  const view = first.subarray(10, 20);
  first.fill(7);
  pool.release(first);
  assert.deepStrictEqual([first.length, view.length, first.buffer.byteLength], [0, 0, 0]);
  // At once, unless an operation of the test runner's is in flight.
  let again = await pool.acquire();
  for (let tries = 0; again[4095] !== 7 && tries < 1000; tries++) {
    pool.release(again);
    await new Promise((resolve) => setTimeout(resolve, 1));
    again = await pool.acquire();
  }
  assert.strictEqual(again.length, 4096);
  assert.strictEqual(again[4095], 7);
  assert.throws(() => first.fill(9), TypeError);
  assert.strictEqual(again[0], 7);
  const misused = { code: 'ERR_INVALID_ARG_VALUE' };
  assert.throws(() => pool.release(first), misused);
  assert.throws(() => pool.release(again.subarray(1)), misused);
  assert.throws(() => pool.release(Buffer.alloc(4096)), misused);
  assert.throws(() => new BufferPool({ size: 4096, count: 1 }).release(again), misused);
  assert.throws(() => pool.release('buffer'), { code: 'ERR_INVALID_ARG_TYPE' });
  assert.strictEqual(pool.free, 0);
  pool.release(again);
});

test('those who wait are served in order', async () => {
  const pool = new BufferPool({ size: 512, count: 1, alignment: 512 });
  const held = await pool.acquire();
  const order = [];
  const stopped = new AbortController();
  const waiting = ['a', 'b', 'c'].map((name) =>
    pool.acquire(name === 'b' ? { signal: stopped.signal } : {}).then((buffer) => {
      order.push(name);
      pool.release(buffer);
    }));
  stopped.abort();
  await assert.rejects(waiting[1], { name: 'AbortError' });
  assert.strictEqual(pool.tryAcquire(), null);
  pool.release(held);
  await Promise.all([waiting[0], waiting[2]]);
  assert.deepStrictEqual(order, ['a', 'c']);
  assert.strictEqual(pool.free, 1);
});

test('a closed pool gives none, and takes back what is out', async () => {
  const pool = new BufferPool({ size: 512, count: 1 });
  const held = pool.tryAcquire();
  const waiting = pool.acquire();
  pool.close();
  pool.close();
  await assert.rejects(waiting, { code: 'ERR_INVALID_STATE' });
  await assert.rejects(pool.acquire(), { code: 'ERR_INVALID_STATE' });
  assert.throws(() => pool.tryAcquire(), { code: 'ERR_INVALID_STATE' });
  held.fill(1);
  pool.release(held);
  assert.strictEqual(held.length, 0);
});

test('wrong options say which', () => {
  const wrong = (code, options) => assert.throws(() => new BufferPool(options), { code });
  wrong('ERR_INVALID_ARG_TYPE', undefined);
  wrong('ERR_INVALID_ARG_TYPE', { count: 1 });
  wrong('ERR_INVALID_ARG_TYPE', { size: 1, count: 1, hugePages: 1 });
  wrong('ERR_OUT_OF_RANGE', { size: 0, count: 1 });
  wrong('ERR_OUT_OF_RANGE', { size: 1, count: 0 });
  wrong('ERR_OUT_OF_RANGE', { size: 1, count: 1, alignment: 3 });
  wrong('ENOMEM', { size: 2 ** 32, count: 2 ** 32 });
});

test('huge pages are had, or refused with the remedy', () => {
  try {
    new BufferPool({ size: 4096, count: 2, hugePages: true }).tryAcquire().fill(1);
  } catch (error) {
    assert.strictEqual(error.code, 'ENOMEM');
    assert.strictEqual(error.syscall, 'mmap');
    const remedy = process.platform === 'win32' ? 'SeLockMemoryPrivilege' : 'nr_hugepages';
    assert.match(error.message, new RegExp(`^ENOMEM: not enough memory, mmap: .*${remedy}`));
  }
});

// What is dropped and not released.
const FORGET = `
  const { BufferPool } = require(${JSON.stringify(path.join(__dirname, '..', 'promises.js'))});
  const pool = new BufferPool({ size: 65536, count: 8 });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  (async () => {
    for (let i = 0; i < 8; i++) pool.tryAcquire().fill(1);
    const kept = [];
    for (let tries = 0; pool.free < 8 && tries < 100; tries++) {
      global.gc();
      await turn();
    }
    if (pool.free !== 8) throw new Error(pool.free + ' are back');
    // A view keeps its buffer.
    const view = pool.tryAcquire().subarray(100, 200).fill(5);
    for (let i = 0; i < 10; i++) {
      global.gc();
      await turn();
    }
    if (pool.free !== 7 || view[0] !== 5) throw new Error('a view did not keep its buffer');
    // Who waits gets a buffer that another has dropped.
    for (let i = 0; i < 7; i++) kept.push(pool.tryAcquire());
    const waiting = pool.acquire();
    kept.length = 4;
    const gc = setInterval(global.gc, 5);
    await waiting;
    clearInterval(gc);
    console.log('well', view.length);
  })();`;

for (const [how, env] of [
  ['lent memory', {}],
  ['views, where memory from outside is banned', { IOSONDE_DIRECT_IO_NO_EXTERNAL: '1' }],
]) {
  test(`the collector gives back what was forgotten: ${how}`, () => {
    const out = execFileSync(process.execPath, ['--expose-gc', '-e', FORGET],
      { encoding: 'utf8', env: { ...process.env, ...env } });
    assert.strictEqual(out, 'well 100\n');
  });
}

test('a banned pool releases and misuses alike', () => {
  const out = execFileSync(process.execPath, ['-e', `
    const { BufferPool, isAligned } = require('../promises.js');
    const assert = require('assert');
    const pool = new BufferPool({ size: 4096, count: 2, alignment: 65536 });
    const buffer = pool.tryAcquire();
    assert.ok(isAligned(buffer, 65536));
    assert.ok(pool.tryAcquire() && pool.tryAcquire() === null);
    pool.release(buffer);
    assert.strictEqual(buffer.length, 0);
    assert.throws(() => pool.release(buffer), { code: 'ERR_INVALID_ARG_VALUE' });
    assert.ok(pool.tryAcquire());
    console.log('well');`],
  { cwd: __dirname, encoding: 'utf8', env: { ...process.env, IOSONDE_DIRECT_IO_NO_EXTERNAL: '1' } });
  assert.strictEqual(out, 'well\n');
});

test('a pool and what it lent end with their worker', async () => {
  for (let round = 0; round < 4; round++) {
    const worker = new Worker(`
      const { BufferPool } = require(${JSON.stringify(path.join(__dirname, '..', 'promises.js'))});
      const pool = new BufferPool({ size: 65536, count: 64 });
      globalThis.kept = Array.from({ length: 64 }, () => pool.tryAcquire().fill(1));
      pool.acquire();
      require('worker_threads').parentPort.postMessage(pool.free);
      if (${round % 2}) setInterval(() => {}, 1e6);
    `, { eval: true });
    assert.strictEqual((await once(worker, 'message'))[0], 0);
    await worker.terminate();
  }
});
