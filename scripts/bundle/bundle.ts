import { readFile, writeFile } from 'node:fs/promises';
import { deflateRawSync } from 'node:zlib';
import { build, type BuildOptions, type Metafile, type OnLoadResult, type Plugin } from 'esbuild';
import { readChart } from '../../src/cli/install/chart-files.ts';
import { leanLibraries } from './lean-libraries.ts';

export interface BundleOptions {
  /** For what calls `boundHeap` (src/cli/heap-bounds.ts): loading the bundle must not let the young generation grow to where it never comes back from. */
  readonly boundedHeap: boolean;
  /** Beside our own: what a test has replaced. */
  readonly plugins?: readonly Plugin[];
}

/**
 * Bundles one entry into one file without runtime dependencies, for Node ≥ 20.19. CommonJS because one of the libraries (the Operator base class) is, and npm's
 * overrides act in the root project only.
 * @returns its size in bytes, and the files of which something is in it, the worker's program included
 */
export async function bundle(entryPoint: string, outfile: string, { boundedHeap, plugins = [] }: BundleOptions) {
  const inputs = new Set<string>();
  const prelude = boundedHeap ? "\nrequire('node:v8').setFlagsFromString('--semi-space-growth-factor=1');" : '';
  const { metafile } = await build({
    entryPoints: [entryPoint],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    sourcemap: 'linked',
    legalComments: 'external',
    // The text stays in memory. Names stay as written; `keepNames` would cost a call for every function that is made.
    minifyWhitespace: true,
    keepNames: false,
    banner: { js: `#!/usr/bin/env node${prelude}` },
    logLevel: 'warning',
    metafile: true,
    plugins: [...plugins, leanLibraries, workerText(inputs), chartText],
  });
  addInputs(metafile, inputs);
  const text = inAscii(await readFile(outfile, 'utf8'));
  await writeFile(outfile, text);
  return { bytes: text.length, inputs };
}

function addInputs({ outputs }: Metafile, inputs: Set<string>): void {
  for (const [file, { bytesInOutput }] of Object.values(outputs).flatMap((output) => Object.entries(output.inputs)))
    if (bytesInOutput > 0) inputs.add(file);
}

/**
 * Writes characters beyond ASCII as escapes: esbuild does so in strings, but leaves them in regular expressions (where the escape means the same) and comments.
 * A single one makes V8 hold the whole text of the bundle at two bytes a character.
 */
function inAscii(text: string): string {
  return text.replaceAll(/[^\p{ASCII}]/gu, (character) =>
    Array.from({ length: character.length }, (_, index) => {
      const unit = character.charCodeAt(index);
      return `\\u${unit.toString(16).padStart(4, '0')}`;
    }).join(''),
  );
}

/** How the program of the worker's thread is bundled. */
export const workerOptions = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  minifyWhitespace: true,
  legalComments: 'none',
  logLevel: 'warning',
  plugins: [leanLibraries],
} satisfies BuildOptions;

/**
 * Puts the program of the worker's thread into the bundle, as a text (see src/server/worker/worker-program.ts). It is a bundle of its own, since a thread that loaded the
 * whole bundle would hold all of it once more. It is packed, since most of the time there is no thread.
 */
const workerText = (inputs: Set<string>): Plugin => ({
  name: 'worker-text',
  setup(outer) {
    outer.onLoad({ filter: /[\\/]server[\\/]worker[\\/]worker-program\.ts$/ }, async ({ path }) => {
      const entryPoints = [path.replace('worker-program', 'worker-thread')];
      const { outputFiles, metafile } = await build({ ...workerOptions, entryPoints, metafile: true, write: false });
      addInputs(metafile, inputs);
      const unpack = packed(outputFiles[0]?.contents ?? '');
      return packedModule(`export const workerProgram = { get source() { return ${unpack}; }, isText: true };`);
    });
  },
});

/** Puts our chart into the bundle (see src/cli/install/chart-files.ts), so that `injector install` needs no file beside it. */
const chartText: Plugin = {
  name: 'chart-text',
  setup(outer) {
    outer.onLoad({ filter: /[\\/]cli[\\/]install[\\/]chart-files\.ts$/ }, () =>
      packedModule(`export const readChart = () => JSON.parse(${packed(JSON.stringify(readChart()))});`),
    );
  },
};

/** The expression that unpacks a text. */
function packed(text: string | Uint8Array): string {
  return `inflateRawSync(Buffer.from('${deflateRawSync(text).toString('base64')}', 'base64')).toString()`;
}

function packedModule(contents: string): OnLoadResult {
  return { contents: `import { inflateRawSync } from 'node:zlib';\n${contents}`, resolveDir: '.' };
}
