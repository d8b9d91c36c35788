/** Writes CycloneDX bills of materials of the bundle, the pages for browsers and the images. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bundle } from '../scripts/bundle/bundle.ts';
import { bundleWeb } from '../scripts/bundle/web.ts';
import { architectures, assembleBase, shippedNode, type Architecture } from './base.ts';
import { bundledPackages, licenceRules } from './bundled-packages.ts';
import { archiveName, chosenBase } from './image.ts';
import { project } from './project.ts';

export interface Component {
  readonly 'bom-ref': string;
  readonly type: 'application' | 'container' | 'library';
  readonly name: string;
  readonly version: string;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
  readonly licenses?: readonly [{ readonly license: { readonly id: string } } | { readonly expression: string }];
  readonly purl?: string;
  readonly properties?: readonly { readonly name: string; readonly value: string }[];
}

export type Bom = ReturnType<typeof billOf>;

/** The property of a package inside another package's npm archive: the name of that package. */
export const rolledUpIn = 'sidecar-injector:rolled-up-in';

export const bundleBomName = `${project.name}-${project.version}.cdx.json`;
const pagesBomName = `${project.name}-${project.version}-pages.cdx.json`;
export const imageBomName = (architecture: Architecture): string =>
  archiveName(architecture).replace('.oci.tar', '.cdx.json');

/** Writes the bill of the bundle, of the pages, and of each image archive in the folder. */
export async function writeSboms(folder: string): Promise<string[]> {
  const ofBundle = await bundleBom();
  const boms: [string, Bom][] = [
    [bundleBomName, ofBundle],
    [pagesBomName, await pagesBom()],
  ];
  for (const architecture of architectures) {
    const archive = path.join(folder, archiveName(architecture));
    if (existsSync(archive)) boms.push([imageBomName(architecture), await imageBom(archive, architecture, ofBundle)]);
  }
  for (const [name, bom] of boms) writeFileSync(path.join(folder, name), `${JSON.stringify(bom, undefined, 2)}\n`);
  return boms.map(([name]) => name);
}

/** Returns the bill of dist/injector.cjs. Bundles the source again, and fails if bytes differ. */
async function bundleBom(): Promise<Bom> {
  const shipped = readFileSync('dist/injector.cjs');
  const folder = mkdtempSync(path.join(tmpdir(), 'injector-bundle-'));
  try {
    const file = path.join(folder, 'injector.cjs');
    const { inputs } = await bundle('src/cli/main.ts', file, { boundedHeap: true });
    if (!readFileSync(file).equals(shipped))
      throw new Error('dist/injector.cjs differs from a build of the source: run make build');
    const purl = `pkg:npm/${project.name}@${project.version}`;
    const itself: Component = {
      'bom-ref': purl,
      type: 'application',
      name: project.name,
      version: project.version,
      hashes: [{ alg: 'SHA-256', content: createHash('sha256').update(shipped).digest('hex') }],
      licenses: licensed('Apache-2.0'),
      purl,
    };
    return billOf(itself, librariesOf(inputs));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Returns the bill of dist/web, which `make build` writes together with the bundle. */
async function pagesBom(): Promise<Bom> {
  const folder = mkdtempSync(path.join(tmpdir(), 'injector-pages-'));
  try {
    const { inputs } = await bundleWeb(folder);
    const { name, version } = project;
    const purl = `pkg:npm/${name}@${version}#dist/web`;
    const itself: Component = {
      ...{ 'bom-ref': purl, type: 'application', name: `${name}-pages`, version, purl },
      licenses: licensed('Apache-2.0'),
    };
    return billOf(itself, librariesOf(inputs));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function librariesOf(inputs: Iterable<string>): Component[] {
  return bundledPackages(inputs).map(({ name, version, licence, integrity, rolledUpIn: outer }) => {
    const inside = outer === undefined ? {} : { properties: [{ name: rolledUpIn, value: outer }] };
    const hash = Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex');
    const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
    const hashes = [{ alg: 'SHA-512', content: hash }];
    return { 'bom-ref': purl, type: 'library', name, version, hashes, licenses: licensed(licence), purl, ...inside };
  });
}

/** Returns the bill of an image. Lists the contents of an assembled base, not of a chosen base. */
async function imageBom(archive: string, architecture: Architecture, ofBundle: Bom): Promise<Bom> {
  const index = execFileSync('tar', ['-xOf', archive, './index.json'], { encoding: 'utf8' });
  const { manifests } = JSON.parse(index) as { manifests: [{ digest: string }] };
  const purl = `pkg:oci/${project.name}@${encodeURIComponent(manifests[0].digest)}?arch=${architecture}`;
  const { name, version } = project;
  const itself: Component = { 'bom-ref': purl, type: 'container', name, version, purl };
  const parts = [ofBundle.metadata.component, ...ofBundle.components];
  if (chosenBase === undefined) return billOf(itself, [...(await assembledComponents(architecture)), ...parts]);
  const [image = '', digest = 'unknown'] = chosenBase.split('@');
  const base: Component = { 'bom-ref': chosenBase, type: 'container', name: image, version: digest };
  return billOf(itself, [base, ...parts], false);
}

async function assembledComponents(architecture: Architecture): Promise<Component[]> {
  const { nodeDigest, packages, distribution } = await assembleBase(architecture, () => undefined);
  const component = (name: string, version: string, source: string, [alg, content]: [string, string], purl: string) => {
    const licence = licenceRules.base[source];
    if (licence === undefined) throw new Error(`packaging/licences.json lacks the licence of ${source} under base`);
    const hashes = [{ alg, content }];
    return { 'bom-ref': purl, type: 'library', name, version, hashes, licenses: licensed(licence), purl } as const;
  };
  const { version } = shippedNode;
  const query = `arch=${architecture}&distro=${distribution}`;
  return [
    component('node', version, 'node', ['SHA-512', nodeDigest], `pkg:generic/node@${version}`),
    ...packages.map((each) => {
      const purl = `pkg:deb/debian/${encodeURIComponent(each.name)}@${encodeURIComponent(each.version)}?${query}`;
      return component(each.name, each.version, each.source, ['SHA-256', each.digest], purl);
    }),
  ];
}

function licensed(licence: string): NonNullable<Component['licenses']> {
  return [/^[\w.-]+$/.test(licence) ? { license: { id: licence } } : { expression: licence }];
}

/** Returns a bill without serial number and time, so that the same contents give the same bytes. */
function billOf(component: Component, components: readonly Component[], isComplete = true) {
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component },
    components: [...components].sort((one, other) => (one['bom-ref'] < other['bom-ref'] ? -1 : 1)),
    compositions: [{ aggregate: isComplete ? 'complete' : 'incomplete', assemblies: [component['bom-ref']] }],
  };
}
