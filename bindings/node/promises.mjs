// The promise API as an ECMAScript module.

import promises from './promises.js';

export default promises;
export const {
  BufferPool,
  O_DIRECT,
  O_DSYNC,
  O_EXCL,
  O_EXLOCK,
  O_SYNC,
  getAlignedBuffer,
  getBlockDevice,
  isAligned,
  probe,
  read,
  setFSCTL_LOCK_VOLUME,
  setF_NOCACHE,
  setFlock,
  write,
} = promises;
