'use strict';

// A pool of equal, aligned buffers.

const check = require('./arguments.js');
const { aborted, failed } = require('./failed.js');
const { more } = require('./load.js').load();
const { whenEnded } = require('./operations.js');

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
  /** Whether the garbage collector was asked since a buffer was last found. */
  #asked = false;
  /** Memory of V8's that a released buffer had, by ticket, until it may go. */
  #moved = new Map();
  #dropped = new FinalizationRegistry((ticket) => this.#moved.delete(ticket));

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
    if (signal?.aborted) throw aborted(signal);
    const buffer = this.tryAcquire();
    return buffer === null ? this.#wait(signal) : buffer;
  }

  release(buffer) {
    if (!(buffer instanceof Uint8Array)) {
      throw check.typeError('buffer', 'a Buffer of this pool', buffer);
    }
    const whole = this.#pool.isStandIn(buffer) ? buffer.buffer : null;
    const ticket = this.#pool.retire(buffer);
    if (ticket === 0) {
      throw error('ERR_INVALID_ARG_VALUE',
        'the buffer does not belong to this pool, or was released before');
    }
    if (whole !== null) {
      // Detached, and its bytes stay while an operation may use them.
      this.#moved.set(ticket, structuredClone(whole, { transfer: [whole] }));
      this.#dropped.register(whole, ticket);
    }
    whenEnded(() => this.#reclaim(ticket), () => !this.#pool.isRetired(ticket));
    this.#serve();
  }

  #reclaim(ticket) {
    this.#moved.delete(ticket);
    this.#pool.reclaim(ticket);
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
        waiter.reject(aborted(signal));
      };
      function settle(end) {
        return (value) => {
          signal?.removeEventListener('abort', abort);
          end(value);
        };
      }
      signal?.addEventListener('abort', abort, { once: true });
      this.#waiting.push(waiter);
      // The garbage collector returns a buffer without an event.
      this.#looking ??= setInterval(() => this.#look(), LOOK_MS).unref();
    });
  }

  #look() {
    this.#serve();
    if (this.#waiting.length === 0 || this.#pool.retired() === 0) return;
    // An operation that does not end hides whether the others have. The garbage
    // collector knows which released buffers are held; those that are, also by a
    // variable that the program keeps, are replaced.
    if (this.#asked) {
      this.#pool.grow();
      this.#serve();
    } else {
      more.collectGarbage();
    }
    this.#asked = !this.#asked;
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
