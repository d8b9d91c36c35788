/**
 * Compares bills of materials with contents that it determines independently of `sboms.ts`. As a
 * program, it checks the bundle's bill and planted mistakes; scenario `image` checks image bills.
 */
import { execFileSync } from 'node:child_process';
import { createHash, type BinaryLike } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { Spec, Validation } from '@cyclonedx/cyclonedx-library';
import { build } from 'esbuild';
import { workerOptions } from '../scripts/bundle/bundle.ts';
import { assembleBase, type Architecture } from './base.ts';
import { packageFolder } from './bundled-packages.ts';
import { rolledUpIn, writeSboms, type Bom, type Component } from './sboms.ts';

type Labelled = Pick<Component, 'name' | 'version'>;

const label = ({ name, version }: Labelled) => `${name} ${version}`;
const hashOf = (algorithm: string, data: BinaryLike) => createHash(algorithm).update(data).digest('hex');

/** Returns the violations of CycloneDX's schema. */
export async function schemaMistakes(bom: Bom): Promise<string[]> {
  const error: unknown = await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(JSON.stringify(bom));
  return error === null ? [] : [JSON.stringify(error)];
}

/** Compares the bundle's bill with the source maps of dist/injector.cjs and its worker program. */
export async function bundleMistakes({ metadata, components }: Bom): Promise<string[]> {
  const text = readFileSync('dist/injector.cjs', 'utf8');
  const entryPoints = ['src/server/worker/worker-thread.ts'];
  const options = { ...workerOptions, entryPoints, outdir: 'dist', sourcemap: 'external', write: false } as const;
  const [map, worker] = (await build(options)).outputFiles;
  const packed = [...text.matchAll(/Buffer\.from\(["'`]([\w+/=]+)["'`], ?["'`]base64["'`]\)/g)];
  const unpacked = packed.map(([, base64 = '']) => inflateRawSync(Buffer.from(base64, 'base64')).toString());
  const maps = [readFileSync('dist/injector.cjs.map', 'utf8'), map?.text ?? '{}'];
  const sources = maps.flatMap((each) => (JSON.parse(each) as { sources?: string[] }).sources ?? []);
  const folders = new Set(sources.flatMap((source) => packageFolder(source) ?? []));
  const inside = [...folders].map((folder) => readFileSync(`${folder}/package.json`, 'utf8'));
  const listed = components.filter(({ properties = [] }) => properties.every(({ name }) => name !== rolledUpIn));
  return [
    ...(unpacked.includes(worker?.text ?? '') ? [] : ['the worker program is outdated']),
    ...(metadata.component.hashes?.[0]?.content === hashOf('sha256', text) ? [] : ['the bill has another digest']),
    ...difference(
      'npm packages',
      inside.map((text) => JSON.parse(text) as Component),
      listed,
    ),
  ];
}

/** Compares an image's bill with the files. Each file must belong to a component, and match it. */
export async function imageMistakes(bom: Bom, root: string, architecture: Architecture, ofBundle: Bom) {
  const { packages } = await assembleBase(architecture, () => undefined);
  const status = 'var/lib/dpkg/status.d';
  const owners = new Map<string, string>();
  for (const { name, files } of packages)
    for (const file of [...files, `${status}/${name}`, `${status}/${name}.md5sums`]) owners.set(file, name);
  for (const file of ['usr/local/bin/node', 'usr/share/doc/node/LICENSE']) owners.set(file, 'node');
  for (const file of ['injector.cjs', 'LICENSE', 'THIRD-PARTY-LICENSES.txt'])
    owners.set(`opt/sidecar-injector/${file}`, ofBundle.metadata.component.name);
  // Unlike find, readdir would follow links to folders.
  const find = [root, '-not', '-type', 'd', '-printf', '%P\\n'];
  const files = execFileSync('find', find, { encoding: 'utf8' }).trimEnd().split('\n');
  const read = (file: string) => readFileSync(path.join(root, file));
  const names = new Set(bom.components.map(({ name }) => name));
  const mistakes = files.filter((file) => !names.has(owners.get(file) ?? '')).map((file) => `${file} is unlisted`);
  const debian: Labelled[] = [];
  for (const file of files.filter((each) => each.startsWith(status))) {
    const note = read(file).toString();
    const [, version] = /^Version: (.*)$/m.exec(note) ?? [];
    if (version !== undefined) debian.push({ name: path.basename(file), version });
    for (const [, sum, name = ''] of note.matchAll(/^(\w{32}) {2}(.*)$/gm))
      if (!files.includes(name) || hashOf('md5', read(name)) !== sum) mistakes.push(`${name} differs from Debian's`);
  }
  const listed = bom.components.filter(({ purl = '' }) => purl.startsWith('pkg:deb/'));
  mistakes.push(...difference('Debian packages', debian, listed));
  const { name, hashes } = ofBundle.metadata.component;
  if (hashes?.[0]?.content !== hashOf('sha256', read(`opt/sidecar-injector/injector.cjs`)))
    mistakes.push(`the digest of ${name} differs from its bill`);
  const purls = new Set(bom.components.map(({ purl }) => purl));
  const missing = [ofBundle.metadata.component, ...ofBundle.components].filter(({ purl }) => !purls.has(purl));
  return [...mistakes, ...missing.map((each) => `the bill lacks ${each.name}`)];
}

function difference(kind: string, inside: readonly Labelled[], listed: readonly Labelled[]): string[] {
  const [found, named] = [inside.map(label), listed.map(label)];
  const missing = found.filter((each) => !named.includes(each)).map((each) => `${kind}: ${each} is not listed`);
  return [...missing, ...named.filter((each) => !found.includes(each)).map((each) => `${kind}: ${each} is missing`)];
}

if (process.argv[1] === import.meta.filename) {
  const folder = mkdtempSync(path.join(tmpdir(), 'injector-sboms-'));
  const [name = ''] = await writeSboms(folder);
  const bom = JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as Bom;
  rmSync(folder, { recursive: true });
  const { components } = bom;
  const more = { ...bom, components: [...components, { ...bom.metadata.component, name: 'planted' }] };
  const checks: Readonly<Record<string, readonly [mistakes: readonly string[], expected: number]>> = {
    [`the bundle's bill lists exactly its ${components.length} packages`]: [await bundleMistakes(bom), 0],
    "the bundle's bill matches CycloneDX's schema": [await schemaMistakes(bom), 0],
    'a bill without one package fails': [await bundleMistakes({ ...bom, components: components.slice(1) }), 1],
    'a bill with an additional package fails': [await bundleMistakes(more), 1],
    'a bill with an unknown field fails': [await schemaMistakes({ ...bom, planted: 1 } as Bom), 1],
  };
  const failed = Object.entries(checks).filter(([, [mistakes, expected]]) => mistakes.length !== expected);
  for (const [statement, [mistakes]] of failed) console.log(`FAIL  ${statement}: ${mistakes.join('; ')}`);
  console.log(`${Object.keys(checks).length - failed.length} passed, ${failed.length} failed`);
  process.exitCode = failed.length === 0 ? 0 : 1;
}
