'use strict';

// Runs the test and the benchmark that @ronomon/direct-io 3.0.1 publishes,
// unchanged, against this package: `npm run test:original`. They are fetched
// through npm to a temporary folder and not kept. Says that it skips, and why,
// where they cannot be had.

const { spawnSync } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');

const ours = path.join(__dirname, '..', 'index.js');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'iosonde-original-'));
process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }));

fs.writeFileSync(path.join(folder, 'package.json'), '{ "private": true }');
// Without its install script: its own addon is not built and not used.
const npm = spawnSync('npm', ['install', '--ignore-scripts', '--no-audit', '@ronomon/direct-io@3.0.1'], {
  cwd: folder,
  encoding: 'utf8',
  timeout: 120_000,
});
const original = path.join(folder, 'node_modules', '@ronomon', 'direct-io');
if (npm.status !== 0 || !fs.existsSync(path.join(original, 'test.js'))) {
  const why = npm.error ? npm.error.message : npm.stderr.trim().split('\n').pop();
  console.log(`skipped: npm cannot fetch @ronomon/direct-io@3.0.1: ${why}`);
  process.exit(0);
}

// Whatever name its files use for the addon, they get ours in place of this one.
fs.writeFileSync(path.join(original, 'binding.node'), '');
const hook = path.join(folder, 'hook.js');
fs.writeFileSync(hook, `
  const Module = require('module');
  const path = require('path');
  const resolve = Module._resolveFilename;
  Module._resolveFilename = function (request, ...rest) {
    const file = resolve.call(this, request, ...rest);
    if (path.basename(file) !== 'binding.node') return file;
    console.log('the addon is ours');
    return ${JSON.stringify(ours)};
  };
`);

/** What a script of the original prints; it has to end well and load ours. */
function run(script, ...more) {
  const done = spawnSync(process.execPath, ['-r', hook, path.join(original, script), ...more], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 300_000,
  });
  const lines = done.stdout.split('\n');
  const loaded = lines.includes('the addon is ours');
  if (done.status !== 0 || !loaded) {
    console.error(done.stdout.slice(-2000) + done.stderr.slice(-2000));
    console.error(`${script}: ${loaded ? `exit status ${done.status}` : 'did not load our addon'}`);
    process.exit(1);
  }
  return lines;
}

function expect(what, found, least) {
  console.log(`${what}: ${found}`);
  if (found < least) {
    console.error(`${what}: at least ${least} expected`);
    process.exit(1);
  }
}

const passes = run('test.js').filter((line) => line.includes('PASS'));
expect('lines of its test that say PASS', passes.length, process.platform === 'win32' ? 325 : 332);

// A file in the package's own folder: /tmp may be a tmpfs.
const file = path.join(fs.mkdtempSync(path.join(__dirname, '..', '.benchmark-')), 'file');
let lines;
try {
  lines = run('benchmark.js', '--block-min=65536', '--block-max=131072', file);
} finally {
  fs.rmSync(path.dirname(file), { recursive: true, force: true });
}
expect('lines of its benchmark, 21 for each of two block sizes',
  lines.filter((line) => line.includes('MB/s')).length, 42);
