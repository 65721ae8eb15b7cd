// The promise API. Every error, also a wrong argument, rejects the promise.

export { O_DIRECT, O_DSYNC, O_EXCL, O_EXLOCK, O_SYNC } from './index.js';

/** An open file: a descriptor, or what `fs.promises.open` gives. */
export type OpenFile = number | { readonly fd: number };

/** A path: a string, its bytes, or a `file:` URL. */
export type Path = string | Uint8Array | URL;

/**
 * An error of the system.
 * Wrong arguments are TypeErrors and RangeErrors with Node's own codes.
 */
export interface SystemError extends Error {
  /** The error's name: `ENOENT`. */
  code: string;
  /** Its number, negative. */
  errno?: number;
  /** What was being called: `flock`. */
  syscall: string;
  /** The path that was given. */
  path?: string;
}

/** Why properties of an object are `null`, by their names. */
export type Unknown = Record<string, string>;

/** Atomic writes of a device, in bytes; 0 if it has none. */
export interface AtomicWrite {
  unitMin: number;
  unitMax: number;
  /** The longest fast one; `null` if not reported separately. */
  unitMaxFast: number | null;
  /** The most buffers that one may gather; `null` if not reported. */
  segmentsMax: number | null;
}

/**
 * Facts about a block device. An unknown value is `null`, and `unknown` says
 * why. A partition has the disk's values where they belong to the disk.
 */
export interface BlockDevice {
  /** The smallest unit it reads and writes, in bytes. */
  logicalSectorSize: number | null;
  /** The smallest unit it writes without reading first, in bytes. */
  physicalSectorSize: number | null;
  /** Its size in bytes. */
  size: bigint | null;
  serialNumber: string | null;
  /** The kernel's name: `nvme0n1`. */
  name: string;
  major: number;
  minor: number;
  kind: 'disk' | 'partition' | 'mapped' | 'raid' | 'loop';
  /** The file that a loop device shows; `null` for others. */
  backingFile: string | null;
  /** The name of a mapped device at device-mapper; `null` for others. */
  mappedName: string | null;
  /** `nvme`, `virtio`, `scsi`, `mmc`, `loop`. */
  transport: string | null;
  vendor: string | null;
  model: string | null;
  firmware: string | null;
  /** A worldwide unique name: `eui.0025...`. */
  worldWideId: string | null;
  /** The preferred minimum I/O, in bytes. */
  ioSizeMin: number | null;
  /** The optimal I/O, in bytes. */
  ioSizeOptimal: number | null;
  /** The largest I/O that is not split, in bytes. */
  ioSizeMax: bigint | null;
  /** What the address of a buffer must be a multiple of. */
  memoryAlignment: number | null;
  /** The offset of its start from a physical sector, in bytes. */
  alignmentOffset: number | null;
  rotational: boolean | null;
  /** `sizeMax` is 0 if it takes no discards. */
  discard: { granularity: number; sizeMax: bigint } | null;
  /** The most that one command may write zeros to, in bytes; 0 if it knows none. */
  writeZeroesMax: bigint | null;
  /** `back`: written data may be lost on power failure until they are flushed. */
  writeCache: 'back' | 'through' | null;
  /** Whether single writes can be made durable without a flush of all. */
  fua: boolean | null;
  zones: { model: 'none' | 'aware' | 'managed'; zoneSize: bigint | null } | null;
  atomicWrite: AtomicWrite | null;
  /** `none`, `mq-deadline`. */
  scheduler: string | null;
  /** Requests that the system keeps for it at most. */
  requestsMax: number | null;
  /** Whether it may be polled for completions. */
  polled: boolean | null;
  /** Whether pages under write must not change. */
  stableWrites: boolean | null;
  dax: boolean | null;
  readOnly: boolean | null;
  removable: boolean | null;
  /** Of a loop device: whether it passes its file's page cache. */
  loopDirect: boolean | null;
  /** Changes when the medium does. */
  diskSequence: bigint | null;
  /** The devices made of it. */
  holders: string[];
  /** Where it is mounted. */
  mounts: string[];
  /** Whether it is swap. */
  swap: boolean;
  /** Whether it is mounted, swap, or part of another device. */
  used: boolean;
  unknown: Unknown;
}

/** What direct I/O on one file needs, in bytes. */
export interface DirectIO {
  possible: boolean;
  /** What the address of a buffer must be a multiple of. */
  memoryAlignment: number;
  /** What offset and length must be multiples of. */
  offsetAlignment: number;
  /** The same for reads only, where that is less. */
  readOffsetAlignment: number;
  /** `stated`: by filesystem or driver, exact; `guessed`: safe figures. */
  known: 'stated' | 'sector' | 'tried' | 'guessed';
  /** Why it could only be guessed. */
  reason: string | null;
}

