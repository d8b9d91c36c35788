/** Packs the npm package, with the files that `npm pack` selects. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { project, releaseTime } from './project.ts';
import { packTarGz } from './reproducible-tar.ts';

/** Writes NAME-VERSION.tgz. In an archive from `npm pack`, modes would depend on the umask. */
export async function writeNpmPackage(folder: string): Promise<string[]> {
  const list = ['pack', '--dry-run', '--json', '--ignore-scripts', '--loglevel=error'];
  const [packed] = JSON.parse(execFileSync('npm', list, { encoding: 'utf8' })) as [{ files: { path: string }[] }];
  const programs = Object.values(project.bin);
  const files = packed.files.map(({ path: file }) => {
    return [`package/${file}`, { content: readFileSync(file), executable: programs.includes(file) }] as const;
  });
  const name = `${project.name}-${project.version}.tgz`;
  writeFileSync(path.join(folder, name), await packTarGz(new Map(files), releaseTime()));
  return [name];
}
