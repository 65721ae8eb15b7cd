'use strict';

// The package as it is installed: packed, without a compiler, in both kinds of
// modules, with its types.

const assert = require('assert');
const { spawnSync } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');
const { test } = require('node:test');

const root = path.join(__dirname, '..');

function run(t, command, args, options) {
  const done = spawnSync(command, args, { encoding: 'utf8', ...options });
  assert.strictEqual(done.status, 0, `${command} ${args.join(' ')}: ${done.stdout}${done.stderr}`);
  return done.stdout;
}

/** A folder outside the repository in which the packed package is installed. */
function installed(t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'iosonde-package-'));
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  run(t, 'npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: root });
  const packed = fs.readdirSync(folder).find((name) => name.endsWith('.tgz'));
  fs.writeFileSync(path.join(folder, 'package.json'), '{ "private": true }');
  // No compiler and no network are within its reach.
  const PATH = path.join(folder, 'bin');
  fs.mkdirSync(PATH);
  for (const name of ['node', 'npm', 'sh']) {
    const found = run(t, 'sh', ['-c', `command -v ${name}`]).trim();
    fs.symlinkSync(found, path.join(PATH, name));
  }
  run(t, 'npm', ['install', '--offline', '--no-audit', '--no-fund', `./${packed}`],
    { cwd: folder, env: { ...process.env, PATH } });
  return folder;
}

test('the packed package is installed without a compiler and works', (t) => {
  if (spawnSync('npm', ['--version']).status !== 0) return t.skip('there is no npm');
  const folder = installed(t);
  const files = fs.readdirSync(path.join(folder, 'node_modules', '@iosonde', 'direct-io')).sort();
  assert.deepStrictEqual(files, [
    'LICENSE-APACHE', 'LICENSE-MIT', 'README.md', 'index.d.mts', 'index.d.ts', 'index.js', 'index.mjs', 'lib', 'package.json',
    'prebuilds', 'promises.d.mts', 'promises.d.ts', 'promises.js', 'promises.mjs',
  ]);
  fs.writeFileSync(path.join(folder, 'common.cjs'), `
    const direct = require('@iosonde/direct-io');
    const { probe } = require('@iosonde/direct-io/promises');
    probe(__filename).then(({ kind }) => console.log(direct.getAlignedBuffer(8, 8).length, kind));`);
  fs.writeFileSync(path.join(folder, 'module.mjs'), `
    import direct, { getAlignedBuffer, O_DSYNC } from '@iosonde/direct-io';
    import promises, { probe, BufferPool } from '@iosonde/direct-io/promises';
    if (direct.O_DSYNC !== O_DSYNC || promises.probe !== probe) throw new Error('not the same');
    if (new BufferPool({ size: 8, count: 1 }).free !== 1) throw new Error('no pool');
    const { kind } = await probe(new URL(import.meta.url));
    console.log(getAlignedBuffer(8, 8).length, kind);`);
  for (const script of ['common.cjs', 'module.mjs']) {
    assert.strictEqual(run(t, process.execPath, [script], { cwd: folder }), '8 file\n');
  }

  // Without its prebuilt it says in one line what to do.
  const prebuilds = path.join(folder, 'node_modules', '@iosonde', 'direct-io', 'prebuilds');
  fs.rmSync(prebuilds, { recursive: true });
  const done = spawnSync(process.execPath, ['-e', `
    try { require('@iosonde/direct-io'); } catch (error) { console.log(error.code, error.message); }
  `], { cwd: folder, encoding: 'utf8' });
  assert.match(done.stdout,
    /^ERR_NO_PREBUILT @iosonde\/direct-io has no prebuilt binary for \S+: build it .*npm run build.*\n$/);
});

test('both kinds of modules and the types export the same names', async () => {
  for (const [name, types] of [['index', 'index.d.ts'], ['promises', 'promises.d.ts']]) {
    const common = require(path.join(root, `${name}.js`));
    const { default: whole, ...names } = await import(path.join(root, `${name}.mjs`));
    assert.strictEqual(whole, common);
    assert.deepStrictEqual(Object.keys(names).sort(), Object.keys(common).sort());
    const text = fs.readFileSync(path.join(root, types), 'utf8');
    const declared = [
      ...[...text.matchAll(/^export (?:const|function|class) (\w+)/gm)].map((found) => found[1]),
      ...[...text.matchAll(/^export \{ (.*) \} from/gm)].flatMap((found) => found[1].split(', ')),
    ];
    assert.deepStrictEqual(declared.sort(), Object.keys(common).sort(), types);
  }
});

test('the declared properties of a device are those it has', async (t) => {
  const { probe } = require('../promises.js');
  const { devices, direct, honoured } = await probe(root);
  const text = fs.readFileSync(path.join(root, 'promises.d.ts'), 'utf8');
  const declared = (name) => {
    const body = text.split(`export interface ${name} {\n`)[1].split('\n}')[0];
    return [...body.matchAll(/^ {2}(\w+)\??:/gm)].map((found) => found[1]);
  };
  assert.deepStrictEqual(Object.keys(direct), declared('DirectIO'));
  assert.deepStrictEqual(Object.keys(await probe(__filename)), declared('Probe'));
  if (devices.length === 0) return t.skip('no device is below this folder');
  assert.deepStrictEqual(Object.keys(devices[0]), declared('BlockDevice'));
});
