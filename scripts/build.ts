/** Bundles the command line into dist/injector.cjs, the one file that is published. */
import { chmod } from 'node:fs/promises';
import { bundle } from './bundle/bundle.ts';

const outfile = 'dist/injector.cjs';
const bytes = await bundle('src/cli/main.ts', outfile, { boundedHeap: true });
await chmod(outfile, 0o755);
console.log(`built ${outfile} (${(bytes / 1_048_576).toFixed(1)} MiB)`);
