import { join } from 'node:path';

/** The folder of the pages that `make build` writes; in the bundle, the folder `web` beside it. */
export const webFolder = join(import.meta.dirname, '../../../dist/web');
