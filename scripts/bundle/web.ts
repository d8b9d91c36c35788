import { copyFile, mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, type BuildOptions } from 'esbuild';
import { leanLibraries } from './lean-libraries.ts';

/** The maximum size of the playground as a server would send it, in bytes. */
const mostBytes = 700_000;
const ports = ['buffer', 'crypto', 'net', 'util'];
const source = 'src/web/page';

/** The options for programs of browsers: the ports in src/web/ports replace Node's modules. */
export const browserOptions = {
  bundle: true,
  minify: true,
  platform: 'browser',
  target: 'es2023',
  format: 'iife',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
  logLevel: 'warning',
  loader: { '.yaml': 'text' },
  alias: Object.fromEntries(ports.map((name) => [`node:${name}`, path.resolve(`src/web/ports/${name}.ts`)])),
  plugins: [leanLibraries],
} satisfies BuildOptions;

/**
 * Bundles the playground into a folder.
 * @returns the compressed size in bytes, and the bundled files
 * @throws Error if the playground is too large
 */
export async function bundleWeb(folder: string) {
  await mkdir(folder, { recursive: true });
  const { metafile } = await build({
    ...browserOptions,
    entryPoints: { page: `${source}/main.tsx`, engine: `${source}/engine-worker.ts` },
    outdir: folder,
    metafile: true,
  });
  for (const file of ['index.html', 'page.css']) await copyFile(`${source}/${file}`, `${folder}/${file}`);
  const files = await Promise.all(
    ['index.html', 'page.css', 'page.js', 'engine.js'].map((file) => readFile(`${folder}/${file}`)),
  );
  const bytes = files.reduce((total, file) => total + gzipSync(file).length, 0);
  if (bytes > mostBytes) throw new Error(`${folder} has ${bytes} bytes compressed, the limit is ${mostBytes}`);
  const bundled = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.entries(inputs));
  return { bytes, inputs: bundled.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([file]) => file) };
}
