// The drop-in as an ECMAScript module.

import * as directIO from './index.js';

export * from './index.js';
export default directIO;
