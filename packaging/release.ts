/**
 * `make release`: writes all artefacts of a release, and their SHA256SUMS, to `release/`.
 * Two runs of one commit write the same bytes. `release.ts [--folder FOLDER] [ARTEFACT…]`
 */
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { writeChartArchive } from './chart-archive.ts';
import { writeImages } from './image.ts';
import { writeKubectlPlugin } from './kubectl-plugin.ts';
import { writeNpmPackage } from './npm-package.ts';
import { checkVersions, knownReleaseTime, project } from './project.ts';
import { writeSboms } from './sboms.ts';

/** A function that writes files of a release into a folder, and returns their names. */
type Write = (folder: string, report: (line: string) => void) => Promise<string[]>;

const artefacts: Readonly<Record<string, Write>> = {
  npm: writeNpmPackage,
  plugin: writeKubectlPlugin,
  chart: writeChartArchive,
  manifest: copyInstallManifest,
  image: writeImages,
  // After `image`, because the bills list the contents of the image.
  sboms: writeSboms,
};

/** Copies the default render of the chart, which `make generate` writes. */
async function copyInstallManifest(folder: string): Promise<string[]> {
  const source = 'charts/install.yaml';
  if (!existsSync(source)) return [];
  copyFileSync(source, path.join(folder, 'install.yaml'));
  return Promise.resolve(['install.yaml']);
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { folder: { type: 'string', default: 'release' } },
  });
  const selected = positionals.length === 0 ? Object.keys(artefacts) : positionals;
  const unknown = selected.filter((name) => !Object.hasOwn(artefacts, name));
  if (unknown.length > 0)
    throw new Error(`unknown artefact ${unknown.join(', ')}; the artefacts are ${Object.keys(artefacts).join(', ')}`);
  checkVersions();
  // Child processes also read this variable.
  const time = knownReleaseTime();
  if (time === undefined)
    throw new Error(
      'the commit time is unknown, because this is not a git clone: set SOURCE_DATE_EPOCH to seconds since 1970',
    );
  process.env['SOURCE_DATE_EPOCH'] = String(time);
  const { folder } = values;
  if (existsSync(folder) && !existsSync(path.join(folder, 'SHA256SUMS')))
    throw new Error(
      `${folder} exists but is not a release (no SHA256SUMS): remove it, or choose another folder with --folder`,
    );
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  // Marks the folder as a release, so that a run after a failure may overwrite it.
  writeFileSync(path.join(folder, 'SHA256SUMS'), '');
  await import('../scripts/build.ts');
  const report = (line: string): void => {
    console.log(line);
  };
  const written: string[] = [];
  for (const name of selected) written.push(...((await artefacts[name]?.(folder, report)) ?? []));
  const sums = written.sort().map((name) => {
    const content = readFileSync(path.join(folder, name));
    report(`${name} (${(content.length / 1_048_576).toFixed(1)} MiB)`);
    return `${createHash('sha256').update(content).digest('hex')}  ${name}\n`;
  });
  writeFileSync(path.join(folder, 'SHA256SUMS'), sums.join(''));
  report(`wrote version ${project.version} to ${folder}, with SHA256SUMS of ${sums.length} files`);
}

await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
