'use strict';

// A pool of equal, aligned buffers.

const check = require('./arguments.js');
const { failed } = require('./failed.js');
const { more } = require('./load.js').load();

/** How often waiting callers check for buffers that the garbage collector returned. */
const LOOK_MS = 20;

function error(code, message) {
  return Object.assign(new Error(message), { code });
}

class BufferPool {
  #pool;
  #size;
  #count;
  #alignment;
  #closed = false;
  #waiting = [];
  #looking;

  constructor(options) {
    if (options === null || typeof options !== 'object') {
      throw check.typeError('options', 'an object', options);
    }
    const { size, count, alignment = 4096, hugePages = false } = options;
    this.#size = check.size(size, 'options.size');
    this.#count = check.whole('options.count', count, 1, 2 ** 32);
    this.#alignment = check.alignment(alignment, 'options.alignment');
    if (typeof hugePages !== 'boolean') {
      throw check.typeError('options.hugePages', 'a boolean', hugePages);
    }
    const pool = more.pool(this.#count, this.#size, this.#alignment, hugePages);
    if (pool.take === undefined) throw failed(pool);
    this.#pool = pool;
  }

  get size() {
    return this.#size;
  }

  get count() {
    return this.#count;
  }

  get alignment() {
    return this.#alignment;
  }

  get free() {
    return this.#pool.free();
  }

  tryAcquire() {
    this.#open();
    // Waiting callers come first.
    return this.#waiting.length > 0 ? null : this.#pool.take();
  }

  async acquire({ signal } = {}) {
    if (signal !== undefined && !(signal instanceof AbortSignal)) {
      throw check.typeError('options.signal', 'an AbortSignal', signal);
    }
    signal?.throwIfAborted();
    const buffer = this.tryAcquire();
    return buffer === null ? this.#wait(signal) : buffer;
  }

  release(buffer) {
    if (!(buffer instanceof Uint8Array)) {
      throw check.typeError('buffer', 'a Buffer of this pool', buffer);
    }
    if (!this.#pool.giveBack(buffer)) {
      throw error('ERR_INVALID_ARG_VALUE',
        'the buffer does not belong to this pool, or was released before');
    }
    this.#serve();
  }

  close() {
    if (this.#closed) return;
    this.#closed = true;
    this.#pool.close();
    for (const { reject } of this.#waiting.splice(0)) reject(closed());
    clearInterval(this.#looking);
  }

  #open() {
    if (this.#closed) throw closed();
  }

  #wait(signal) {
    return new Promise((resolve, reject) => {
      const waiter = { resolve: settle(resolve), reject: settle(reject) };
      const abort = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        waiter.reject(signal.reason);
      };
      function settle(end) {
        return (value) => {
          signal?.removeEventListener('abort', abort);
          end(value);
        };
      }
      signal?.addEventListener('abort', abort, { once: true });
      this.#waiting.push(waiter);
      // A buffer that was dropped and not released is returned without an event.
      this.#looking ??= setInterval(() => this.#serve(), LOOK_MS).unref();
    });
  }

  #serve() {
    while (this.#waiting.length > 0) {
      const buffer = this.#pool.take();
      if (buffer === null) return;
      this.#waiting.shift().resolve(buffer);
    }
    clearInterval(this.#looking);
    this.#looking = undefined;
  }
}

function closed() {
  return error('ERR_INVALID_STATE', 'the pool is closed');
}

// Node 18 has no name for it yet.
if (Symbol.dispose) {
  Object.defineProperty(BufferPool.prototype, Symbol.dispose, {
    value: BufferPool.prototype.close,
    writable: true,
    configurable: true,
  });
}

module.exports = { BufferPool };
