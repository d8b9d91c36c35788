/** Bundles the command line into dist/injector.cjs, the only program file of a release. */
import { chmod, writeFile } from 'node:fs/promises';
import { bundledPackages, licenceTexts } from '../packaging/bundled-packages.ts';
import { bundle } from './bundle/bundle.ts';

const outfile = 'dist/injector.cjs';
const { bytes, inputs } = await bundle('src/cli/main.ts', outfile, { boundedHeap: true });
await chmod(outfile, 0o755);
await writeFile('dist/THIRD-PARTY-LICENSES.txt', licenceTexts(bundledPackages(inputs)));
console.log(`built ${outfile} (${(bytes / 1_048_576).toFixed(1)} MiB)`);
