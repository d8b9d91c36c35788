import { type Command, Option } from 'commander';
import type { ConfigurationFiles } from '../../api/injector-config/configuration-files.ts';
import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import {
  configurationFiles,
  type ReferencedTexts,
  configurationReferences,
} from '../../manifests/configuration-files.ts';
import { readNamedFile } from '../files.ts';
import { parseDelimiters } from '../option-values.ts';
import { type Terminal, UsageError } from '../terminal.ts';
import {
  annotationOverridesOption,
  istioSettings,
  readConfigurationDirectory,
  type SettingsFlags,
} from './injection-options.ts';
import { readInjectorConfig } from './read-injector-config.ts';

/** The options that name an injector: an InjectorConfig with its references, or a directory. */
export interface ConfigurationOptions extends Partial<SettingsFlags> {
  readonly config?: string;
  readonly injectConfigFile?: string;
  readonly valuesFile?: string;
  readonly meshConfigFile?: string;
  readonly configDir?: string;
}

/** Adds the options of {@link ConfigurationOptions} except `--native-sidecars`. */
export function addConfigurationOptions(command: Command): Command {
  return (
    command
      .option('-c, --config <file>', 'a YAML file with the InjectorConfig')
      .option('--inject-config-file <file>', 'with --config: the text to which its configFrom refers')
      .option('--values-file <file>', 'with --config: the text of valuesFrom, or of the key values next to configFrom')
      .option('--mesh-config-file <file>', 'with --config: the text to which its meshConfigFrom refers')
      .addOption(
        new Option(
          '--config-dir <directory>',
          "a directory with Istio's files config, values and mesh, instead of an InjectorConfig",
        ).conflicts(['config', 'injectConfigFile', 'valuesFile', 'meshConfigFile']),
      )
      // An InjectorConfig contains these settings.
      .addOption(new Option('--revision <name>', 'with --config-dir: the revision').conflicts('config'))
      .addOption(
        new Option('--delims <left,right>', 'with --config-dir: the delimiters of template actions')
          .argParser(parseDelimiters)
          .conflicts('config'),
      )
      .addOption(annotationOverridesOption().conflicts('config'))
  );
}

/** Reads the named configuration. @throws UsageError naming the flag and the file */
export async function namedConfiguration(
  terminal: Terminal,
  options: ConfigurationOptions,
): Promise<ConfigurationFiles> {
  const { config, configDir, revision = 'default', nativeSidecars = 'auto' } = options;
  if (config === undefined && configDir === undefined) {
    throw new UsageError(
      'name an injector: --config FILE (an InjectorConfig) or --config-dir DIRECTORY (config, values, mesh)',
    );
  }
  if (configDir !== undefined)
    return readConfigurationDirectory(configDir, istioSettings({ ...options, revision, nativeSidecars }));
  const file = config ?? '';
  const parsed = readInjectorConfig(file, await readNamedFile(terminal, '--config', file));
  return configurationFiles(parsed, await readReferences(terminal, parsed, options));
}

/** Reads the files that replace the texts to which the InjectorConfig refers. */
async function readReferences(
  terminal: Terminal,
  { spec }: InjectorConfig,
  { injectConfigFile, valuesFile, meshConfigFile }: ConfigurationOptions,
): Promise<ReferencedTexts> {
  const references = configurationReferences(spec.injection);
  const texts: Record<string, string> = {};
  for (const [part, flag, file] of [
    ['config', '--inject-config-file', injectConfigFile],
    ['values', '--values-file', valuesFile],
    ['mesh', '--mesh-config-file', meshConfigFile],
  ] as const) {
    const reference = references[part];
    if (file !== undefined) {
      if (reference === undefined)
        throw new UsageError(`${flag}: remove it; the InjectorConfig does not refer to such a text`);
      texts[part] = await readNamedFile(terminal, flag, file);
    } else if (reference !== undefined) {
      const { field, namespace, name, key } = reference;
      const message = `${flag}: name a file with key ${key} of ConfigMap ${namespace}/${name}, to which ${field.split('.').at(-1) ?? field} refers`;
      throw new UsageError(message);
    }
  }
  return texts;
}
