import { type ConfigurationFiles, maximumConfigurationBytes } from '../../api/injector-config/configuration-files.ts';
import { configurationHash } from '../../api/injector-config/configuration-hash.ts';
import { ConfigurationError, TooCostlyError } from '../../api/errors.ts';
import type { NativeSidecars } from '../../api/injector-config/injection-settings.ts';
import { revisionOf, type InjectorConfig } from '../../api/injector-config/injector-config.ts';
import { validateInjectorConfig } from '../../api/injector-config/validate-injector-config.ts';
import type { Rehearsal } from '../../inject/injection-result.ts';
import type { ConfigurationOutline } from '../../inject/injector.ts';
import { runsNativeSidecars } from '../../inject/pod/native-sidecars.ts';
import { isWhole, type PodsVerdict } from '../../inject/rehearsal/dry-run.ts';
import { refuseUnusable } from '../../inject/rehearsal/rehearse.ts';
import { ApiError } from '../../kube/api-error.ts';
import {
  configurationFiles,
  inSpec,
  type ReferencedTexts,
  configurationReferences,
  type ConfigurationReference,
  type ConfigurationReferences,
} from '../../manifests/configuration-files.ts';
import type { PassMemory } from '../controller/pass-context.ts';
import type { TryConfiguration } from '../ports.ts';
import { configMaps } from '../cluster-view.ts';
import type { FollowedObjects } from '../followed-objects.ts';
import { contradictions } from '../../manifests/istiod-settings.ts';
import { type ModeFacts, modeToPublish, requestedMode } from './native-mode.ts';

/** A configuration that compiles, and the hash under which it is published. */
export interface CompiledConfiguration {
  readonly files: ConfigurationFiles;
  readonly hash: string;
  readonly templates: number;
  /** The mode of native sidecars that the spec or istiod's setting requests. */
  readonly requestedMode: NativeSidecars;
  /** Warnings from the compilation and from typical pods. */
  readonly doubts: readonly string[];
  /** What the API server says about typical pods; absent if it is already published. */
  readonly verdict?: PodsVerdict;
  /** What our own rules say about typical pods; absent if all are usable. */
  readonly unusable?: Rehearsal['unusable'];
}

/** Reports a configuration that is too costly to load. The hash in the status prevents retries. */
export class RefusedConfigurationError extends TooCostlyError {
  readonly hash: string;
  constructor(hash: string, reason: string) {
    super(reason);
    this.hash = hash;
  }
}

/** The reason of the condition TemplatesValid for a configuration that is too costly. */
export const tooCostlyReason = 'TooCostly';

export interface CompilerMemory {
  /** The last outcome, and the input that produced it. */
  compiled?: {
    readonly input: string;
    readonly mode: NativeSidecars;
    readonly outcome: CompiledConfiguration | ConfigurationError;
  };
}

/** Returns what the API server says about typical pods that a configuration injects. */
type JudgeTypicalPods = (
  config: InjectorConfig,
  configuration: Pick<CompiledConfiguration, 'files'> & Pick<Rehearsal, 'injected'>,
  signal: AbortSignal,
) => Promise<PodsVerdict>;

/** Compiles the configurations of InjectorConfigs. Keeps each result until the input changes. */
export class ConfigurationCompiler {
  readonly #followed: FollowedObjects;
  readonly #try: TryConfiguration;
  readonly #memory: PassMemory<CompilerMemory>;
  readonly #judge: JudgeTypicalPods;

  constructor(
    followed: FollowedObjects,
    tryOne: TryConfiguration,
    memory: PassMemory<CompilerMemory>,
    judge: JudgeTypicalPods,
  ) {
    this.#followed = followed;
    this.#try = tryOne;
    this.#memory = memory;
    this.#judge = judge;
  }

