'use strict';

// Prints the RSS in MiB after half a million buffers, after as many again, and
// the highest there was.

const { getAlignedBuffer } = require('../..');

const turn = () => new Promise((resolve) => setImmediate(resolve));

async function halfAMillion() {
  for (let round = 0; round < 500; round++) {
    for (let i = 0; i < 1000; i++) getAlignedBuffer(4096, 4096)[i] = 1;
    await turn();
  }
  for (let i = 0; i < 4; i++) {
    global.gc();
    await turn();
  }
  console.log(process.memoryUsage.rss() / 2 ** 20);
}

halfAMillion().then(halfAMillion).then(() => {
  console.log(process.resourceUsage().maxRSS / 1024);
});
