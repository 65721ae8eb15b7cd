'use strict';

// Buffers that are released while an operation still uses them.

const assert = require('assert');
const { execFileSync, spawnSync } = require('child_process');
const fs = require('fs');
const { test } = require('node:test');
const os = require('os');
const path = require('path');

const promises = require('../promises.js');

const ROOT = JSON.stringify(path.join(__dirname, '..', 'promises.js'));
const BANNED = { IOSONDE_DIRECT_IO_NO_EXTERNAL: '1' };
const KINDS = [['the memory of pools', {}], ["V8's memory", BANNED]];

/** What every script begins with: a pipe, from which a read ends when bytes are put in. */
const SETUP = `
  const assert = require('assert');
  const fs = require('fs');
  const { BufferPool } = require(${ROOT});
  const fd = fs.openSync(process.env.FIFO, fs.constants.O_RDWR);
  const turn = () => new Promise((resolve) => setTimeout(resolve, 1));
  const collect = async () => {
    for (let i = 0; i < 20; i++) { global.gc(); await turn(); }
  };
  /** A read of the pipe into a buffer: it has begun when this returns. */
  const reading = (buffer) => new Promise((resolve, reject) =>
    fs.read(fd, buffer, 0, buffer.length, null, (error, bytes) => error ? reject(error) : resolve(bytes)));
  const put = (bytes, byte) => fs.writeSync(fd, Buffer.alloc(bytes, byte));
  const main = (body) => body().then(() => console.log('well'),
    (error) => { console.error(error); process.exit(1); });`;

