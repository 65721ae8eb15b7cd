// The promise API as an ECMAScript module.

import * as promises from './promises.js';

export * from './promises.js';
export default promises;
