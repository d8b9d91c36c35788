import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { URL, fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../../.build/typescript/', import.meta.url));
const manifest = new URL('../../node_modules/ts-blank-space/package.json', import.meta.url);
/** @type {string} */
const version = JSON.parse(await readFile(manifest, 'utf8')).version;
await mkdir(folder, { recursive: true });

/**
 * Removes the types from a module (ts-blank-space), and caches the result in a file. Each process
 * and thread has its own loader, and loading TypeScript's compiler takes longer than most tests.
 *
 * @type {import('node:module').LoadHook}
 */
export async function load(url, context, nextLoad) {
  if (!url.endsWith('.ts')) return nextLoad(url, context);
  const { source } = await nextLoad(url, { ...context, format: 'module' });
  const text = String(source);
  const file = `${folder}${createHash('sha256').update(version).update(text).digest('hex')}.js`;
  const blanked = (await readFile(file, 'utf8').catch(() => undefined)) ?? (await blank(text, file));
  return { format: 'module', shortCircuit: true, source: `${blanked}\n//# sourceURL=${url}` };
}

/**
 * Writes the file under another name and renames it, because another process may read the file.
 *
 * @param {string} text
 * @param {string} file
 */
async function blank(text, file) {
  const { default: blankSpace } = await import('ts-blank-space');
  const blanked = blankSpace(text);
  const draft = `${file}.${process.pid}.${performance.now()}`;
  await writeFile(draft, blanked);
  await rename(draft, file);
  return blanked;
}
