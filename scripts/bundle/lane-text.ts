import { build, type Plugin } from 'esbuild';
import { leanLibraries } from './lean-libraries.ts';

/**
 * Puts the program of the lane's thread into the bundle, as a text (see src/server/lane/lane-program.ts). It is a bundle of its own, since a thread that loaded the
 * whole bundle would hold all of it once more.
 */
export const laneText: Plugin = {
  name: 'lane-text',
  setup(outer) {
    outer.onLoad({ filter: /[\\/]server[\\/]lane[\\/]lane-program\.ts$/ }, async ({ path }) => {
      const { outputFiles } = await build({
        entryPoints: [path.replace('lane-program', 'lane-thread')],
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
      const source = outputFiles[0]?.text ?? '';
      return { contents: `export const laneProgram = { source: ${JSON.stringify(source)}, isText: true };` };
    });
  },
};
