'use strict';

// The memory: aligned, zeroed, as long as asked, and fit for direct I/O.

const assert = require('assert');
const { execFileSync } = require('child_process');
const fs = require('fs');
const { test } = require('node:test');
const path = require('path');

const direct = require('..');
const { isAligned } = require('../promises.js');
const { file, loop, open } = require('./support/loop.js');

const sizes = [1, 7, 8, 511, 512, 513, 4095, 4096, 65536, 65537, 1 << 20, (2 << 20) + 1, 4 << 20];
const alignments = Array.from({ length: 20 }, (_, power) => 8 << power);

test('260 buffers are aligned, zeroed, writable and exactly as long as asked', () => {
  for (const alignment of alignments) {
    for (const size of sizes) {
      const buffer = direct.getAlignedBuffer(size, alignment);
      const what = `${size} bytes at ${alignment}`;
      assert.ok(Buffer.isBuffer(buffer), what);
      assert.strictEqual(buffer.length, size, what);
      assert.strictEqual(buffer.byteOffset, 0, what);
      assert.strictEqual(buffer.buffer.byteLength, size, what);
      assert.ok(isAligned(buffer, alignment), what);
      assert.strictEqual(buffer.compare(Buffer.alloc(size)), 0, what);
      buffer.fill(0xa5);
      assert.strictEqual(buffer[size - 1], 0xa5, what);
    }
  }
});

/** Each buffer writes its own pattern past the cache, and another reads it back. */
function passes(t, name, sector) {
  const fd = open(t, name, fs.constants.O_RDWR | direct.O_DIRECT);
  let passed = 0;
  for (const alignment of alignments.filter((bytes) => bytes >= sector)) {
    for (const size of sizes.filter((bytes) => bytes % sector === 0)) {
      const [out, back] = [0, 1].map(() => direct.getAlignedBuffer(size, alignment));
      out.fill(passed + 1);
      assert.strictEqual(fs.writeSync(fd, out, 0, size, 0), size);
      assert.strictEqual(fs.readSync(fd, back, 0, size, 0), size);
      assert.ok(out.equals(back), `${size} bytes at ${alignment}`);
      passed += 1;
    }
  }
  return { fd, passed };
}

test('a file takes direct writes and reads through them', (t) => {
  const name = file(t);
  try {
    fs.closeSync(fs.openSync(name, fs.constants.O_RDWR | direct.O_DIRECT));
  } catch (error) {
    return t.skip(`no direct I/O here: ${error.message}`);
  }
  assert.ok(passes(t, name, 4096).passed > 40);
});

for (const sector of [512, 4096]) {
  test(`a device of ${sector}-byte sectors takes direct writes and reads through them`, (t) => {
    const device = loop(t, sector);
    if (device === undefined) return;
    const { fd, passed } = passes(t, device, sector);
    assert.ok(passed > 40);
    // The device does tell: a buffer that is not aligned is refused.
    const odd = direct.getAlignedBuffer(8192, 4096).subarray(1, 4097);
    assert.throws(() => fs.writeSync(fd, odd, 0, 4096, 0), { code: 'EINVAL' });
  });
}

test('the largest size is given, and costs only what is touched', () => {
  const before = process.memoryUsage.rss();
  const buffer = direct.getAlignedBuffer(2147483647, 4096);
  buffer[2147483646] = 7;
  assert.strictEqual(buffer.length, 2147483647);
  assert.ok(process.memoryUsage.rss() - before < 64 << 20);
});

test('where memory from outside is banned, a buffer is an aligned view', () => {
  const script = `
    const assert = require('assert');
    const { getAlignedBuffer } = require('..');
    const promises = require('../promises.js');
    (async () => {
      for (const size of [1, 4096, 65537, 1 << 20]) {
        for (const alignment of [8, 512, 4096, 1 << 20, 4 << 20]) {
          for (const buffer of [
            getAlignedBuffer(size, alignment), await promises.getAlignedBuffer(size, alignment),
          ]) {
            assert.ok(Buffer.isBuffer(buffer));
            assert.strictEqual(buffer.length, size);
            assert.ok(buffer.buffer.byteLength > size);
            assert.ok(promises.isAligned(buffer, alignment));
            assert.strictEqual(buffer.compare(Buffer.alloc(size)), 0);
            buffer.fill(1);
          }
        }
      }
      console.log('all views');
    })();`;
  const env = { ...process.env, IOSONDE_DIRECT_IO_NO_EXTERNAL: '1' };
  const out = execFileSync(process.execPath, ['-e', script], { env, cwd: __dirname, encoding: 'utf8' });
  assert.strictEqual(out, 'all views\n');
});

test('V8 knows how much memory its buffers hold', () => {
  const before = process.memoryUsage().external;
  const buffer = direct.getAlignedBuffer(64 << 20, 4096);
  assert.ok(process.memoryUsage().external - before >= buffer.length);
});

// Each in a process of its own, which prints its highest RSS in MiB.
for (const [what, most, script] of [
  ['200,000 buffers in one turn of the event loop', 600, `
    for (let i = 0; i < 2e5; i++) getAlignedBuffer(4096, 4096)[i % 4096] = 1;`],
  ['20,000 buffers of 64 KiB, which the original keeps all', 700, `
    for (let i = 0; i < 20000; i++) getAlignedBuffer(65536, 4096).fill(1);`],
]) {
  test(`${what} are freed`, () => {
    const out = execFileSync(process.execPath, ['-e', `
      const { getAlignedBuffer } = require('..');
      process.on('exit', () => console.log(process.resourceUsage().maxRSS / 1024));
      ${script}`], { cwd: __dirname, encoding: 'utf8' });
    assert.ok(Number(out) < most, `${out.trim()} MiB at most`);
  });
}

test('a million buffers leave the RSS flat', () => {
  const script = path.join(__dirname, 'support', 'flat.js');
  const out = execFileSync(process.execPath, ['--expose-gc', script], { encoding: 'utf8' });
  const [half, whole, most] = out.split('\n').map(Number);
  assert.ok(whole - half < 48, `${half} MiB after the first half, ${whole} MiB after the second`);
  assert.ok(most < 400, `${most} MiB at most`);
});