/** Facts about a path and the devices below it. */
export interface Probe {
  /** Without links. */
  path: string;
  kind: 'file' | 'blockDevice' | 'characterDevice' | 'folder' | 'other';
  size: bigint | null;
  direct: DirectIO;
  /** Whether direct reads bypass the page cache; many filesystems accept the flag only. */
  honoured: {
    reads: { verdict: 'yes' | 'no' | 'unknown'; why: string } | null;
    /** A cache further down: that of the file a loop device shows. */
    cacheBelow: string | null;
  } | null;
  atomicWrite: AtomicWrite | null;
  /** The filesystem; `null` for a device. */
  mount: {
    point: string;
    filesystem: string;
    source: string;
    options: string;
    superOptions: string;
  } | null;
  /** From the top down, each once; empty where there is none (tmpfs, NFS). */
  devices: BlockDevice[];
  unknown: Unknown;
}

/**
 * A zeroed Buffer of `size` bytes whose first byte is at a multiple of `alignment`,
 * allocated on another thread.
 * @param alignment a power of two up to 1 GiB
 */
export function getAlignedBuffer(size: number | bigint, alignment: number | bigint): Promise<Buffer>;

/** Whether a Buffer's first byte is at a multiple of `alignment`. */
export function isAligned(buffer: Uint8Array, alignment: number | bigint): boolean;

/** All facts about a block device. By path, no permission to open it is needed. */
export function getBlockDevice(target: OpenFile | Path): Promise<BlockDevice>;

/** Facts about a path, the alignment direct I/O needs, and the devices below. Nothing is written. */
export function probe(path: Path): Promise<Probe>;

/**
 * Lock a file for this descriptor alone (1, true) or with others (`shared`), or
 * unlock it (0, false). Never waits: rejects with `EAGAIN` if it is locked.
 */
export function setFlock(fd: OpenFile, value: 0 | 1 | boolean | 'shared'): Promise<void>;

/** Pass the cache of a file, or no longer; macOS only. */
export function setF_NOCACHE(fd: OpenFile, value: 0 | 1 | boolean): Promise<void>;

/** Lock a volume, or unlock it; Windows only. */
export function setFSCTL_LOCK_VOLUME(fd: OpenFile, value: 0 | 1 | boolean): Promise<void>;

/**
 * Read into all of a buffer, at a position of the file, in one call of the system:
 * the number of bytes read, 0 at the end of the file. Rejects with `EINVAL` if the file is open
 * for direct I/O and takes no such request; the message names each rule that is
 * broken (address, length, offset), the value and what it must be a multiple of.
 */
export function read(
  file: OpenFile, buffer: NodeJS.ArrayBufferView, position: number | bigint): Promise<number>;

/** Write all of a buffer at a position of the file, in one call of the system: the number of bytes written. Errors as {@link read}. */
export function write(
  file: OpenFile, buffer: NodeJS.ArrayBufferView, position: number | bigint): Promise<number>;

export interface BufferPoolOptions {
  /** How long each buffer is, in bytes. */
  size: number | bigint;
  /** How many there are. */
  count: number | bigint;
  /** What the address of each is a multiple of: a power of two up to 1 GiB; default 4096. */
  alignment?: number | bigint;
  /** Use reserved huge pages, or fail; default false. */
  hugePages?: boolean;
}

/**
 * Many equal buffers out of one piece of memory. Release every buffer: the
 * garbage collector returns the others, but late.
 */
export class BufferPool {
  /** @throws if the options are wrong or there is no such memory (`ENOMEM`) */
  constructor(options: BufferPoolOptions);
  readonly size: number;
  readonly count: number;
  readonly alignment: number;
  /** How many are not in use. */
  readonly free: number;
  /** A buffer; `null` if all are in use (released ones may be for a moment, see {@link release}) or others wait. It holds zeros at first, later the bytes of its last user. */
  tryAcquire(): Buffer | null;
  /**
   * A buffer, after waiting for one if all are in use; first come, first served. Rejects with an
   * `AbortError` (`ABORT_ERR`) if the signal is aborted.
   */
  acquire(options?: { signal?: AbortSignal }): Promise<Buffer>;
  /**
   * Give a buffer back. It and all views of it have length 0 from now on. Its memory is neither
   * used again nor freed while an operation that was in flight may use it, so that I/O which has
   * not ended harms no other buffer; but then it takes longer until it can be acquired again.
   * @throws if it is not one of this pool, or was released before
   */
  release(buffer: Uint8Array): void;
  /**
   * No more buffers. The memory is freed when all are returned and the garbage collector
   * has found that nothing holds them: neither the program nor an operation.
   */
  close(): void;
}
