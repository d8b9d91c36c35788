import { configurationHash } from '../../api/injector-config/configuration-hash.ts';
import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { labelNames, hashedConfigMapName, objectNames } from '../../api/names.ts';
import { configurationObjects, hashedConfigMap } from '../../manifests/desired-objects.ts';
import type { CompiledConfiguration } from './compile-configuration.ts';
import { filesOf, verifiedFiles } from './last-good.ts';
import type { WriteOutcome } from '../controller/owned-objects.ts';
import type { PassContext } from '../controller/pass-context.ts';
import { namedHashes, publishedHash } from '../webhooks/published-webhook.ts';
import { keptConfigurations } from '../settings.ts';

type StoringContext = Pick<PassContext, 'view' | 'owned' | 'settings'>;
type StoredConfiguration = Pick<CompiledConfiguration, 'files' | 'hash'>;

/** The configurations of InjectorConfigs that replicas load: their ConfigMaps, and which of them is published. */
export class StoredConfigurations {
  readonly #context: StoringContext;
  /** What is published, by InjectorConfig: to restore it when somebody deletes the ConfigMap that holds it. */
  readonly #remembered = new Map<string, StoredConfiguration>();

  constructor(context: StoringContext) {
    this.#context = context;
  }

  /** The ConfigMaps; of a configuration that does not compile none, and what is published already is kept whole. */
  async store(
    config: InjectorConfig,
    compiled: CompiledConfiguration | undefined,
    into: WriteOutcome,
    signal: AbortSignal,
  ): Promise<void> {
    const { view, owned, settings } = this.#context;
    const lastHash = this.published(config, view.ownWebhook(config.metadata.name));
    const published = lastHash === undefined ? undefined : this.held(config, lastHash);
    const current = compiled ?? published;
    if (current === undefined) return;
    const objects = configurationObjects(config, current.files, current.hash, settings.context);
    // While a newer one is waited for, replicas go on serving what is published: its ConfigMap must stay too.
    if (published !== undefined && published.hash !== current.hash) {
      objects.push(hashedConfigMap(config, published.files, published.hash, settings.context.namespace));
    }
    for (const object of objects) await owned.apply(object, into, signal);
  }

  /** Removes the oldest configurations; never one that is published, wanted, or among the last. */
  async prune(config: InjectorConfig, inUse: readonly (string | undefined)[], signal: AbortSignal): Promise<void> {
    const { view, owned } = this.#context;
    const { name } = config.metadata;
    const hashOf = (object: KubernetesObject): string | undefined =>
      object.metadata.labels?.[labelNames.configurationHash];
    const stored = view
      .belongingTo(name)
      .filter((object) => object.kind === 'ConfigMap' && hashOf(object) !== undefined);
    // A tag may not have moved on yet, or be on its way to this one by a rollout.
    const named = view.webhooksNaming(name).flatMap((webhook) => namedHashes(webhook, name));
    const used = stored.filter((object) => [...inUse, ...named].includes(hashOf(object)));
    const spare = stored
      .filter((object) => !used.includes(object))
      .sort((one, other) =>
        (one.metadata.creationTimestamp ?? '') < (other.metadata.creationTimestamp ?? '') ? 1 : -1,
      );
    for (const object of spare.slice(Math.max(0, keptConfigurations - used.length))) await owned.remove(object, signal);
  }

  /** It is published from now on. */
  remember(name: string, { files, hash }: StoredConfiguration): void {
    this.#remembered.set(name, { files, hash });
  }

  /** The InjectorConfig is gone. */
  forget(name: string): void {
    this.#remembered.delete(name);
  }

  /**
   * What we said last that we had published, then what the webhook says: either may be bent or restored from long ago, so the first that
   * somebody holds is believed. When nobody holds either, the webhook stays where it is.
   */
  published(config: InjectorConfig, live: KubernetesObject | undefined): string | undefined {
    const stated = config.status?.config?.hash;
    const named = publishedHash(live, config.metadata.name);
    const held = [stated, named].find((hash) => hash !== undefined && this.held(config, hash) !== undefined);
    return held ?? named ?? stated;
  }

  /** Whether the webhook names this configuration, or it is held. */
  isNamedOrHeld(config: InjectorConfig, live: KubernetesObject, hash: string): boolean {
    return publishedHash(live, config.metadata.name) === hash || this.held(config, hash) !== undefined;
  }

  /** The configuration of this hash, wherever it is found whole. */
  held(config: InjectorConfig, hash: string): StoredConfiguration | undefined {
    const { configMaps } = this.#context.view;
    const { namespace } = this.#context.settings.context;
    const { name } = config.metadata;
    const remembered = this.#remembered.get(name);
    if (remembered?.hash === hash) return remembered;
    const stored = configMaps.get(hashedConfigMapName(name, hash), namespace);
    const verified = stored && verifiedFiles(stored);
    if (verified?.hash === hash) return verified;
    // Somebody deleted it: the plain one holds the same.
    const files = filesOf(configMaps.get(objectNames(name).configMap, namespace));
    return files !== undefined && configurationHash(files) === hash ? { files, hash } : undefined;
  }
}
