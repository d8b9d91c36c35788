/**
 * Bundles the command line into dist/injector.cjs: one file without runtime dependencies, for Node ≥ 20.19.
 * CommonJS because one of the libraries (the Operator base class) is, and npm's overrides act in the root project only.
 */
import { build } from 'esbuild';
import { chmod } from 'node:fs/promises';

const outfile = 'dist/injector.cjs';
const result = await build({
  entryPoints: ['src/cli/main.ts'],
  outfile,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  sourcemap: 'linked',
  legalComments: 'external',
  // Stack traces and error names in production must read as they do in the sources.
  keepNames: true,
  banner: { js: '#!/usr/bin/env node' },
  logLevel: 'warning',
  metafile: true,
});
await chmod(outfile, 0o755);
const bytes = result.metafile.outputs[outfile]?.bytes ?? 0;
console.log(`built ${outfile} (${(bytes / 1_048_576).toFixed(1)} MiB)`);