  /**
   * Reads the referenced ConfigMaps and tries the configuration as a replica does. The operator
   * never publishes a configuration that fails here.
   * @param facts what mode Auto of native sidecars depends on
   * @throws ConfigurationError with the field, or with key, line and column of a template
   */
  async compile(
    config: InjectorConfig,
    signal: AbortSignal,
    facts: ModeFacts = { nodes: [] },
  ): Promise<CompiledConfiguration> {
    const { name, uid, generation } = config.metadata;
    const references = configurationReferences(config.spec.injection);
    const texts = await this.#read(config, references, signal);
    const input = JSON.stringify([uid, generation, texts]);
    const last = this.#memory.read(name).compiled;
    // For a published configuration without a change, save the milliseconds of a comparison.
    const isKept = last?.input === input && isPublished(last.outcome, facts) && facts.nodes.every(runsNativeSidecars);
    const mode = isKept ? last.mode : modeToPublish(config, texts, facts);
    const isSame = last?.input === input && last.mode === mode;
    const outcome = isSame ? last.outcome : await this.#compileOrRefuse(config, references, texts, mode, signal);
    this.#memory.of(name).compiled = { input, mode, outcome };
    if (outcome instanceof ConfigurationError) throw outcome;
    return outcome;
  }

  /** Returns the referenced text for each key of the configuration. */
  async #read(
    config: InjectorConfig,
    references: ConfigurationReferences,
    signal: AbortSignal,
  ): Promise<ReferencedTexts> {
    const { name } = config.metadata;
    const texts: Record<string, string> = {};
    for (const [part, reference] of Object.entries(references) as [string, ConfigurationReference][]) {
      const where = whereOf(config, reference.field);
      texts[part] = await readReference(this.#followed, name, where, reference, signal);
    }
    return texts;
  }

  async #compileOrRefuse(
    config: InjectorConfig,
    references: ConfigurationReferences,
    texts: ReferencedTexts,
    mode: NativeSidecars,
    signal: AbortSignal,
  ): Promise<CompiledConfiguration | ConfigurationError> {
    const mistake = mistakeIn(config);
    if (mistake !== undefined) return mistake;
    try {
      const files = configurationFiles(config, texts, mode);
      refuseOversize(files);
      const hash = configurationHash(files);
      const tried = await this.#tryUnlessRefused(config, files, hash);
      refuseUseless(tried);
      // What is published stays, whatever a newer operator or API server says about it.
      const isPublished = config.status?.config?.hash === hash;
      const { templateNames, warnings, rehearsal } = tried;
      const { failure, unusable, injected, warnings: suspicions = [] } = rehearsal ?? {};
      const isInjected = failure === undefined || unusable !== undefined;
      const verdict = isInjected && !isPublished ? await this.#judge(config, { files, injected }, signal) : undefined;
      refuseInvalid(verdict, suspicions);
      // Our own rules may differ from those of this API server.
      const isAccepted = isWhole(verdict) && unusable?.isByServer === true;
      if (!isPublished && !isAccepted) refuseUnusable(tried);
      const failures = isInjected ? [] : [failure.message];
      const doubts = [...contradictions(config, files.values), ...warnings, ...failures, ...suspicions];
      const judged = { ...(verdict && { verdict }), ...(unusable && { unusable }) };
      const asked = requestedMode(config, texts);
      return { files, hash, templates: templateNames.length, requestedMode: asked, doubts, ...judged };
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      return placed(error, config, references);
    }
  }

  /** Tries a configuration, unless the status records that it is too costly. */
  async #tryUnlessRefused(
    config: InjectorConfig,
    files: ConfigurationFiles,
    hash: string,
  ): Promise<ConfigurationOutline> {
    const recorded = config.status?.conditions?.find(({ type }) => type === 'TemplatesValid');
    if (config.status?.config?.refused === hash && recorded?.reason === tooCostlyReason)
      throw new RefusedConfigurationError(hash, recorded.message);
    try {
      return await this.#try(files);
    } catch (error) {
      throw error instanceof TooCostlyError ? new RefusedConfigurationError(hash, error.message) : error;
    }
  }
}

function isPublished(outcome: CompiledConfiguration | ConfigurationError, { published }: ModeFacts): boolean {
  return !(outcome instanceof ConfigurationError) && outcome.hash === published?.hash;
}

