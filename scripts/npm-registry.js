'use strict';

// A registry of npm packages on this machine, of the tarballs in a folder, for tests:
//
//   node scripts/npm-registry.js FOLDER
//
// Prints its address, and ends when its standard input does.

const { execFileSync } = require('child_process');
const { createHash } = require('crypto');
const fs = require('fs');
const http = require('http');
const path = require('path');

const folder = process.argv[2];

/** What a registry answers for each package, by its name. */
function packuments(address) {
  const found = {};
  for (const file of fs.readdirSync(folder).filter((name) => name.endsWith('.tgz'))) {
    const tarball = path.join(folder, file);
    const manifest = JSON.parse(execFileSync('tar', ['-xzOf', tarball, 'package/package.json'], { encoding: 'utf8' }));
    const integrity = `sha512-${createHash('sha512').update(fs.readFileSync(tarball)).digest('base64')}`;
    found[manifest.name] = {
      name: manifest.name,
      'dist-tags': { latest: manifest.version },
      versions: { [manifest.version]: { ...manifest, dist: { tarball: `${address}/tarballs/${file}`, integrity } } },
    };
  }
  return found;
}

let packages;
const server = http.createServer((request, response) => {
  const name = decodeURIComponent(request.url.slice(1));
  if (name.startsWith('tarballs/')) {
    fs.createReadStream(path.join(folder, path.basename(name))).pipe(response);
  } else if (packages[name]) {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(packages[name]));
  } else {
    response.statusCode = 404;
    response.end('{}');
  }
});
server.listen(0, '127.0.0.1', () => {
  const address = `http://127.0.0.1:${server.address().port}`;
  packages = packuments(address);
  console.log(address);
});
process.stdin.resume().on('end', () => process.exit(0));
