'use strict';

// What block devices, files and paths are, in both APIs.

const assert = require('assert');
const fs = require('fs');
const { test } = require('node:test');
const { pathToFileURL } = require('url');

const direct = require('..');
const promises = require('../promises.js');
const { file, folder, loop, open } = require('./support/loop.js');

/** What the drop-in's function calls back with. */
function called(name, ...args) {
  return new Promise((resolve) => {
    let returned = false;
    const result = direct[name](...args, function (...given) {
      assert.ok(returned, `${name} called back before it returned`);
      assert.strictEqual(this, globalThis);
      resolve(given);
    });
    returned = true;
    assert.strictEqual(result, undefined);
  });
}

/** The one argument is an Error of this text with nothing else on it. */
function isPlainError(given, message) {
  assert.strictEqual(given.length, 1);
  assert.strictEqual(given[0].message, message);
  assert.strictEqual(Object.getPrototypeOf(given[0]), Error.prototype);
  assert.deepStrictEqual(Object.keys(given[0]), []);
}

for (const sector of [512, 4096]) {
  test(`a loop device of ${sector}-byte sectors says so`, async (t) => {
    const device = loop(t, sector, 12 << 20);
    if (device === undefined) return;
    const fd = open(t, device, 'r');
    const [error, dropIn, ...rest] = await called('getBlockDevice', fd);
    assert.strictEqual(error, undefined);
    assert.deepStrictEqual(rest, []);
    assert.deepStrictEqual(Object.entries(dropIn), [
      ['logicalSectorSize', sector],
      ['physicalSectorSize', dropIn.physicalSectorSize],
      ['size', 12 << 20],
      ['serialNumber', ''],
    ]);
    assert.ok(dropIn.physicalSectorSize >= sector);

    const handle = await fs.promises.open(device);
    t.after(() => handle.close());
    for (const target of [fd, handle, device, Buffer.from(device), pathToFileURL(device)]) {
      const all = await promises.getBlockDevice(target);
      assert.deepStrictEqual(Object.keys(all).slice(0, 4), Object.keys(dropIn));
      assert.strictEqual(all.logicalSectorSize, sector);
      assert.strictEqual(all.physicalSectorSize, dropIn.physicalSectorSize);
      assert.strictEqual(all.size, 12n << 20n);
      assert.strictEqual(all.serialNumber, null);
      assert.match(all.unknown.serialNumber, /\w/);
      assert.strictEqual(all.kind, 'loop');
      assert.ok(all.backingFile.endsWith('/file'));
      assert.strictEqual(`/dev/${all.name}`, device);
      for (const [name, value] of Object.entries(all)) {
        const optional = ['backingFile', 'mappedName'].includes(name);
        assert.strictEqual(value === null, name in all.unknown || (optional && value === null), name);
      }
    }
  });
}

test('a disk with a serial number tells it without SCSI', async (t) => {
  const withSerial = fs.readdirSync('/sys/block').find((name) =>
    fs.existsSync(`/sys/block/${name}/serial`) || fs.existsSync(`/sys/block/${name}/device/serial`));
  if (withSerial === undefined) return t.skip('no disk here has a serial number');
  const known = ['serial', 'device/serial'].map((name) => `/sys/block/${withSerial}/${name}`)
    .find((name) => fs.existsSync(name));
  const device = await promises.getBlockDevice(`/dev/${withSerial}`);
  assert.strictEqual(device.serialNumber, fs.readFileSync(known, 'utf8').trim());
  try {
    const [error, dropIn] = await called('getBlockDevice', open(t, `/dev/${withSerial}`, 'r'));
    assert.strictEqual(error, undefined);
    assert.strictEqual(dropIn.serialNumber, device.serialNumber);
  } catch (error) {
    t.diagnostic(`the drop-in needs it open: ${error.message}`);
  }
});

test('what is no block device is refused in the original\'s words', async (t) => {
  const text = 'fd is not a block or character device';
  isPlainError(await called('getBlockDevice', open(t, file(t), 'r')), text);
  isPlainError(await called('getBlockDevice', open(t, folder(t), 'r')), text);
  isPlainError(await called('getBlockDevice', open(t, '/dev/null', 'r')), 'BLKSSZGET failed');
  isPlainError(await called('getBlockDevice', 2147483647), 'fstat failed');
});

