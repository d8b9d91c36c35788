/**
 * Compares bills of materials with what is inside, by another way than the one that made them. By itself it checks the bundle's bill, and that the checks find
 * planted faults; scenario `image` checks those of the images.
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

const hashOf = (algorithm: string, data: BinaryLike) => createHash(algorithm).update(data).digest('hex');

/** What CycloneDX's own schema says against a bill. */
export async function schemaMistakes(bom: Bom): Promise<string[]> {
  const error = await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(JSON.stringify(bom));
  return error === null ? [] : [JSON.stringify(error)];
}

/** Compares the bundle's bill with the source maps of dist/injector.cjs and of the worker's program in it. */
export async function bundleMistakes({ metadata, components }: Bom): Promise<string[]> {
  const text = readFileSync('dist/injector.cjs', 'utf8');
  const sources = new Set(sourcesOf(readFileSync('dist/injector.cjs.map', 'utf8')));
  const entryPoints = ['src/server/worker/worker-thread.ts'];
  const options = { ...workerOptions, entryPoints, outdir: 'dist', sourcemap: 'external', write: false } as const;
  const [map, worker] = (await build(options)).outputFiles;
  const packed = [...text.matchAll(/Buffer\.from\(["'`]([\w+/=]+)["'`], ?["'`]base64["'`]\)/g)];
  const unpacked = packed.map(([, base64 = '']) => inflateRawSync(Buffer.from(base64, 'base64')).toString());
  for (const source of sourcesOf(map?.text ?? '{}')) sources.add(source);
  const folders = new Set([...sources].flatMap((source) => packageFolder(source) ?? []));
  const inside = [...folders].map((folder) => {
    const { name, version } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as Component;
    return `${name} ${version}`;
  });
  const listed = components
    .filter(({ properties = [] }) => properties.every(({ name }) => name !== rolledUpIn))
    .map(({ name, version }) => `${name} ${version}`);
  return [
    ...(unpacked.includes(worker?.text ?? '') ? [] : ["the worker's program in the bundle is another"]),
    ...(metadata.component.hashes?.[0]?.content === hashOf('sha256', text) ? [] : ['the bundle has another digest']),
    ...difference('npm packages', inside, listed),
  ];
}

function sourcesOf(map: string): readonly string[] {
  return (JSON.parse(map) as { sources?: string[] }).sources ?? [];
}

/** Compares an image's bill with its files: each belongs to a component, is what Debian says that it is, and each component has one. */
export async function imageMistakes(bom: Bom, root: string, architecture: Architecture, ofBundle: Bom) {
  const { packages } = await assembleBase(architecture, () => undefined);
  const status = 'var/lib/dpkg/status.d';
  const owners = new Map<string, string>();
  for (const { name, files } of packages)
    for (const file of [...files, `${status}/${name}`, `${status}/${name}.md5sums`]) owners.set(file, name);
  for (const file of ['usr/local/bin/node', 'usr/share/doc/node/LICENSE']) owners.set(file, 'node');
  for (const file of ['injector.cjs', 'LICENSE', 'THIRD-PARTY-LICENSES.txt'])
    owners.set(`opt/sidecar-injector/${file}`, ofBundle.metadata.component.name);
  // readdir would follow links to folders.
  const find = ['-not', '-type', 'd', '-printf', '%P\\n'];
  const files = execFileSync('find', [root, ...find], { encoding: 'utf8' })
    .trim()
    .split('\n');
  const read = (file: string) => readFileSync(path.join(root, file));
  const versions = new Map(bom.components.map(({ name, version }) => [name, version]));
  const mistakes = files.filter((file) => !versions.has(owners.get(file) ?? '')).map((file) => `${file} is nobody's`);
  const notes = files.filter((file) => file.startsWith(status));
  for (const file of notes.filter((each) => each.endsWith('.md5sums')))
    for (const [, sum = '', name = ''] of read(file)
      .toString()
      .matchAll(/^(\w{32}) {2}(.*)$/gm))
      if (!files.includes(name) || hashOf('md5', read(name)) !== sum) mistakes.push(`${name} is not Debian's`);
  const debian = notes
    .filter((each) => !each.endsWith('.md5sums'))
    .map((file) => {
      const [, version = ''] = /^Version: (.*)$/m.exec(read(file).toString()) ?? [];
      return `${path.basename(file)} ${version}`;
    });
  const listed = bom.components.filter(({ purl = '' }) => purl.startsWith('pkg:deb/'));
  mistakes.push(
    ...difference(
      'Debian packages',
      debian,
      listed.map(({ name, version }) => `${name} ${version}`),
    ),
  );
  const { name, hashes } = ofBundle.metadata.component;
  if (hashes?.[0]?.content !== hashOf('sha256', read(`opt/sidecar-injector/injector.cjs`)))
    mistakes.push(`${name} is another`);
  const missing = [ofBundle.metadata.component, ...ofBundle.components].filter(
    ({ purl }) => !bom.components.some((each) => each.purl === purl),
  );
  return [...mistakes, ...missing.map((component) => `the bill lacks ${component.name}`)];
}

function difference(what: string, inside: readonly string[], listed: readonly string[]): string[] {
  const [missing, more] = [
    inside.filter((each) => !listed.includes(each)),
    listed.filter((each) => !inside.includes(each)),
  ];
  return [
    ...missing.map((each) => `${what}: ${each} is not listed`),
    ...more.map((each) => `${what}: ${each} is not inside`),
  ];
}

if (process.argv[1] === import.meta.filename) {
  const folder = mkdtempSync(path.join(tmpdir(), 'injector-sboms-'));
  const [name = ''] = await writeSboms(folder);
  const bom = JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as Bom;
  rmSync(folder, { recursive: true });
  const [first, ...others] = bom.components;
  const checks: [statement: string, mistakes: string[], expected?: number][] = [
    [`the bundle's bill is what the bundle is made of, ${bom.components.length} packages`, await bundleMistakes(bom)],
    ["CycloneDX's schema allows it", await schemaMistakes(bom)],
    ['negative control: a package that is not listed', await bundleMistakes({ ...bom, components: others }), 1],
    [
      'negative control: a package that is not inside',
      await bundleMistakes({ ...bom, components: [...bom.components, { ...first!, version: '0' }] }),
      1,
    ],
    ['negative control: a field that no bill has', await schemaMistakes({ ...bom, more: 1 } as Bom), 1],
  ];
  const failed = checks.filter(([, mistakes, expected = 0]) => mistakes.length !== expected);
  for (const [statement, mistakes] of checks)
    console.log(`${failed.some(([each]) => each === statement) ? 'FAIL' : '  ok'}  ${statement}`, mistakes);
  console.log(`${checks.length - failed.length} passed, ${failed.length} failed`);
  process.exitCode = failed.length === 0 ? 0 : 1;
}
