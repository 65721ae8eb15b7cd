'use strict';

// The packages as they are installed: packed, without a compiler, in both kinds
// of modules, with their types.

const assert = require('assert');
const { spawnSync } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');
const { test } = require('node:test');

const { addon, platform } = require('../lib/load.js');
const packages = require('../scripts/packages.js');

const root = path.join(__dirname, '..');

function run(t, command, args, options) {
  const done = spawnSync(command, args, { encoding: 'utf8', ...options });
  assert.strictEqual(done.status, 0, `${command} ${args.join(' ')}: ${done.stdout}${done.stderr}`);
  return done.stdout;
}

/** An empty folder outside the repository. */
function empty(t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'iosonde-package-'));
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Installs tarballs in a folder; no compiler and no network are within npm's reach. */
function install(t, folder, tarballs) {
  fs.writeFileSync(path.join(folder, 'package.json'), '{ "private": true }');
  const PATH = path.join(folder, 'bin');
  fs.mkdirSync(PATH);
  for (const name of ['node', 'npm', 'sh']) {
    const found = run(t, 'sh', ['-c', `command -v ${name}`]).trim();
    fs.symlinkSync(found, path.join(PATH, name));
  }
  run(t, 'npm', ['install', '--offline', '--no-audit', '--no-fund', ...tarballs], { cwd: folder, env: { ...process.env, PATH } });
}

/** Runs a script of both kinds of modules on the package that is installed in a folder. */
function use(t, folder) {
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
}

/** What `require` throws in a folder. */
function refusal(folder) {
  return spawnSync(process.execPath, ['-e', `
    try { require('@iosonde/direct-io'); } catch (error) { console.log(error.code, error.message); }
  `], { cwd: folder, encoding: 'utf8' }).stdout;
}

const FILES = [
  'LICENSE-APACHE', 'LICENSE-MIT', 'README.md', 'index.d.mts', 'index.d.ts', 'index.js', 'index.mjs', 'lib', 'package.json',
  'promises.d.mts', 'promises.d.ts', 'promises.js', 'promises.mjs',
];

test('the published packages are installed without a compiler and work', (t) => {
  if (spawnSync('npm', ['--version']).status !== 0) return t.skip('there is no npm');
  if (!packages.PLATFORMS[platform()]) return t.skip(`no package is made for ${platform()}`);
  const folder = empty(t);
  packages.stageMain(path.join(folder, 'main'));
  packages.stagePlatform(platform(), addon(), 'licences', path.join(folder, 'platform'));
  const tarballs = ['main', 'platform'].map((name) => packages.pack(path.join(folder, name), folder));
  install(t, folder, tarballs);
  const modules = path.join(folder, 'node_modules', '@iosonde');
  assert.deepStrictEqual(fs.readdirSync(modules).sort(), ['direct-io', `direct-io-${platform()}`]);
  assert.deepStrictEqual(fs.readdirSync(path.join(modules, 'direct-io')).sort(), FILES);
  assert.deepStrictEqual(fs.readdirSync(path.join(modules, `direct-io-${platform()}`)).sort(),
    ['LICENSE-APACHE', 'LICENSE-MIT', 'README.md', 'THIRD-PARTY-LICENSES', 'direct-io.node', 'package.json']);
  use(t, folder);

  // Without the machine's package, or with a damaged one, it says in one line what to do.
  fs.truncateSync(path.join(modules, `direct-io-${platform()}`, 'direct-io.node'), 100);
  assert.match(refusal(folder), /^\S+ @iosonde\/direct-io cannot load \S+direct-io\.node: .*; build it .*npm run build.*\n$/);
  fs.rmSync(path.join(modules, `direct-io-${platform()}`), { recursive: true });
  assert.match(refusal(folder), new RegExp('^ERR_NO_PREBUILT @iosonde/direct-io cannot find the package ' +
    `@iosonde/direct-io-${platform()}, .*--omit=optional.*npm install @iosonde/direct-io-${platform()}@.*npm run build.*\\n$`));
  const manifest = path.join(modules, 'direct-io', 'package.json');
  const { optionalDependencies, ...rest } = JSON.parse(fs.readFileSync(manifest, 'utf8'));
  fs.writeFileSync(manifest, JSON.stringify({ ...rest, optionalDependencies: { '@iosonde/direct-io-plan9-mips': '0.2.0' } }));
  assert.match(refusal(folder),
    new RegExp(`^ERR_NO_PREBUILT @iosonde/direct-io has no prebuilt binary for ${platform()}, only for plan9-mips: build it .*\\n$`));
});

test('a package with the binary that was built here needs no other', (t) => {
  if (spawnSync('npm', ['--version']).status !== 0) return t.skip('there is no npm');
  const folder = empty(t);
  run(t, 'npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: root });
  install(t, folder, [`./${fs.readdirSync(folder).find((name) => name.endsWith('.tgz'))}`]);
  assert.deepStrictEqual(fs.readdirSync(path.join(folder, 'node_modules', '@iosonde', 'direct-io')).sort(),
    [...FILES, 'prebuilds'].sort());
  use(t, folder);
});

test('npm is offered each platform that is built, in the version of the package', () => {
  const { name, version, optionalDependencies } = require('../package.json');
  assert.deepStrictEqual(optionalDependencies,
    Object.fromEntries(Object.keys(packages.PLATFORMS).sort().map((one) => [`${name}-${one}`, version])));
  const crate = fs.readFileSync(path.join(root, 'Cargo.toml'), 'utf8').match(/^version = "(.*)"$/m)[1];
  assert.strictEqual(version, crate);
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
