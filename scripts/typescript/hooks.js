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
 * Blanks the types out of a module (ts-blank-space), once for each text: whoever comes next reads the file. Every process and every thread has a loader of its own,
 * and reading TypeScript's compiler alone takes it longer than most tests take.
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
 * Written beside its place and moved there: another process may read at this moment.
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
