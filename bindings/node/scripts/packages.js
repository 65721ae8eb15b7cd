'use strict';

// Makes the packages as they are published, and packs them:
//
//   node scripts/packages.js FOLDER [PLATFORM ...]
//
// One for each platform, which has its binary and nothing else, and the package
// itself, which has none. The binaries are linked by zig (cargo-zigbuild). Each
// target's standard library is rustup's (`rustup target add`), or made by
// scripts/cross-std.sh.

const { spawnSync } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');

const ROOT = path.join(__dirname, '..');
const REPOSITORY = path.join(ROOT, '..', '..');
const LICENCES = ['LICENSE-APACHE', 'LICENSE-MIT'];
const NOTICES = 'THIRD-PARTY-LICENSES';
const manifest = require('../package.json');

/** The newest symbols of glibc that a binary may ask for: those that Node 18 needs. */
const GLIBC = '2.28';

/** The oldest macOS: the first on arm64. */
const MACOS = '11.0';

const LINUX = 'libiosonde_direct_io.so';

/** How each platform's binary is built, and which machines npm installs it on. */
const PLATFORMS = {
  'linux-x64-gnu': { triple: 'x86_64-unknown-linux-gnu', built: LINUX, os: 'linux', cpu: 'x64', libc: 'glibc' },
  'linux-x64-musl': { triple: 'x86_64-unknown-linux-musl', built: LINUX, os: 'linux', cpu: 'x64', libc: 'musl' },
  'linux-arm64-gnu': { triple: 'aarch64-unknown-linux-gnu', built: LINUX, os: 'linux', cpu: 'arm64', libc: 'glibc' },
  'win32-x64': { triple: 'x86_64-pc-windows-gnu', built: 'iosonde_direct_io.dll', os: 'win32', cpu: 'x64' },
  'darwin-arm64': { triple: 'aarch64-apple-darwin', built: 'libiosonde_direct_io.dylib', os: 'darwin', cpu: 'arm64' },
};

function fail(why) {
  console.error(`packages: ${why}`);
  process.exit(1);
}

/** What a program prints; it has to end well. */
function run(command, args, options) {
  const done = spawnSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], ...options });
  if (done.error) fail(`cannot run ${command}: ${done.error.message}`);
  if (done.status !== 0) fail(`${command} ${args.join(' ')} failed${done.stdout ? `: ${done.stdout}` : ''}`);
  return done.stdout;
}

/**
 * The compiler for a target: the toolchain's, or one whose standard library is made where rustup's is missing, which takes
 * minutes the first time.
 */
function compilerFor(triple) {
  return run(path.join(REPOSITORY, 'scripts', 'cross-std.sh'), [triple]).trim();
}

/** Builds a platform's binary; its path. */
function build(platform) {
  const { triple, built, libc } = PLATFORMS[platform];
  const env = { ...process.env, MACOSX_DEPLOYMENT_TARGET: MACOS };
  // No folder of this machine is in the binary.
  const crates = path.join(process.env.CARGO_HOME || path.join(os.homedir(), '.cargo'), 'registry', 'src');
  const flags = [`--remap-path-prefix=${crates}=crates`, `--remap-path-prefix=${REPOSITORY}=iosonde`];
  // A shared object that takes its C library from the process.
  if (libc === 'musl') flags.push('-Ctarget-feature=-crt-static');
  // The name that the linker gives it is else the path of the build.
  if (PLATFORMS[platform].os === 'darwin') {
    flags.push('-Clink-arg=-Wl,-install_name,@rpath/direct-io.node');
    // The linker strips it: the compiler would do so with a program that is not in every toolchain.
    flags.push('-Clink-arg=-Wl,-s');
    env.CARGO_PROFILE_RELEASE_STRIP = 'none';
  }
  env.CARGO_ENCODED_RUSTFLAGS = flags.join('\x1f');
  // The build script wants to see a Node for Windows to link with. The addon looks its symbols up at run time, and
  // takes nothing from it: an empty archive will do. So does one for the guards of stacks, which some builds of the
  // standard library name and none uses: zig has no such library.
  const compiler = compilerFor(triple);
  let target = process.env.CARGO_TARGET_DIR || path.join(ROOT, 'target');
  if (compiler !== 'rustc') {
    env.RUSTC = compiler;
    // What one compiler has built the other builds again: each has a folder.
    target = env.CARGO_TARGET_DIR = path.join(target, 'cross');
  }
  env.LIBNODE_PATH = path.join(target, 'libnode');
  fs.mkdirSync(env.LIBNODE_PATH, { recursive: true });
  for (const name of ['libnode.dll', 'libnode.a', 'libssp.a', 'libssp_nonshared.a']) fs.writeFileSync(path.join(env.LIBNODE_PATH, name), '!<arch>\n');

  const wanted = libc === 'glibc' ? `${triple}.${GLIBC}` : triple;
  run(process.env.CARGO || 'cargo', ['zigbuild', '--release', '--locked', '--target', wanted], {
    cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'],
  });
  const file = path.join(target, triple, 'release', built);
  if (libc === 'glibc') checkGlibc(platform, file);
  return file;
}

