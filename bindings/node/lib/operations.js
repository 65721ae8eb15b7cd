'use strict';

// When released memory may be used again.
//
// An operation in flight (fs.read, a socket's write, zlib, ours) uses the bytes of
// a Buffer although JavaScript has given it up. Which operation uses which bytes
// is not known, but this is: once a Buffer is detached, no new operation can
// begin on it. So its memory is free when all operations that were in flight
// at its release have ended: at once if there are none, and otherwise after
// checks between the turns of the event loop, where nothing is half done.

const { setImmediate } = require('timers');
const { more } = require('./load.js').load();

/** Requests that take no memory of the caller's: they may last, and nobody need wait for them. */
const WITHOUT_MEMORY = new Set([
  'ConnectWrap', 'FileHandleCloseReq', 'GetAddrInfoReqWrap', 'GetNameInfoReqWrap',
  'PipeConnectWrap', 'QueryReqWrap', 'ShutdownWrap', 'TCPConnectWrap',
]);

/** Before the dropped entries are searched for. */
const WAITING_MANY = 256;

/** Operations of this package that are in flight and use memory of the caller's. */
const own = new Set();
/** How many others of this package are. */
let ownWithoutMemory = 0;

/** Released, and perhaps in use: `{ since, free, gone }`, in the order of their release. */
const waiting = [];
let waitingKept = 0;

/** The number of the last check. */
let checks = 0;
let scheduled = false;
/** Requests in flight, and the check that saw each first. */
let firstSeen = new Map();
/** The last check that knew every operation in flight by its request. */
let allKnown = 0;

/** How many operations are in flight that may use memory; `null` where the runtime does not show it. */
let inFlight = () => {
  inFlight = counterIsRight() ? () => more.operations() - ownWithoutMemory : () => null;
  return inFlight();
};

/** Whether the counter is Node's: it rises by one with an operation of our own. */
function counterIsRight() {
  const { uv, bun, deno } = process.versions;
  if (!/^1\./.test(uv) || bun !== undefined || deno !== undefined) return false;
  const before = more.operations();
  if (before === null) return false;
  started(false, (ended) => more.alignedBuffer(8, 8, ended));
  return more.operations() === before + 1;
}

/** Begin an operation of this package; what `begin` is given is to be called at its end. */
function started(usesMemory, begin) {
  const operation = {};
  const ended = () => {
    if (usesMemory) own.delete(operation);
    else ownWithoutMemory--;
  };
  if (usesMemory) own.add(operation);
  else ownWithoutMemory++;
  try {
    begin(ended);
  } catch (error) {
    ended();
    throw error;
  }
}

/**
 * Call `free` when no operation is in flight that is now: perhaps at once. Where
 * that cannot be known it is not called, and the garbage collector decides;
 * `gone` says that it has.
 */
function whenEnded(free, gone) {
  const operations = inFlight();
  if (operations === 0) {
    free();
  } else if (operations !== null && typeof process._getActiveRequests === 'function') {
    waiting.push({ since: 0, free, gone });
    schedule();
  }
}

function schedule() {
  if (scheduled) return;
  scheduled = true;
  // It runs after each turn in which something has completed, and keeps no
  // program alive that has nothing else to do.
  setImmediate(check).unref();
}

/** Between two turns: no callback of a request is running. */
function check() {
  scheduled = false;
  checks++;
  const operations = inFlight();
  let oldest = Infinity;
  if (operations === 0) {
    allKnown = checks;
    firstSeen.clear();
  } else {
    oldest = see(operations);
  }
  let freed = 0;
  for (const entry of waiting) {
    if (entry.since === 0) entry.since = operations === 0 ? checks - 1 : checks;
    if (entry.since >= oldest || entry.since > allKnown) break;
    freed++;
  }
  // Only then: a freed buffer goes to whoever waits, who may release another.
  for (const entry of waiting.splice(0, freed)) entry.free();
  if (waiting.length > 2 * waitingKept + WAITING_MANY) {
    const kept = waiting.filter((entry) => !entry.gone());
    waiting.splice(0, waiting.length, ...kept);
    waitingKept = kept.length;
  }
  if (waiting.length > 0) schedule();
  else firstSeen.clear();
}

/** The check at which the oldest operation in flight was first seen. */
function see(operations) {
  const requests = process._getActiveRequests();
  const seen = new Map();
  let oldest = Infinity;
  const add = (request) => {
    const first = firstSeen.get(request) ?? checks;
    seen.set(request, first);
    oldest = Math.min(oldest, first);
  };
  for (const request of requests) {
    if (!WITHOUT_MEMORY.has(request?.constructor?.name)) add(request);
  }
  own.forEach(add);
  firstSeen = seen;
  if (operations <= requests.length + own.size) allKnown = checks;
  return oldest;
}

module.exports = { started, whenEnded };