/** Adds the ConfigMap and key to an error in a referenced text. */
function placed(
  error: ConfigurationError,
  config: InjectorConfig,
  { config: whole, values, mesh }: ConfigurationReferences,
): ConfigurationError {
  const [part = ''] = error.field.split('.');
  const reference = { config: whole, values, mesh, spec: values?.field === error.field ? values : undefined }[part];
  if (reference === undefined) return inSpec(error);
  const { field, namespace, name, key } = reference;
  const place = `${whereOf(config, field)}: key "${key}" of configmap "${name}" in namespace "${namespace}"`;
  const message = `${place}: ${error.message.replace(`${field}: `, '')}`;
  return new ConfigurationError(error.field, message, { cause: error });
}

function whereOf(config: InjectorConfig, field: string): string {
  return `InjectorConfig ${config.metadata.name} (revision ${revisionOf(config)}): ${field}`;
}

/** Returns an error for mistakes in `spec.injection`; ignores mistakes in other fields. */
function mistakeIn(config: InjectorConfig): ConfigurationError | undefined {
  const mistakes = validateInjectorConfig(config).filter(({ field }) => field.startsWith('spec.injection'));
  const [first] = mistakes;
  return first && new ConfigurationError(first.field, mistakes.map(({ message }) => message).join('; '));
}

/**
 * Refuses a configuration whose default templates do not exist, since it would inject no pod.
 * Istio accepts such a configuration and logs an error for each pod. @throws ConfigurationError
 */
function refuseUseless({ defaultTemplates, aliases, templateNames }: ConfigurationOutline): void {
  const unknown = defaultTemplates.find((name) => !templateNames.includes(name) && !aliases.has(name));
  if (unknown === undefined) return;
  const have = templateNames.length === 0 ? 'it is empty' : `it has ${templateNames.join(', ')}`;
  const message = `config.defaultTemplates names ${JSON.stringify(unknown)}, which is not in config.templates; ${have}`;
  throw new ConfigurationError('config.defaultTemplates', message);
}

/** @throws ConfigurationError if the API server refuses every typical pod */
function refuseInvalid(verdict: PodsVerdict | undefined, hints: readonly string[]): void {
  if (verdict?.isRefused !== true) return;
  throw new ConfigurationError('config.templates', `config.templates: ${[...verdict.invalid, ...hints].join('; ')}`);
}

function refuseOversize(files: ConfigurationFiles): void {
  const sizes = Object.entries(files).map(([key, text]): [string, number] => [key, Buffer.byteLength(String(text))]);
  const total = sizes.reduce((sum, [, size]) => sum + size, 0);
  if (total <= maximumConfigurationBytes) return;
  const each = sizes.map(([key, size]) => `${key} ${Math.ceil(size / 1024)} KiB`).join(', ');
  const message = `the configuration is larger than the 900 KiB that fit in a ConfigMap: ${each}; shorten it`;
  throw new ConfigurationError('spec.injection', message);
}

/**
 * Reads a text to which an InjectorConfig refers.
 * @param user metadata.name of the InjectorConfig
 * @param where the InjectorConfig and the field, as the prefix of messages
 * @throws ConfigurationError if the text is missing, with Istio's message, which users search for
 */
export async function readReference(
  followed: FollowedObjects,
  user: string,
  where: string,
  reference: ConfigurationReference,
  signal: AbortSignal,
): Promise<string> {
  const { field, namespace, name, key } = reference;
  const unreadable = `could not read valid configmap "${name}" from namespace "${namespace}" (key "${key}")`;
  const refusal = (what: string): ConfigurationError => new ConfigurationError(field, `${where}: ${what}`);
  const object = await followed.read(user, configMaps, reference, signal).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.code !== 403) throw error;
    const advice = 'the operator may not read it; grant the operator get, list and watch on configmaps there';
    throw refusal(`${unreadable}: ${advice} (${error.message})`);
  });
  if (object === undefined) throw refusal(`${unreadable}: it does not exist; create it or correct the reference`);
  const data = (object.data ?? {}) as Record<string, string>;
  if (data[key] !== undefined) return data[key];
  const keys = Object.keys(data).sort();
  const have = keys.length === 0 ? 'it has none' : `it has ${keys.join(', ')}`;
  throw refusal(
    `missing configuration map key "${key}" in configmap "${name}" of namespace "${namespace}": ${have}; add it or correct the reference`,
  );
}
