/** The npm packages of which something stands in the bundle, and their licences. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** What we decided about licences, and about what bundlers cannot see. */
export const licenceRules = JSON.parse(readFileSync(path.join(import.meta.dirname, 'licences.json'), 'utf8')) as {
  /** SPDX identifiers. A package under any other licence stops the build. */
  allowed: string[];
  /** Packages whose published files contain other packages, which no bundler can see, and the folders of those. */
  rolledUp: Record<string, string[] | undefined>;
  /** Dependencies of bundled packages of which nothing is in the bundle. */
  leftOut: Record<string, string[] | undefined>;
  /** What the base of the image is made of: Debian's source packages without the version in their names, and Node. */
  base: Record<string, string | undefined>;
};

export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression. */
  readonly licence: string;
  /** Of the archive in the registry, as package-lock.json has it. */
  readonly integrity: string;
  readonly folder: string;
  /** The package whose published files contain it. */
  readonly rolledUpIn?: string;
}

interface Locked {
  version: string;
  license?: string;
  integrity?: string;
  dependencies?: Record<string, string>;
}

/**
 * Finds the packages that a bundle's files belong to, in the order of their folders.
 *
 * @throws Error for a licence that is not allowed, and for a dependency whose place in the bundle is unknown
 */
export function bundledPackages(files: Iterable<string>): BundledPackage[] {
  const { packages: locked } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, Locked | undefined>;
  };
  const folders = new Set([...files].flatMap((file) => packageFolder(file) ?? []));
  const found = [...folders].flatMap((folder) => {
    const itself = readPackage(folder, locked);
    const contents = licenceRules.rolledUp[itself.name] ?? [];
    return [itself, ...contents.map((each) => ({ ...readPackage(each, locked), rolledUpIn: itself.name }))];
  });
  const names = new Set(found.map(({ name }) => name));
  for (const { name, folder } of found)
    for (const dependency of Object.keys(locked[folder]?.dependencies ?? {}))
      if (!names.has(dependency) && !dependency.startsWith('@types/') && !isLeftOut(name, dependency))
        throw new Error(
          `nothing of ${dependency} is in the bundle, though ${name} needs it: packaging/licences.json must say whether ${name} contains it (rolledUp) or not (leftOut)`,
        );
  return found.sort((one, other) => (one.folder < other.folder ? -1 : 1));
}

const isLeftOut = (name: string, dependency: string) => licenceRules.leftOut[name]?.includes(dependency) === true;

/** The folder of the package that a file belongs to; undefined for files of ours. */
export function packageFolder(file: string): string | undefined {
  return /^(?:\.\.\/)*(node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1];
}

function readPackage(folder: string, locked: Readonly<Record<string, Locked | undefined>>): BundledPackage {
  const { name, version } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as Record<string, string>;
  const { license = 'none', integrity = '', version: wanted } = locked[folder] ?? {};
  if (name === undefined || version === undefined || version !== wanted)
    throw new Error(`${folder} holds version ${version ?? 'none'}, package-lock.json has ${wanted ?? 'none'}: npm ci`);
  const licence = license.replace(/^\((.*)\)$/, '$1');
  if (!licence.split(' OR ').some((choice) => licenceRules.allowed.includes(choice)))
    throw new Error(`${name} ${version} is under ${license}, which packaging/licences.json does not allow`);
  return { name, version, licence, integrity, folder };
}

/**
 * The licence texts of packages, one after the other.
 *
 * @throws Error for a package that brings none
 */
export function licenceTexts(packages: readonly BundledPackage[]): string {
  const parts = packages.map(({ name, version, licence, folder }) => {
    const title = `${name} ${version} (${licence})`;
    return `${'='.repeat(80)}\n${title}\n${'='.repeat(80)}\n\n${licenceText(folder)}\n`;
  });
  return `The program in injector.cjs contains these packages.\n\n${parts.join('\n')}`;
}

function licenceText(folder: string): string {
  const names = readdirSync(folder).sort();
  const files = names.filter((name) => /^(?:licen[cs]e|copying|notice)(?:[-.]|$)/i.test(name));
  if (files.length > 0) return files.map((name) => readFileSync(path.join(folder, name), 'utf8').trim()).join('\n\n');
  // Some packages have their licence at the end of their README only.
  const readme = names.find((name) => /^readme\.md$/i.test(name));
  const text = readme === undefined ? '' : readFileSync(path.join(folder, readme), 'utf8');
  const [, section = ''] = /^(?:#+ )?License\s*\n(?:-+\n)?([^]*)$/im.exec(text) ?? [];
  if (!section.includes('Permission is hereby granted')) throw new Error(`${folder} brings no text of its licence`);
  return section.trim();
}
