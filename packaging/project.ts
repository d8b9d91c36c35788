/** What all artefacts of a release know: the version, the address of the source, the time that their files bear. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';

interface Manifest {
  name: string;
  version: string;
  homepage: string;
  repository: { url: string };
  engines: { node: string };
  bin: Record<string, string>;
}

/** package.json, the one place of the version. */
export const project = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;

/** The address of the source: downloads of a release lie below it. */
export const sourceAddress = project.repository.url.replace(/^git\+|\.git$/g, '');

/** The oldest Node that runs the program, such as 20.19. */
export const oldestNode = project.engines.node.replace('>=', '');

/** Fails when the chart or the source name another version than package.json. */
export function checkVersions(): void {
  const { version, appVersion } = load(readFileSync('charts/injector-operator/Chart.yaml', 'utf8')) as {
    version: string;
    appVersion: string;
  };
  const [, inSource = 'none'] = /version = '(.*)'/.exec(readFileSync('src/cli/version.ts', 'utf8')) ?? [];
  const found = {
    'version of charts/injector-operator/Chart.yaml': version,
    'appVersion of charts/injector-operator/Chart.yaml': appVersion,
    'src/cli/version.ts': inSource,
  };
  for (const [where, other] of Object.entries(found))
    if (other !== project.version)
      throw new Error(`${where} is ${other}, but package.json has version ${project.version}: make them the same`);
}

/**
 * Seconds since 1970 that the files of a release bear: SOURCE_DATE_EPOCH, else the time of the commit.
 * @throws Error where neither is known
 */
export function releaseTime(): number {
  const given = process.env['SOURCE_DATE_EPOCH'] ?? commitTime();
  if (given === undefined)
    throw new Error(
      'the time of the commit is not known, since this is no clone of git: set SOURCE_DATE_EPOCH to seconds since 1970',
    );
  if (!/^\d{1,10}$/.test(given)) throw new Error(`SOURCE_DATE_EPOCH must be seconds since 1970, not "${given}"`);
  return Number(given);
}

function commitTime(): string | undefined {
  try {
    const git = ['log', '-1', '--format=%ct'];
    return execFileSync('git', git, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined;
  }
}