test('the promises name the code, the call and the path', async (t) => {
  const name = file(t);
  await assert.rejects(promises.getBlockDevice(name),
    { code: 'ENOTBLK', errno: -15, syscall: 'stat', path: name });
  await assert.rejects(promises.getBlockDevice(open(t, name, 'r')),
    { code: 'ENOTBLK', errno: -15, syscall: 'fstat', message: 'ENOTBLK: block device required, fstat' });
  await assert.rejects(promises.getBlockDevice('/no/such'), {
    code: 'ENOENT', errno: -2, syscall: 'stat', path: '/no/such',
    message: "ENOENT: no such file or directory, stat '/no/such'",
  });
  await assert.rejects(promises.getBlockDevice(2147483647), { code: 'EBADF', errno: -9, syscall: 'fstat' });
  const handle = await fs.promises.open(name);
  await handle.close();
  await assert.rejects(promises.getBlockDevice(handle), { code: 'EBADF' });
  await assert.rejects(promises.probe(`${name}/below`), { code: 'ENOTDIR', path: `${name}/below` });
});

test('probe says what a file is on and what direct I/O on it needs', async (t) => {
  const name = file(t, 123456);
  const probed = await promises.probe(name);
  assert.strictEqual(probed.kind, 'file');
  assert.strictEqual(probed.path, fs.realpathSync(name));
  assert.strictEqual(probed.size, 123456n);
  assert.strictEqual(typeof probed.mount.filesystem, 'string');
  const { direct: needs, honoured } = probed;
  assert.ok(['stated', 'sector', 'tried', 'guessed'].includes(needs.known));
  if (!needs.possible) return t.diagnostic(`no direct I/O here: ${needs.reason}`);
  assert.ok(honoured === null || ['yes', 'no', 'unknown'].includes(honoured.reads.verdict));
  const fd = open(t, name, fs.constants.O_RDWR | direct.O_DIRECT);
  const buffer = await promises.getAlignedBuffer(needs.offsetAlignment, needs.memoryAlignment);
  assert.strictEqual(fs.writeSync(fd, buffer, 0, buffer.length, 0), buffer.length);
});

test('probe answers for what has no direct I/O, and waits for nothing', async (t) => {
  for (const [name, kind] of [['/dev/null', 'characterDevice'], [folder(t), 'folder']]) {
    const probed = await promises.probe(name);
    assert.strictEqual(probed.kind, kind);
    assert.strictEqual(probed.direct.possible, false);
    assert.strictEqual(probed.honoured, null);
    assert.match(probed.unknown.honoured, /neither/);
  }
  const fifo = `${folder(t)}/fifo`;
  require('child_process').execFileSync('mkfifo', [fifo]);
  assert.strictEqual((await promises.probe(fifo)).kind, 'other');
});

test('wrong arguments reject with the codes of Node', async () => {
  const wrong = (code, promise) => assert.rejects(promise, { code });
  for (const size of [undefined, '1', {}, true]) {
    await wrong('ERR_INVALID_ARG_TYPE', promises.getAlignedBuffer(size, 8));
    await wrong('ERR_INVALID_ARG_TYPE', promises.getAlignedBuffer(8, size));
    await wrong('ERR_INVALID_ARG_TYPE', promises.setFlock(size, 1));
  }
  for (const size of [0, -1, 1.5, NaN, 2 ** 53, -1n, 1n << 64n]) {
    await wrong('ERR_OUT_OF_RANGE', promises.getAlignedBuffer(size, 8));
    await wrong('ERR_OUT_OF_RANGE', promises.getAlignedBuffer(8, size));
  }
  await wrong('ERR_OUT_OF_RANGE', promises.getAlignedBuffer(8, 24));
  await wrong('ERR_OUT_OF_RANGE', promises.getAlignedBuffer(8, 2 ** 31));
  await wrong('ERR_INVALID_ARG_TYPE', promises.setFlock(0, 2));
  await wrong('ERR_INVALID_ARG_TYPE', promises.getBlockDevice(undefined));
  await wrong('ERR_OUT_OF_RANGE', promises.getBlockDevice(-1));
  await wrong('ERR_INVALID_ARG_TYPE', promises.probe(7));
  await wrong('ERR_INVALID_ARG_VALUE', promises.probe('a\0b'));
  await wrong('ERR_FEATURE_UNAVAILABLE_ON_PLATFORM',
    process.platform === 'darwin' ? promises.setFSCTL_LOCK_VOLUME(0, 1) : promises.setF_NOCACHE(0, 1));
});

test('sizes may be BigInt, and large ones are had', async () => {
  const buffer = await promises.getAlignedBuffer(3n << 20n, 1n << 16n);
  assert.strictEqual(buffer.length, 3 << 20);
  assert.ok(promises.isAligned(buffer, 65536));
  const large = await promises.getAlignedBuffer(3 * 2 ** 30, 4096);
  assert.strictEqual(large.length, 3 * 2 ** 30);
  large[large.length - 1] = 7;
});

module.exports = { called, isPlainError };
