/** The npm packages that the bundle contains, and their licences. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Decisions about licences, and about packages that bundlers cannot see. */
export const licenceRules = JSON.parse(readFileSync(path.join(import.meta.dirname, 'licences.json'), 'utf8')) as {
  /** The SPDX identifiers that are allowed. A package under any other licence stops the build. */
  allowed: string[];
  /** The folders of packages inside another package's npm archive, by the outer package. */
  rolledUp: Record<string, string[] | undefined>;
  /** The dependencies of bundled packages that are absent from the bundle. */
  leftOut: Record<string, string[] | undefined>;
  /** The licences of Node and of Debian source packages in the image's base, without versions. */
  base: Record<string, string | undefined>;
};

export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression. */
  readonly licence: string;
  /** The integrity of the registry's archive, from package-lock.json. */
  readonly integrity: string;
  readonly folder: string;
  /** The package whose npm archive contains this package. */
  readonly rolledUpIn?: string;
}

interface Locked {
  version: string;
  license?: string;
  integrity?: string;
  dependencies?: Record<string, string>;
}

/**
 * Returns the packages to which a bundle's files belong, ordered by folder.
 *
 * @throws Error for a licence that is not allowed, and for a dependency missing from the bundle
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
          `the bundle does not contain ${dependency}, which ${name} depends on: list this dependency in packaging/licences.json, under rolledUp if the npm archive of ${name} contains the dependency, otherwise under leftOut`,
        );
  return found.sort((one, other) => (one.folder < other.folder ? -1 : 1));
}

const isLeftOut = (name: string, dependency: string) => licenceRules.leftOut[name]?.includes(dependency) === true;

/** Returns the folder of the package that a file belongs to; undefined for our own files. */
export function packageFolder(file: string): string | undefined {
  return /^(?:\.\.\/)*(node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1];
}

function readPackage(folder: string, locked: Readonly<Record<string, Locked | undefined>>): BundledPackage {
  const { name, version } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as Record<string, string>;
  const { license = 'none', integrity = '', version: expected } = locked[folder] ?? {};
  if (name === undefined || version === undefined || version !== expected)
    throw new Error(
      `${folder} contains version ${version ?? 'none'}, but package-lock.json has ${expected ?? 'none'}: run npm ci`,
    );
  const licence = license.replace(/^\((.*)\)$/, '$1');
  if (!licence.split(' OR ').some((choice) => licenceRules.allowed.includes(choice)))
    throw new Error(`${name} ${version} has licence ${license}, which packaging/licences.json does not allow`);
  return { name, version, licence, integrity, folder };
}

/** Returns the licence texts of packages. @throws Error for a package that contains none */
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
  // Some packages contain their licence only at the end of the README.
  const readme = names.find((name) => /^readme\.md$/i.test(name));
  const text = readme === undefined ? '' : readFileSync(path.join(folder, readme), 'utf8');
  const [, section = ''] = /^(?:#+ )?License\s*\n(?:-+\n)?([^]*)$/im.exec(text) ?? [];
  if (!section.includes('Permission is hereby granted')) throw new Error(`${folder} contains no licence text`);
  return section.trim();
}
