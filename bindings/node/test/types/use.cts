// Type-checked by `npm run test:types`; not run.

import direct = require('@iosonde/direct-io');
import promises = require('@iosonde/direct-io/promises');

direct.setFlock(0, 1, (error) => console.log(error?.message));
direct.getAlignedBuffer(4096, 4096).fill(1);
promises.probe('file').then(({ devices }) => console.log(devices[0]?.model));
// @ts-expect-error: 0 or 1
direct.setFlock(0, 2, () => {});
