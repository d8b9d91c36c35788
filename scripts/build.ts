/** Bundles the command line into dist/injector.cjs, and the pages for browsers into dist/web. */
import { chmod, writeFile } from 'node:fs/promises';
import { bundledPackages, licenceTexts } from '../packaging/bundled-packages.ts';
import { bundle } from './bundle/bundle.ts';
import { bundleWeb } from './bundle/web.ts';

const outfile = 'dist/injector.cjs';
const { bytes, inputs } = await bundle('src/cli/main.ts', outfile, { boundedHeap: true });
const web = await bundleWeb('dist/web');
await chmod(outfile, 0o755);
await writeFile('dist/THIRD-PARTY-LICENSES.txt', licenceTexts(bundledPackages([...inputs, ...web.inputs])));
console.log(
  `built ${outfile} (${(bytes / 1_048_576).toFixed(1)} MiB), and dist/web (compressed: ${web.sizes.join(', ')})`,
);
