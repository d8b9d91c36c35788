import { isDeepStrictEqual } from 'node:util';
import { ConfigurationError } from '../../api/errors.ts';
import type { ConfigurationFiles } from '../../api/injector-config/configuration-files.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { nativeSidecarsAnnotation } from '../../api/names.ts';
import type { NativeSidecars } from '../../api/injector-config/injection-settings.ts';
import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { NodeFacts } from '../../inject/injection-request.ts';
import { runsNativeSidecars, useNativeSidecars } from '../../inject/pod/native-sidecars.ts';
import { configurationFiles, configurationValues, type ReferencedTexts } from '../../manifests/configuration-files.ts';
import { effectiveSettings } from '../../manifests/istiod-settings.ts';
import { canonicalJson } from '../../manifests/values-json.ts';

/** A mode that does not depend on nodes. */
export type FixedMode = Exclude<NativeSidecars, 'Auto'>;

interface PublishedConfiguration {
  readonly files: ConfigurationFiles;
  readonly hash: string;
  /** The mode that the ConfigMap records. */
  readonly recorded?: FixedMode | undefined;
}

/** What the mode of native sidecars depends on, apart from the InjectorConfig. */
export interface ModeFacts {
  readonly published?: PublishedConfiguration | undefined;
  readonly nodes: readonly NodeFacts[];
}

/**
 * Returns the mode to publish. Mode Auto keeps the published mode while nothing else in the
 * configuration changes; a changed configuration takes native sidecars if all kubelets are new
 * enough. Native sidecars end only if a kubelet cannot run them, since its pods would not start.
 */
export function modeToPublish(config: InjectorConfig, texts: ReferencedTexts, facts: ModeFacts): NativeSidecars {
  const { published, nodes } = facts;
  const requested = requestedMode(config, texts);
  if (requested !== 'Auto') return requested;
  const used = usedMode(config, published, nodes);
  if (used === 'Enabled' && !nodes.every(runsNativeSidecars)) return 'Disabled';
  if (published === undefined) return used;
  const stated = modeIn(published.files);
  if (isDeepStrictEqual(filesOrError(config, texts, stated), published.files)) return stated;
  return used === 'Enabled' ? used : offeredMode(nodes);
}

/** Returns the mode that the spec or istiod's setting requests; Auto if the values are invalid. */
export function requestedMode({ spec: { injection } }: InjectorConfig, texts: ReferencedTexts): NativeSidecars {
  if (injection.nativeSidecars !== undefined) return injection.nativeSidecars;
  try {
    return effectiveSettings(injection, configurationValues(injection, texts)).nativeSidecars;
  } catch (error) {
    if (error instanceof ConfigurationError) return 'Auto';
    throw error;
  }
}

function filesOrError(...[config, texts, mode]: Parameters<typeof configurationFiles>) {
  try {
    return configurationFiles(config, texts, mode);
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
}

/** Returns the mode that the kubelets allow. */
export function offeredMode(nodes: readonly NodeFacts[]): FixedMode {
  return useNativeSidecars('Auto', nodes, undefined) ? 'Enabled' : 'Disabled';
}

/**
 * Returns the mode that replicas use for a published configuration. Earlier releases published
 * Auto: the status or else the ConfigMap records the mode that was in use at the upgrade. The
 * status also tells the mode if the configuration is lost.
 */
export function usedMode(
  config: InjectorConfig,
  stored: PublishedConfiguration | undefined,
  nodes: readonly NodeFacts[],
): FixedMode {
  const stated = stored === undefined ? 'Auto' : modeIn(stored.files);
  if (stated !== 'Auto') return stated;
  return statedMode(config, stored?.hash) ?? stored?.recorded ?? offeredMode(nodes);
}

/** Returns the mode to record beside a configuration; undefined unless its own mode is Auto. */
export function modeToRecord(
  config: InjectorConfig,
  stored: PublishedConfiguration,
  nodes: readonly NodeFacts[],
): FixedMode | undefined {
  return modeIn(stored.files) === 'Auto' ? usedMode(config, stored, nodes) : undefined;
}

/** Says in condition TemplatesValid which configuration is used, and with which mode. */
export function describeConfiguration(hash: string, mode: FixedMode): string {
  return `the configuration is ${hash}, with native sidecars ${mode}`;
}

/**
 * Returns the mode in condition TemplatesValid; undefined if it is not that of this configuration.
 * The CRDs of the previous release would refuse a field of the status, with the whole status.
 */
export function statedMode({ status }: InjectorConfig, hash = status?.config?.hash): FixedMode | undefined {
  const { message = '' } = status?.conditions?.find(({ type }) => type === 'TemplatesValid') ?? {};
  const modes = ['Enabled', 'Disabled'] as const;
  return modes.find((mode) => hash !== undefined && message.endsWith(describeConfiguration(hash, mode)));
}

/** Returns the mode that an annotation of a stored configuration records. */
export function recordedMode(configMap: KubernetesObject | undefined): FixedMode | undefined {
  const mode = configMap?.metadata.annotations?.[nativeSidecarsAnnotation];
  return mode === 'Enabled' || mode === 'Disabled' ? mode : undefined;
}

/** Returns a configuration with a fixed mode in place of Auto. */
export function withFixedMode(files: ConfigurationFiles, mode: FixedMode): ConfigurationFiles {
  if (modeIn(files) !== 'Auto') return files;
  return { ...files, settings: canonicalJson({ ...settingsIn(files), nativeSidecars: mode }) };
}

function modeIn(files: ConfigurationFiles): NativeSidecars {
  const { nativeSidecars } = settingsIn(files);
  return nativeSidecars === 'Enabled' || nativeSidecars === 'Disabled' ? nativeSidecars : 'Auto';
}

function settingsIn({ settings }: ConfigurationFiles): Record<string, unknown> {
  try {
    return JSON.parse(settings) as Record<string, unknown>;
  } catch {
    // The load of the configuration reports the error.
    return {};
  }
}

/** Returns a text that changes when the nodes change a result of {@link modeToPublish}. */
export function possibleModes(nodes: readonly NodeFacts[]): string {
  return `${offeredMode(nodes)} ${nodes.every(runsNativeSidecars)}`;
}
