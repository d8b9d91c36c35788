import { filesOf } from '../../api/injector-config/configuration-files.ts';
import { configurationHash } from '../../api/injector-config/configuration-hash.ts';
import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { labelNames, hashedConfigMapName, objectNames } from '../../api/names.ts';
import { configurationObjects, hashedConfigMap } from '../../manifests/desired-objects.ts';
import type { CompiledConfiguration } from './compile-configuration.ts';
import { verifiedFiles } from './last-good.ts';
import { type FixedMode, modeToRecord, recordedMode } from './native-mode.ts';
import type { PassContext, PassMemory } from '../controller/pass-context.ts';
import { namedHashes, publishedHash } from '../webhooks/published-webhook.ts';
import { keptConfigurations } from '../settings.ts';

type StoredConfiguration = Pick<CompiledConfiguration, 'files' | 'hash'>;

export interface StoredMemory {
  /** The published configuration, to restore a deleted ConfigMap. */
  stored?: StoredConfiguration;
}

interface StoringContext extends Pick<PassContext, 'view' | 'owned' | 'settings'> {
  readonly memory: PassMemory<StoredMemory>;
}

/** Stores the configurations of InjectorConfigs in ConfigMaps for replicas, and reads them back. */
export class StoredConfigurations {
  readonly #context: StoringContext;

  constructor(context: StoringContext) {
    this.#context = context;
  }

  /** Returns the ConfigMaps of the published and, if it compiles, of the current configuration. */
  desired(config: InjectorConfig, compiled: CompiledConfiguration | undefined): KubernetesObject[] {
    const { view, settings } = this.#context;
    const lastHash = this.published(config, view.ownWebhook(config.metadata.name));
    const published = lastHash === undefined ? undefined : this.find(config, lastHash);
    const current = compiled ?? published;
    if (current === undefined) return [];
    const recorded = ({ files, hash }: StoredConfiguration) =>
      modeToRecord(config, { files, hash, recorded: this.recordedMode(config, hash) }, view.kubelets());
    const objects = configurationObjects(config, current.files, current.hash, settings.context, recorded(current));
    // Replicas serve the published configuration until the newer one is ready.
    if (published !== undefined && published.hash !== current.hash) {
      objects.push(
        hashedConfigMap(config, published.files, published.hash, settings.context.namespace, recorded(published)),
      );
    }
    return objects;
  }

  /** Deletes old ConfigMaps, except the latest and those that are in use or published. */
  async prune(config: InjectorConfig, inUse: readonly (string | undefined)[], signal: AbortSignal): Promise<void> {
    const { view, owned } = this.#context;
    const { name } = config.metadata;
    const hashOf = (object: KubernetesObject): string | undefined =>
      object.metadata.labels?.[labelNames.configurationHash];
    const stored = view
      .belongingTo(name)
      .filter((object) => object.kind === 'ConfigMap' && hashOf(object) !== undefined);
    // A tag may still use an older configuration, as its target or as the canary of a rollout.
    const named = view.webhooksNaming(name).flatMap((webhook) => namedHashes(webhook, name));
    const used = stored.filter((object) => [...inUse, ...named].includes(hashOf(object)));
    const spare = stored
      .filter((object) => !used.includes(object))
      .sort((one, other) =>
        (one.metadata.creationTimestamp ?? '') < (other.metadata.creationTimestamp ?? '') ? 1 : -1,
      );
    for (const object of spare.slice(Math.max(0, keptConfigurations - used.length))) await owned.remove(object, signal);
  }

  /** Records a newly published configuration. */
  remember(name: string, { files, hash }: StoredConfiguration): void {
    this.#context.memory.of(name).stored = { files, hash };
  }

  /**
   * Returns the published hash. Prefers the hash in status to the hash in the webhook, but skips a
   * hash whose configuration is missing: another client may have edited the status or the webhook.
   */
  published(config: InjectorConfig, live: KubernetesObject | undefined): string | undefined {
    const stated = config.status?.config?.hash;
    const named = publishedHash(live, config.metadata.name);
    const found = [stated, named].find((hash) => hash !== undefined && this.find(config, hash) !== undefined);
    return found ?? named ?? stated;
  }

  /** Reports whether the webhook names this configuration or the configuration can be found. */
  isNamedOrFound(config: InjectorConfig, live: KubernetesObject, hash: string): boolean {
    return publishedHash(live, config.metadata.name) === hash || this.find(config, hash) !== undefined;
  }

  /** Returns the mode of native sidecars that a ConfigMap of an earlier release records. */
  recordedMode({ metadata }: InjectorConfig, hash: string): FixedMode | undefined {
    const { view, settings } = this.#context;
    return recordedMode(view.configMaps.get(hashedConfigMapName(metadata.name, hash), settings.context.namespace));
  }

  /** Returns the configuration with this hash, from memory or from an intact ConfigMap. */
  find(config: InjectorConfig, hash: string): StoredConfiguration | undefined {
    const { configMaps } = this.#context.view;
    const { namespace } = this.#context.settings.context;
    const { name } = config.metadata;
    const { stored: remembered } = this.#context.memory.read(name);
    if (remembered?.hash === hash) return remembered;
    const stored = configMaps.get(hashedConfigMapName(name, hash), namespace);
    const verified = stored && verifiedFiles(stored);
    if (verified?.hash === hash) return verified;
    // If that ConfigMap is missing or damaged, the ConfigMap without a hash in its name may match.
    const files = filesOf(configMaps.get(objectNames(name).configMap, namespace));
    return files !== undefined && configurationHash(files) === hash ? { files, hash } : undefined;
  }
}
