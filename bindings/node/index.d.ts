// The drop-in for @ronomon/direct-io 3.0.1.

/** Pass the page cache (Linux, FreeBSD, Windows); 0 on macOS, see `setF_NOCACHE`. */
export const O_DIRECT: number;
/** A write ends when its data are durable. */
export const O_DSYNC: number;
/** With O_CREAT, fail if the file is there; on a Linux block device, fail if it is in use. */
export const O_EXCL: number;
/** Lock on opening (macOS, FreeBSD, Windows); 0 on Linux, see `setFlock`. */
export const O_EXLOCK: number;
/** A write ends when its data and all metadata are durable. */
export const O_SYNC: number;

/** What `getBlockDevice` calls back with. */
export interface BlockDevice {
  /** The smallest unit the device reads and writes, in bytes. */
  logicalSectorSize: number;
  /** The smallest unit it writes without reading first, in bytes. */
  physicalSectorSize: number;
  /** Its size in bytes. */
  size: number;
  /** Its serial number; empty if it has none. */
  serialNumber: string;
}

/**
 * A zeroed Buffer of `size` bytes whose first byte is at a multiple of `alignment`.
 * @param size from 1 to 2147483647 bytes; need not be a multiple of the alignment
 * @param alignment a power of two from 8 to 4194304 bytes
 * @throws Error that says which argument is wrong, or `insufficient memory`
 */
export function getAlignedBuffer(size: number, alignment: number): Buffer;

/** Geometry and serial number of the block device that `fd` is open on. */
export function getBlockDevice(
  fd: number,
  callback: (error: Error | undefined, device?: BlockDevice) => void,
): void;

/** Pass the cache of a file, or no longer (macOS only; throws elsewhere). */
export function setF_NOCACHE(
  fd: number,
  value: 0 | 1,
  callback: (error: Error | undefined) => void,
): void;

/** Lock a file for this descriptor alone, or unlock it (not on Windows). Never waits. */
export function setFlock(
  fd: number,
  value: 0 | 1,
  callback: (error: Error | undefined) => void,
): void;

/** Lock a volume, or unlock it (Windows only; throws elsewhere). */
export function setFSCTL_LOCK_VOLUME(
  fd: number,
  value: 0 | 1,
  callback: (error: Error | undefined) => void,
): void;
