import { deflateRawSync } from 'node:zlib';
import { build, type Plugin } from 'esbuild';
import { leanLibraries } from './lean-libraries.ts';

/**
 * Puts the program of the worker's thread into the bundle, as a text (see src/server/worker/worker-program.ts). It is a bundle of its own, since a thread that loaded the
 * whole bundle would hold all of it once more. It is packed, since most of the time there is no thread.
 */
export const workerText: Plugin = {
  name: 'worker-text',
  setup(outer) {
    outer.onLoad({ filter: /[\\/]server[\\/]worker[\\/]worker-program\.ts$/ }, async ({ path }) => {
      const { outputFiles } = await build({
        entryPoints: [path.replace('worker-program', 'worker-thread')],
        write: false,
        bundle: true,
        platform: 'node',
        target: 'node20',
        format: 'cjs',
        minifyWhitespace: true,
        legalComments: 'none',
        logLevel: 'warning',
        plugins: [leanLibraries],
      });
      const packed = deflateRawSync(outputFiles[0]?.contents ?? '').toString('base64');
      const unpack = `inflateRawSync(Buffer.from('${packed}', 'base64')).toString()`;
      return {
        contents: `import { inflateRawSync } from 'node:zlib';
          export const workerProgram = { get source() { return ${unpack}; }, isText: true };`,
        resolveDir: '.',
      };
    });
  },
};
