// The promise API as an ECMAScript module: the names that promises.js exports.

export { default } from './promises.js';
export * from './promises.js';