/** Run a script that prints `well`. */
function run(script, env = {}, memory = {}) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'iosonde-inflight-'));
  const fifo = path.join(folder, 'fifo');
  try {
    execFileSync('mkfifo', [fifo]);
    const done = spawnSync(process.execPath, ['--expose-gc', '-e', SETUP + script], {
      encoding: 'utf8',
      env: { ...process.env, ...env, ...memory, FIFO: fifo },
    });
    assert.strictEqual(done.signal, null, done.stderr);
    assert.strictEqual(done.stdout, 'well\n', done.stderr);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

const unix = { skip: process.platform === 'win32' && 'there are no named pipes in the file system' };

for (const [what, env] of KINDS) {
  test(`a read in flight keeps ${what} after release and close`, unix, () => {
    // Mapped memory, which a read into it would find gone (EFAULT), and memory of the
    // allocator, which others would get: its free blocks are overwritten.
    for (const size of [4 << 20, 65536]) {
      run(`main(async () => {
        const pool = new BufferPool({ size: ${size}, count: 1 });
        const buffer = pool.tryAcquire();
        const read = reading(buffer);
        await turn();
        pool.release(buffer);
        assert.strictEqual(buffer.length, 0);
        pool.close();
        await collect();
        const others = Array.from({ length: 500 }, () => Buffer.alloc(65536 + 4096));
        put(65536, 0x41);
        assert.strictEqual(await read, 65536);
        assert.ok(others.every((other) => other.every((byte) => byte === 0)));
        await collect();
      })`, env, { MALLOC_PERTURB_: '165' });
    }
  });

  test(`a read in flight keeps ${what} from other users until it ends`, unix, () => {
    run(`main(async () => {
      const pool = new BufferPool({ size: 4096, count: 2 });
      const first = pool.tryAcquire().fill(1);
      const read = reading(first);
      await turn();
      pool.release(first);
      // The other slots go round and round meanwhile.
      for (let round = 0; round < 50; round++) {
        const held = [await pool.acquire(), await pool.acquire()];
        for (const buffer of held) buffer.fill(2);
        if (round === 49) {
          put(4096, 3);
          assert.strictEqual(await read, 4096);
          assert.ok(held.every((buffer) => buffer.every((byte) => byte === 2)));
        }
        for (const buffer of held) pool.release(buffer);
      }
      while (pool.free < 2) await turn();
      assert.ok(await pool.acquire());
    })`, env);
  });

  test(`work of zlib that has begun reads ${what} as it was`, () => {
    run(`main(async () => {
      const zlib = require('zlib');
      const pool = new BufferPool({ size: 1 << 20, count: 2 });
      const buffer = pool.tryAcquire();
      for (let at = 0; at < buffer.length; at++) buffer[at] = at * 7 + (at >> 8);
      const copy = Buffer.from(buffer);
      const packed = new Promise((resolve, reject) => zlib.brotliCompress(buffer,
        { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 9 } },
        (error, result) => error ? reject(error) : resolve(result)));
      pool.release(buffer);
      for (let round = 0; round < 4; round++) {
        const other = pool.tryAcquire();
        if (other === null) break;
        pool.release(other.fill(9));
      }
      assert.ok(zlib.brotliDecompressSync(await packed).equals(copy));
    })`, env);
  });

  test(`a request that never ends leaves ${what} to the garbage collector`, unix, () => {
    run(`main(async () => {
      const pool = new BufferPool({ size: 512, count: 3 });
      reading(Buffer.alloc(16));
      await turn();
      for (let round = 0; round < 30; round++) {
        pool.release(await pool.acquire());
      }
      put(16, 0);
    })`, env);
  });
}

test('a buffer of a read that has ended is used again at once', unix, () => {
  run(`main(async () => {
    const pool = new BufferPool({ size: 512, count: 1 });
    const { isAligned } = require(${ROOT});
    for (let round = 0; round < 100; round++) {
      const buffer = pool.tryAcquire();
      assert.ok(buffer !== null && isAligned(buffer, 4096));
      if (round > 0) assert.strictEqual(buffer[0], round - 1);
      put(512, round);
      assert.strictEqual(await reading(buffer), 512);
      pool.release(buffer);
    }
  })`);
});

test('as many tasks as buffers, always in flight, all come to their end', () => {
  run(`main(async () => {
    const pool = new BufferPool({ size: 4096, count: 8 });
    const { read } = require(${ROOT});
    const name = require('path').join(require('os').tmpdir(), 'iosonde-inflight-' + process.pid);
    const head = require('crypto').randomBytes(4096 * 64);
    fs.writeFileSync(name, head);
    const file = await fs.promises.open(name);
    fs.unlinkSync(name);
    let done = 0;
    const task = async (number) => {
      for (let round = 0; round < 200; round++) {
        const buffer = await pool.acquire();
        const at = (round * 8 + number) % 64 * 4096;
        const bytes = number % 2 === 0 ? await read(file, buffer, at)
          : (await file.read(buffer, 0, 4096, at)).bytesRead;
        assert.strictEqual(bytes, 4096);
        assert.ok(buffer.equals(head.subarray(at, at + 4096)));
        pool.release(buffer);
        done++;
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, number) => task(number)));
    await file.close();
    assert.strictEqual(done, 1600);
  })`);
});

test('workers end with released buffers in flight', unix, () => {
  run(`main(async () => {
    const { Worker } = require('worker_threads');
    const { once } = require('events');
    for (let round = 0; round < 6; round++) {
      const worker = new Worker(\`
        const fs = require('fs');
        const { BufferPool } = require(${ROOT});
        const pool = new BufferPool({ size: 65536, count: 4 });
        const fd = fs.openSync(process.env.FIFO, fs.constants.O_RDWR);
        for (let i = 0; i < 4; i++) {
          const buffer = pool.tryAcquire();
          fs.read(fd, buffer, 0, 65536, null, () => {});
          setTimeout(() => pool.release(buffer), 1);
        }
        setTimeout(() => {
          pool.close();
          require('worker_threads').parentPort.postMessage(0);
          if (\${round} % 2) setInterval(() => {}, 1e6);
        }, 5);\`, { eval: true, env: process.env });
      await once(worker, 'message');
      const ended = once(worker, 'exit');
      if (round % 2) worker.terminate();
      const inlet = fs.openSync(process.env.FIFO, fs.constants.O_WRONLY | fs.constants.O_NONBLOCK);
      const feeding = setInterval(() => {
        try {
          fs.writeSync(inlet, Buffer.alloc(16384, round));
        } catch (error) {
          assert.strictEqual(error.code, 'EAGAIN');
        }
      }, 1);
      await ended;
      clearInterval(feeding);
      fs.closeSync(inlet);
    }
  })`, {}, { MALLOC_PERTURB_: '165' });
});

test('an aborted wait has the code of Node\'s own', async () => {
  const pool = new promises.BufferPool({ size: 512, count: 1 });
  const held = pool.tryAcquire();
  const expected = { name: 'AbortError', code: 'ABORT_ERR', message: 'The operation was aborted' };
  await assert.rejects(pool.acquire({ signal: AbortSignal.abort() }), expected);
  const stopped = new AbortController();
  const waiting = pool.acquire({ signal: stopped.signal });
  stopped.abort(new Error('enough'));
  await assert.rejects(waiting, (error) => {
    assert.strictEqual(error.cause.message, 'enough');
    assert.strictEqual(error.code, 'ABORT_ERR');
    return true;
  });
  pool.release(held);
});

test('a misaligned write names each rule that it breaks', async (t) => {
  const name = path.join(__dirname, `.test-misaligned-${process.pid}`);
  const { O_RDWR, O_CREAT } = fs.constants;
  let file;
  try {
    file = await fs.promises.open(name, O_RDWR | O_CREAT | promises.O_DIRECT);
  } catch (error) {
    return t.skip(`no direct I/O here: ${error.code}`);
  }
  try {
    const { direct } = await promises.probe(name);
    const unit = direct.offsetAlignment;
    const buffer = await promises.getAlignedBuffer(2 * unit, Math.max(unit, 4096));
    assert.strictEqual(await promises.write(file, buffer.fill(5), 0), 2 * unit);
    assert.strictEqual(await promises.read(file, buffer, BigInt(unit)), unit);
    await promises.write(file, buffer.subarray(0, unit - 1), 1).then(
      () => t.diagnostic('the file system takes any alignment'),
      (error) => {
        assert.strictEqual(error.code, 'EINVAL');
        assert.strictEqual(error.syscall, 'write');
        assert.ok(error.message.includes(`the length ${unit - 1} is not a multiple of ${unit}`), error.message);
        assert.ok(error.message.includes(`the offset 1 is not a multiple of ${unit}`), error.message);
      });
    await assert.rejects(promises.write(file, 'text', 0), { code: 'ERR_INVALID_ARG_TYPE' });
    await assert.rejects(promises.write(file, buffer, -1), { code: 'ERR_OUT_OF_RANGE' });
    await assert.rejects(promises.read(file, buffer, 2n ** 63n), { code: 'ERR_OUT_OF_RANGE' });
    await assert.rejects(promises.read(2147483647, buffer, 0), { code: 'EBADF', syscall: 'read' });
  } finally {
    await file.close();
    fs.rmSync(name);
  }
});
