import { Command } from 'commander';
import type { ConfigurationFiles } from '../../api/configuration-files.ts';
import type { InjectorConfig } from '../../api/injector-config.ts';
import { loadInjector } from '../../inject/injector.ts';
import { configurationFiles, type ReferencedTexts } from '../../manifests/configuration-files.ts';
import { configurationReferences } from '../../manifests/configuration-references.ts';
import { parseDelimiters } from '../option-values.ts';
import { readNamedFile } from '../files.ts';
import { annotationOverridesOf, annotationOverridesOption } from '../injection/annotation-overrides-option.ts';
import { readConfigurationDirectory } from '../injection/configuration-directory.ts';
import { injectFiles } from '../injection/inject-files.ts';
import {
  nativeSidecarsOf,
  nativeSidecarsOption,
  type NativeSidecarsChoice,
} from '../injection/native-sidecars-option.ts';
import { inFile, readInjectorConfig } from '../injection/read-injector-config.ts';
import { istioSettings } from '../injection/settings.ts';
import type { Terminal } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';

interface InjectOptions {
  readonly filename: readonly string[];
  readonly output?: string;
  readonly config?: string;
  readonly injectConfigFile?: string;
  readonly valuesFile?: string;
  readonly meshConfigFile?: string;
  readonly configDir?: string;
  readonly revision?: string;
  readonly nativeSidecars: NativeSidecarsChoice;
  readonly annotationOverrides?: string;
  readonly delims?: readonly [string, string];
  readonly namespace?: string;
  readonly kubeletVersion: readonly string[];
}

/** `injector inject`: what the webhook would make of the workloads in files. No cluster is asked. */
export function injectCommand(terminal: Terminal): Command {
  return new Command('inject')
    .description('inject the workloads of YAML files as the webhook would, without a cluster')
    .requiredOption('-f, --filename <file...>', 'YAML files with workloads (- for standard input)')
    .option('-o, --output <file>', 'where to write (default: standard output)')
    .option('-c, --config <file>', 'the injector: a YAML file with an InjectorConfig')
    .option('--inject-config-file <file>', "with --config: the text that the InjectorConfig's configFrom refers to")
    .option('--values-file <file>', "with --config: the text of valuesFrom, or of the key values beside configFrom's")
    .option('--mesh-config-file <file>', "with --config: the text that the InjectorConfig's meshConfigFrom refers to")
    .option('--config-dir <directory>', "the injector: a directory with Istio's keys config, values and mesh")
    .option('--revision <name>', 'with --config-dir: the revision')
    .option('--delims <left,right>', 'with --config-dir: the delimiters of the templates', parseDelimiters)
    .addOption(nativeSidecarsOption())
    .addOption(annotationOverridesOption())
    .option('-n, --namespace <name>', 'the namespace of objects that name none')
    .option('--kubelet-version <version...>', "the nodes' kubelets, which decide on native sidecars: v1.33.0 …", [])
    .action(async (options: InjectOptions) => {
      const files = await configurationOf(terminal, options);
      const injector = inFile(options.config ?? options.configDir ?? '', () => loadInjector(files));
      for (const warning of injector.warnings) terminal.error(`warning: ${warning}`);
      const nodes = options.kubeletVersion.map((kubeletVersion, index) => ({ name: `node-${index}`, kubeletVersion }));
      const context = { nodes, ...(options.namespace === undefined ? {} : { namespace: options.namespace }) };
      await injectFiles(terminal, injector, context, options.filename, options.output);
    });
}

async function configurationOf(terminal: Terminal, options: InjectOptions): Promise<ConfigurationFiles> {
  const { config, configDir, delims, revision = 'default' } = options;
  if ((config === undefined) === (configDir === undefined)) {
    throw new UsageError(
      'name an injector: --config FILE (an InjectorConfig) or --config-dir DIRECTORY (config, values, mesh)',
    );
  }
  if (configDir !== undefined) {
    const settings = istioSettings({
      revision,
      nativeSidecars: nativeSidecarsOf(options.nativeSidecars),
      annotationOverrides: annotationOverridesOf(options.annotationOverrides),
      ...(delims === undefined ? {} : { delimiters: delims }),
    });
    return readConfigurationDirectory(configDir, settings);
  }
  if (options.annotationOverrides !== undefined) {
    throw new UsageError(
      '--annotation-overrides: goes with --config-dir; an InjectorConfig says it in spec.injection.annotationOverrides',
    );
  }
  const file = config ?? '';
  const parsed = readInjectorConfig(file, await readNamedFile(terminal, '--config', file));
  return configurationFiles(parsed, await readReferences(terminal, parsed, options));
}

/** The texts that the InjectorConfig refers to, from the files that stand for them. */
async function readReferences(
  terminal: Terminal,
  { spec }: InjectorConfig,
  { injectConfigFile, valuesFile, meshConfigFile }: InjectOptions,
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
        throw new UsageError(`${flag}: the InjectorConfig refers to no such text; leave it out`);
      texts[part] = await readNamedFile(terminal, flag, file);
    } else if (reference !== undefined) {
      const { field, namespace, name, key } = reference;
      throw new UsageError(
        `${flag}: name a file with key ${key} of ConfigMap ${namespace}/${name}, which ${field.split('.').at(-1) ?? field} refers to`,
      );
    }
  }
  return texts;
}
