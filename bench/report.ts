import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';

/** A stored figure. The name of a number contains the unit (`p99Milliseconds`). */
export type Figure = number | string | boolean | readonly Figure[] | { readonly [name: string]: Figure };
export type Figures = Readonly<Record<string, Figure>>;

const repository = join(import.meta.dirname, '..');

/**
 * Writes docs/measurements/NAME.json: figures, commit and machine, without host names and paths.
 *
 * @param name in lower case with dashes, such as `bench-server`
 * @returns the file's path within the repository
 */
export function writeMeasurement(name: string, figures: Figures): string {
  const path = join('docs', 'measurements', `${name}.json`);
  const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, memoryBytes: totalmem() };
  const measurement = {
    name,
    ...codeVersion(),
    date: new Date().toISOString(),
    machine: { ...machine, node: process.version },
    figures,
  };
  mkdirSync(join(repository, 'docs', 'measurements'), { recursive: true });
  writeFileSync(join(repository, path), `${JSON.stringify(measurement, null, 2)}\n`);
  return path;
}

/** Returns the commit. Sets `changed` if the measured code differs from the commit. */
function codeVersion(): { commit: string; changed?: true } {
  const git = (...args: string[]): string => {
    const { status, stdout } = spawnSync('git', args, { cwd: repository, encoding: 'utf8' });
    return status === 0 ? stdout.trim() : 'unknown';
  };
  const commit = git('rev-parse', 'HEAD');
  const changes = git('status', '--porcelain', '--', 'src', 'bench', 'e2e', 'scripts', 'package-lock.json');
  return changes === '' ? { commit } : { commit, changed: true };
}
