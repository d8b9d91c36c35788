import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import { parse } from 'yaml';
import { ConfigurationError } from '../../api/errors.ts';
import { type AnnotationOverrides, istioOverrides } from '../../api/injector-config/annotation-overrides.ts';
import type { ConfigurationFiles } from '../../api/injector-config/configuration-files.ts';
import type { InjectionSettings } from '../../api/injector-config/injection-settings.ts';
import { parseAnnotationOverrides } from '../../api/injector-config/parse-annotation-overrides.ts';
import { istioKeys } from '../../api/injector-config/webhook-keys.ts';
import type { NodeFacts } from '../../inject/injection-request.ts';
import { atFile, readFile, readText } from '../files.ts';

/** `--annotation-overrides FILE`, for commands that read Istio's format, which has no such key. */
export function annotationOverridesOption(): Option {
  const description =
    'YAML file with the fields "preset" (Safe or Istio) and "allow": the annotations and labels that may change more than values (default: preset Istio)';
  return new Option('--annotation-overrides <file>', description);
}

/** Reads the file, or returns preset Istio. @throws UsageError naming the file and the field */
export function annotationOverridesOf(file: string | undefined): AnnotationOverrides {
  if (file === undefined) return istioOverrides;
  const place = `--annotation-overrides ${file}`;
  const text = readFile('--annotation-overrides', file);
  const value = atFile(`${place}: not YAML`, () => parse(text) as unknown);
  return atFile(place, () => parseAnnotationOverrides(value));
}

const modes = { auto: 'Auto', enabled: 'Enabled', disabled: 'Disabled' } as const;

/** `--native-sidecars auto|enabled|disabled`. */
export function nativeSidecarsOption(): Option {
  return new Option(
    '--native-sidecars <mode>',
    'whether the proxy becomes a native sidecar (a restartable init container); auto decides by the kubelets',
  )
    .choices(Object.keys(modes))
    .default('auto');
}

/** `--kubelet-version VERSION…`: the simulated nodes. */
export function kubeletVersionOption(): Option {
  return new Option(
    '--kubelet-version <version...>',
    'the kubelet versions of the nodes, for example v1.33.0; mode auto of --native-sidecars depends on them',
  )
    .argParser((text: string, nodes: NodeFacts[]): NodeFacts[] => {
      if (!/^v?\d{1,3}\.\d{1,3}([.+-].*)?$/.test(text))
        throw new InvalidArgumentError('It must be a version as `kubectl get nodes` prints it, for example v1.33.0.');
      return [...nodes, { name: `node-${nodes.length}`, kubeletVersion: text }];
    })
    .default([], 'none');
}

/** The flags of settings for which Istio's configuration format has no fields. */
export interface SettingsFlags {
  readonly revision: string;
  readonly nativeSidecars: keyof typeof modes;
  readonly annotationOverrides?: string;
  readonly delims?: readonly [string, string];
}

/** Returns the settings from flags. */
export function istioSettings(flags: SettingsFlags): InjectionSettings {
  return {
    delimiters: flags.delims ?? ['{{', '}}'],
    keys: istioKeys,
    pathEnvironment: {},
    revision: flags.revision,
    nativeSidecars: modes[flags.nativeSidecars],
    annotationOverrides: annotationOverridesOf(flags.annotationOverrides),
  };
}

/**
 * Reads Istio's files `config` and, if they exist, `values` and `mesh` from a directory, such as a
 * volume that is projected from Istio's ConfigMaps.
 * @throws ConfigurationError or UsageError naming the file
 */
export function readConfigurationDirectory(directory: string, settings: InjectionSettings): ConfigurationFiles {
  const config = readKey(directory, 'config');
  if (config === undefined) {
    const file = join(directory, 'config');
    throw new ConfigurationError('config', `${file}: missing; it must contain Istio's injector config`);
  }
  return {
    config,
    values: readKey(directory, 'values') ?? '{}',
    mesh: readKey(directory, 'mesh') ?? '',
    settings: JSON.stringify(settings),
  };
}

function readKey(directory: string, key: string): string | undefined {
  const file = join(directory, key);
  return existsSync(file) ? atFile(file, () => readText(file)) : undefined;
}
