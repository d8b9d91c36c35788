import { copyFile, mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, type BuildOptions } from 'esbuild';
import { leanLibraries } from './lean-libraries.ts';

/** The pages; `mostBytes` is the maximum size as a compressing server would send it. */
const pages: readonly {
  readonly name: string;
  readonly entryPoints: Readonly<Record<string, string>>;
  readonly copied: readonly string[];
  readonly mostBytes: number;
}[] = [
  {
    name: 'playground',
    entryPoints: { page: 'src/web/page/main.tsx', engine: 'src/web/page/engine-worker.ts' },
    copied: ['src/web/page/index.html', 'src/web/page/page.css'],
    mostBytes: 700_000,
  },
  {
    name: 'dashboard',
    entryPoints: { page: 'src/web/dashboard/main.tsx' },
    copied: ['src/web/dashboard/index.html', 'src/web/page/page.css', 'src/web/dashboard/dashboard.css'],
    mostBytes: 250_000,
  },
];
const ports = ['buffer', 'crypto', 'net', 'util'];

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
 * Bundles the pages, each into its own folder.
 * @returns the compressed sizes in bytes, and the bundled files
 * @throws Error if a page is too large
 */
export async function bundleWeb(folder: string) {
  const bundled = [];
  for (const page of pages) bundled.push(await bundlePage(page, path.join(folder, page.name)));
  const sizes = bundled.map(({ bytes }, index) => `${pages[index]?.name ?? ''} ${Math.ceil(bytes / 1000)} kB`);
  return { sizes, inputs: bundled.flatMap(({ inputs }) => inputs) };
}

async function bundlePage({ entryPoints, copied, mostBytes }: (typeof pages)[number], folder: string) {
  await mkdir(folder, { recursive: true });
  const { metafile } = await build({ ...browserOptions, entryPoints, outdir: folder, metafile: true });
  for (const file of copied) await copyFile(file, path.join(folder, path.basename(file)));
  const names = [...Object.keys(entryPoints).map((name) => `${name}.js`), ...copied.map((file) => path.basename(file))];
  const files = await Promise.all(names.map((name) => readFile(path.join(folder, name))));
  const bytes = files.reduce((total, file) => total + gzipSync(file).length, 0);
  if (bytes > mostBytes) throw new Error(`${folder} has ${bytes} bytes compressed, the limit is ${mostBytes}`);
  const bundled = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.entries(inputs));
  return { bytes, inputs: bundled.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([file]) => file) };
}
