/** Properties shared by all artefacts of a release: version, source address, and file time. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import { programVersion } from '../src/cli/version.ts';

interface Manifest {
  name: string;
  version: string;
  homepage: string;
  repository: { url: string };
  engines: { node: string };
  bin: Record<string, string>;
}

/** The contents of package.json, which is the source of the version. */
export const project = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;

/** The address of the source, and the prefix of a release's downloads. */
export const sourceAddress = project.repository.url.replace(/^git\+|\.git$/g, '');

/** The oldest Node that runs the program, such as 20.19. */
export const oldestNode = project.engines.node.replace('>=', '');

/** Checks the versions of chart and source. @throws Error if one differs from package.json */
export function checkVersions(): void {
  const { version, appVersion } = load(readFileSync('charts/injector-operator/Chart.yaml', 'utf8')) as {
    version: string;
    appVersion: string;
  };
  const found = {
    'version of charts/injector-operator/Chart.yaml': version,
    'appVersion of charts/injector-operator/Chart.yaml': appVersion,
    'src/cli/version.ts': programVersion,
  };
  for (const [where, other] of Object.entries(found))
    if (other !== project.version)
      throw new Error(`${where} is ${other}, but package.json has version ${project.version}: make the versions equal`);
}

/**
 * Returns the time of a release's files in seconds since 1970: SOURCE_DATE_EPOCH or commit time.
 * Without both it is 0: an image that stays on this machine, as the demo's, needs no true time.
 */
export function releaseTime(): number {
  return knownReleaseTime() ?? 0;
}

/**
 * Returns SOURCE_DATE_EPOCH or the commit time; undefined if both are unknown.
 * @throws Error if SOURCE_DATE_EPOCH is no number
 */
export function knownReleaseTime(): number | undefined {
  const seconds = process.env['SOURCE_DATE_EPOCH'] ?? commitTime();
  if (seconds === undefined) return undefined;
  if (!/^\d{1,10}$/.test(seconds)) throw new Error(`SOURCE_DATE_EPOCH must be seconds since 1970, not "${seconds}"`);
  return Number(seconds);
}

function commitTime(): string | undefined {
  try {
    const git = ['log', '-1', '--format=%ct'];
    return execFileSync('git', git, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined;
  }
}
