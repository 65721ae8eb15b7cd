// The drop-in as an ECMAScript module.

import directIO from './index.js';

export default directIO;
export const {
  O_DIRECT,
  O_DSYNC,
  O_EXCL,
  O_EXLOCK,
  O_SYNC,
  getAlignedBuffer,
  getBlockDevice,
  setF_NOCACHE,
  setFlock,
  setFSCTL_LOCK_VOLUME,
} = directIO;