function checkGlibc(platform, file) {
  const asked = [...fs.readFileSync(file).toString('latin1').matchAll(/GLIBC_2\.(\d+)/g)].map((found) => Number(found[1]));
  const highest = Math.max(0, ...asked);
  if (highest > Number(GLIBC.split('.')[1])) fail(`${platform} asks for GLIBC_2.${highest}, above ${GLIBC}`);
}

/** Writes the package of one platform to a folder: a binary, and the licences of what is in it. */
function stagePlatform(platform, binary, notices, folder) {
  const { os: system, cpu, libc } = PLATFORMS[platform];
  fs.mkdirSync(folder, { recursive: true });
  fs.copyFileSync(binary, path.join(folder, 'direct-io.node'));
  fs.writeFileSync(path.join(folder, NOTICES), notices);
  const description = `The binary of ${manifest.name} for ${platform}.`;
  writeManifest(folder, {
    name: `${manifest.name}-${platform}`,
    version: manifest.version,
    description,
    license: manifest.license,
    main: 'direct-io.node',
    files: ['direct-io.node', NOTICES, ...LICENCES],
    engines: manifest.engines,
    os: [system],
    cpu: [cpu],
    ...(libc && { libc: [libc] }),
  });
  fs.writeFileSync(path.join(folder, 'README.md'),
    `# ${manifest.name}-${platform}\n\n${description} Install ${manifest.name}: npm then chooses the binary for the machine.\n`);
  copyLicences(folder);
}

/** Writes the package itself, without a binary, to a folder. */
function stageMain(folder) {
  fs.mkdirSync(folder, { recursive: true });
  const { scripts, ...published } = manifest;
  writeManifest(folder, { ...published, files: manifest.files.filter((name) => name !== 'prebuilds') });
  for (const name of fs.readdirSync(ROOT).filter((one) => /^(index|promises)\.|^README\.md$/.test(one))) {
    fs.copyFileSync(path.join(ROOT, name), path.join(folder, name));
  }
  fs.cpSync(path.join(ROOT, 'lib'), path.join(folder, 'lib'), { recursive: true });
  copyLicences(folder);
}

function writeManifest(folder, content) {
  fs.writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(content, null, 2)}\n`);
}

function copyLicences(folder) {
  for (const name of LICENCES) fs.copyFileSync(path.join(REPOSITORY, name), path.join(folder, name));
}

/** Packs a folder; the tarball's path. */
function pack(folder, destination) {
  const printed = run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', path.resolve(destination)], { cwd: folder });
  return path.join(destination, JSON.parse(printed)[0].filename.replace('@', '').replace('/', '-'));
}

function main(destination, ...chosen) {
  if (!destination) fail('name the folder for the packages');
  const platforms = chosen.length ? chosen : Object.keys(PLATFORMS);
  for (const platform of platforms) {
    if (!PLATFORMS[platform]) fail(`unknown platform "${platform}": use ${Object.keys(PLATFORMS).join(', ')}`);
  }
  const work = fs.mkdtempSync(path.join(os.tmpdir(), 'iosonde-packages-'));
  process.on('exit', () => fs.rmSync(work, { recursive: true, force: true }));
  fs.mkdirSync(destination, { recursive: true });
  const notices = run('python3', ['scripts/dist-notices.py', 'iosonde-direct-io-node'], { cwd: REPOSITORY });
  for (const platform of platforms) {
    const folder = path.join(work, platform);
    stagePlatform(platform, build(platform), notices, folder);
    const packed = pack(folder, destination);
    console.log(`packages: ${path.basename(packed)}: binary ${fs.statSync(path.join(folder, 'direct-io.node')).size} bytes`);
  }
  stageMain(path.join(work, 'main'));
  console.log(`packages: ${path.basename(pack(path.join(work, 'main'), destination))}`);
}

if (require.main === module) main(...process.argv.slice(2));

module.exports = { PLATFORMS, pack, stageMain, stagePlatform };
