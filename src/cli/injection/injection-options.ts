import { InvalidArgumentError, Option } from 'commander';
import { parse } from 'yaml';
import { type AnnotationOverrides, istioOverrides } from '../../api/injector-config/annotation-overrides.ts';
import { parseAnnotationOverrides } from '../../api/injector-config/parse-annotation-overrides.ts';
import { ConfigurationError } from '../../api/errors.ts';
import { readFile } from '../files.ts';
import { UsageError } from '../terminal.ts';
import type { NodeFacts } from '../../inject/injection-request.ts';
import type { InjectionSettings } from '../../api/injector-config/injection-settings.ts';
import { istioKeys } from '../../api/injector-config/webhook-keys.ts';

/** `--annotation-overrides FILE`, for commands that read Istio's format, which has no such key. */
export function annotationOverridesOption(): Option {
  const description =
    'YAML file with the fields "preset" (Safe or Istio) and "allow": the annotations and labels that may change more than values (default: preset Istio)';
  return new Option('--annotation-overrides <file>', description);
}

/** Reads the file, or returns preset Istio. @throws UsageError naming the file and the field */
export function annotationOverridesOf(file: string | undefined): AnnotationOverrides {
  if (file === undefined) return istioOverrides;
  const text = readFile('--annotation-overrides', file);
  try {
    return parseAnnotationOverrides(parse(text));
  } catch (error) {
    const reason = error instanceof ConfigurationError ? error.message : `not YAML: ${(error as Error).message}`;
    throw new UsageError(`--annotation-overrides ${file}: ${reason}`, { cause: error });
  }
}

const modes = { auto: 'Auto', enabled: 'Enabled', disabled: 'Disabled' } as const;
export type NativeSidecarsChoice = keyof typeof modes;

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

/** Returns the settings from flags. Istio's configuration format has no fields for them. */
export function istioSettings(flags: {
  readonly revision: string;
  readonly nativeSidecars: NativeSidecarsChoice;
  readonly annotationOverrides?: string;
  readonly delims?: readonly [string, string];
}): InjectionSettings {
  return {
    delimiters: flags.delims ?? ['{{', '}}'],
    keys: istioKeys,
    pathEnvironment: {},
    revision: flags.revision,
    nativeSidecars: modes[flags.nativeSidecars],
    annotationOverrides: annotationOverridesOf(flags.annotationOverrides),
  };
}
