import { readFile, writeFile } from 'node:fs/promises';
import { deflateRawSync } from 'node:zlib';
import { build, type BuildOptions, type Metafile, type OnLoadResult, type Plugin } from 'esbuild';
import { readPage } from '../../src/cli/diff/read-page.ts';
import { readChart } from '../../src/cli/install/chart-files.ts';
import { leanLibraries } from './lean-libraries.ts';

export interface BundleOptions {
  /** Whether loading must not enlarge the young generation, as callers of `boundHeap` need. */
  readonly boundedHeap: boolean;
  /** Additional plugins, with which tests replace modules. */
  readonly plugins?: readonly Plugin[];
}

/**
 * Bundles one entry into one file without runtime dependencies, for Node ≥ 20.19. The format is
 * CommonJS, as in the library of class Operator. npm's overrides only work in the root project.
 * @returns the size in bytes, and the bundled files, including those of the worker program
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
    // Whitespace would stay in memory. `keepNames` would cost a call per created function.
    minifyWhitespace: true,
    keepNames: false,
    banner: { js: `#!/usr/bin/env node${prelude}` },
    logLevel: 'warning',
    metafile: true,
    plugins: [...plugins, leanLibraries, workerText(inputs), chartText, pageText, webFolder],
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
 * Escapes non-ASCII characters that esbuild leaves in regular expressions and comments. A single
 * such character makes V8 keep the text of the bundle with two bytes per character.
 */
function inAscii(text: string): string {
  return text.replaceAll(/[^\p{ASCII}]/gu, (character) =>
    Array.from({ length: character.length }, (_, index) => {
      const unit = character.charCodeAt(index);
      return `\\u${unit.toString(16).padStart(4, '0')}`;
    }).join(''),
  );
}

/** The options with which esbuild bundles the worker program. */
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
 * Adds the worker program to the bundle as a compressed text (src/server/worker/worker-program.ts).
 * It is a separate bundle, because loading the whole bundle twice would double its memory.
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

/** Adds the chart to the bundle, so that `injector install` needs no other file. */
const chartText: Plugin = {
  name: 'chart-text',
  setup(outer) {
    outer.onLoad({ filter: /[\\/]cli[\\/]install[\\/]chart-files\.ts$/ }, () =>
      packedModule(`export const readChart = () => JSON.parse(${packed(JSON.stringify(readChart()))});`),
    );
  },
};

/** Adds the page of `injector diff -o html`. */
const pageText: Plugin = {
  name: 'page-text',
  setup(outer) {
    outer.onLoad({ filter: /[\\/]cli[\\/]diff[\\/]read-page\.ts$/ }, () =>
      packedModule(`export const readPage = () => ${packed(readPage())};`),
    );
  },
};

/** Lets the bundle find the pages of `dist/web` beside itself. */
const webFolder: Plugin = {
  name: 'web-folder',
  setup(outer) {
    outer.onLoad({ filter: /[\\/]cli[\\/]pages[\\/]web-folder\.ts$/ }, () => ({
      contents: "import { join } from 'node:path';\nexport const webFolder = join(__dirname, 'web');",
    }));
  },
};

/** Returns the JavaScript expression that unpacks a text. */
function packed(text: string | Uint8Array): string {
  return `inflateRawSync(Buffer.from('${deflateRawSync(text).toString('base64')}', 'base64')).toString()`;
}

function packedModule(contents: string): OnLoadResult {
  return { contents: `import { inflateRawSync } from 'node:zlib';\n${contents}`, resolveDir: '.' };
}
