import { execFileSync } from 'node:child_process';
import { configurationHash } from '../../api/injector-config/configuration-hash.ts';
import type { ConfigurationFiles } from '../../api/injector-config/configuration-files.ts';
import { injectorConfigKind, type InjectorConfig, revisionOf } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { namesThere } from '../../explain/nearest-name.ts';
import type { NamedInjector } from '../../explain/predict-pod.ts';
import { configurationFiles, type ReferencedTexts } from '../../manifests/configuration-files.ts';
import { loadInjector } from '../../inject/injector.ts';
import { type ModeFacts, modeToPublish } from '../../operator/configurations/native-mode.ts';
import { referencedTexts } from '../../explain/files/read-file-facts.ts';
import { messageOf } from '../files.ts';
import { inFile, readConfig } from '../../explain/files/read-config.ts';
import { objectsOfText } from '../commands/check.ts';
import { UnmatchedName, UsageError } from '../terminal.ts';
import { isManifest } from '../read-folder.ts';

/** An InjectorConfig from files, loaded. */
export interface FileConfiguration extends NamedInjector {
  readonly revision: string;
}

/** Loads a configuration. @throws ConfigurationError */
export function named(name: string, files: ConfigurationFiles): NamedInjector {
  return { name, hash: configurationHash(files), injector: loadInjector(files) };
}

/** Reads files as they are in a commit. @throws UsageError with git's message */
export function readObjectsAt(commit: string, files: readonly string[]): KubernetesObject[] {
  if (commit.startsWith('-')) throw new UsageError(`--since ${commit}: is not a commit`);
  const git = (...args: string[]): string => {
    try {
      return execFileSync('git', args, { encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'pipe'] });
    } catch (error) {
      const { stderr } = error as { readonly stderr?: string };
      throw new UsageError(`--since ${commit}: git ${args[0] ?? ''}: ${(stderr ?? messageOf(error)).trim()}`, {
        cause: error,
      });
    }
  };
  const listed = git('ls-tree', '-r', '-z', commit, '--', ...files).split('\0');
  // Only regular files: the content of a link is its target.
  const names = listed
    .flatMap((entry) => /^100[^\t]*\t(.*)$/s.exec(entry)?.[1] ?? [])
    .filter((name) => isManifest(name) || files.includes(name));
  return names.flatMap((name) => {
    const ignore = files.includes(name) ? undefined : (): void => undefined;
    return objectsOfText(git('show', `${commit}:./${name}`), `--since ${commit}: ${name}`, ignore);
  });
}

/**
 * Loads the InjectorConfigs among objects.
 * @param missing returns the texts of references that the objects do not contain
 * @param factsOf returns what mode Auto of native sidecars depends on in a cluster
 */
export async function loadConfigurations(
  flag: string,
  objects: readonly KubernetesObject[],
  missing: (config: InjectorConfig) => Promise<ReferencedTexts> = () => Promise.resolve({}),
  factsOf: (config: InjectorConfig) => Promise<ModeFacts | undefined> = () => Promise.resolve(undefined),
): Promise<FileConfiguration[]> {
  const configs = objects.filter(({ kind }) => kind === injectorConfigKind);
  if (configs.length === 0) throw new UsageError(`${flag}: the files contain no InjectorConfig`);
  return Promise.all(
    configs.map(async (object) => {
      const label = `${flag}: InjectorConfig ${object.metadata.name ?? ''}`;
      const config = inFile(label, () => readConfig(object));
      const references = { ...(await missing(config)), ...referencedTexts(config, objects) };
      const facts = await factsOf(config);
      const loaded = inFile(label, () => {
        const mode = facts && modeToPublish(config, references, facts);
        return named(config.metadata.name, configurationFiles(config, references, mode));
      });
      return { ...loaded, revision: revisionOf(config) };
    }),
  );
}

/** Returns the configuration of a revision, or else the only one. @throws UsageError */
export function choose(
  flag: string,
  configurations: readonly FileConfiguration[],
  revision: string | undefined,
): FileConfiguration {
  const [first, second] = configurations.filter((each) => revision === undefined || each.revision === revision);
  if (first !== undefined && second === undefined) return first;
  const names = configurations.map((each) => each.revision);
  if (first === undefined)
    throw new UnmatchedName(
      `${flag} ${revision ?? ''}: no InjectorConfig has this revision; ${namesThere(revision ?? '', names)}`,
    );
  throw new UsageError(`${flag}: name a revision; the files contain ${names.join(', ')}`);
}
