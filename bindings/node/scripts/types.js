'use strict';

// Checks the types with TypeScript's compiler, which is fetched through npm to a
// temporary folder: `npm run test:types`. Says that it skips, and why, where it
// cannot be had.

const { spawnSync } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');

const root = path.join(__dirname, '..');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'iosonde-types-'));
process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }));

fs.writeFileSync(path.join(folder, 'package.json'), '{ "private": true }');
const wanted = ['typescript@5', '@types/node@20'];
const npm = spawnSync('npm', ['install', '--ignore-scripts', '--no-audit', ...wanted], {
  cwd: folder,
  encoding: 'utf8',
  timeout: 120_000,
});
if (npm.status !== 0) {
  const why = npm.error ? npm.error.message : npm.stderr.trim().split('\n').pop();
  console.log(`types: skipped: npm cannot fetch ${wanted.join(' and ')}: ${why}`);
  process.exit(0);
}

fs.cpSync(path.join(root, 'test', 'types'), folder, { recursive: true });
fs.mkdirSync(path.join(folder, 'node_modules', '@iosonde'), { recursive: true });
fs.symlinkSync(root, path.join(folder, 'node_modules', '@iosonde', 'direct-io'));
fs.writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify({
  compilerOptions: {
    strict: true, noEmit: true, module: 'node16', target: 'es2022', types: ['node'],
    preserveSymlinks: true,
  },
  files: ['use.mts', 'use.cts'],
}));
const tsc = path.join(folder, 'node_modules', 'typescript', 'bin', 'tsc');
const checked = spawnSync(process.execPath, [tsc, '--project', folder], { stdio: 'inherit' });
console.log(checked.status === 0 ? 'types: well' : 'types: wrong');
process.exit(checked.status ?? 1);
