// Type-checked by `npm run test:types`; not run.

import direct, { getAlignedBuffer, getBlockDevice, O_DIRECT, type BlockDevice } from '@iosonde/direct-io';
import promises, { BufferPool, getBlockDevice as device, probe, setFlock } from '@iosonde/direct-io/promises';
import { open } from 'node:fs/promises';

const buffer: Buffer = getAlignedBuffer(4096, 4096);
const flags: number = O_DIRECT | direct.O_DSYNC;
getBlockDevice(0, (error: Error | undefined, found?: BlockDevice) => {
  const size: number | undefined = found?.size;
  console.log(error?.message, size, buffer.length, flags);
});
const handle = await open('file', 'r+');
await setFlock(handle, 'shared');
const { size, serialNumber, unknown } = await device(handle);
const large: bigint | null = size;
console.log(large, serialNumber ?? unknown.serialNumber);
const { direct: needs, honoured } = await probe(new URL(import.meta.url));
const pool = new BufferPool({ size: 1n << 20n, count: 4, alignment: needs.memoryAlignment });
const taken: Buffer = await pool.acquire({ signal: AbortSignal.timeout(1000) });
pool.release(taken);
console.log(honoured?.reads?.verdict === 'yes', promises.isAligned(taken, 512));

// @ts-expect-error: the drop-in takes no BigInt
getAlignedBuffer(4096n, 4096);
// @ts-expect-error: there is no such lock
await setFlock(0, 'mine');
// @ts-expect-error: a size is a bigint
const wrong: number = (await device('/dev/vda')).size;
console.log(wrong);
