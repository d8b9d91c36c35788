import { EventEmitter } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import { ConfigurationError } from '../../api/errors.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { labelNames, objectNames, validatorNames } from '../../api/names.ts';
import { parseBundle } from '../../certs/read-certificate.ts';
import { isAccepted } from '../../certs/rotation/rotation-state.ts';
import type { ServingCertificates } from '../../certs/serving-certificates.ts';
import type { ServingPair } from '../../certs/verify-chain.ts';
import type { NamespaceMetadata, NodeFacts } from '../../inject/injection-request.ts';
import type { Injector } from '../../inject/injector.ts';
import { rangeAnnotations } from '../../inject/pod/open-shift.ts';
import { messageOf } from '../../kube/api-error.ts';
import { ObjectStore, type StoreChange } from '../../kube/object-store.ts';
import { type FollowingParts, Reflector, type ReflectorOptions } from '../../kube/reflector.ts';
import { configurationKey, routeOf } from '../../routing/route.ts';
import {
  changesKubelets,
  configMaps,
  injectorConfigOf,
  kubeletFacts,
  mutatingWebhooks,
  namespaces,
  nodes,
  onlyKubeletFacts,
  ownedSelector,
  secrets,
} from '../cluster-view.ts';
import { servedFiles } from '../configurations/last-good.ts';
import type { LoadConfiguration } from '../ports.ts';
import { validatorReport, type ServedConfiguration } from './replica-lease.ts';
import { servingPairOf } from '../certificates/secret-text.ts';
import { keptConfigurations } from '../settings.ts';
import { ourWebhooksOf } from '../webhooks/published-webhook.ts';

export interface ReplicaOptions extends FollowingParts {
  readonly namespace: string;
  readonly operatorClass: string;
  /** The loaded injectors by `configurationKey`, from which the server answers. */
  readonly injectors: Map<string, Injector>;
  readonly load: LoadConfiguration;
  /** Whether to watch namespaces for the ranges of OpenShift (`--openshift`). Default: false. */
  readonly openshift?: boolean;
  /** The serving certificates by the name of their Secret; the TLS listener selects by host. */
  readonly certificates: ServingCertificates;
}

/**
 * How long deleted configurations and certificates are still served, in milliseconds, since API
 * servers learn of changed webhooks only from their own watches.
 */
const lingerMs = 15_000;

/** The delay, in ms, before an unrelated pair is used. The leader repairs a Secret in about 1 s. */
const unrelatedDelayMs = 3000;

/** The delay, in ms, before the retry of a load that failed with a temporary error. */
const reloadMs = 5000;

/** What this replica serves for an InjectorConfig or the validator, and the watch of its Secret. */
interface Served {
  /** The serving Secret, watched by name, since replicas may not watch all Secrets. */
  readonly store: ObjectStore;
  readonly stop: AbortController;
  pair?: ServingPair | undefined;
  /** The InjectorConfig and its loaded hashes; absent before the first load. */
  loaded?: { readonly injectorConfig: string; readonly hashes: Set<string> };
}

/**
 * Loads configurations and certificates into memory. Watches the ConfigMaps with a hash label, and
 * the serving Secrets of their InjectorConfigs by name. Requests do not wait for this class. Its
 * errors never remove an injector or certificate that is already served.
 */
export class Replica {
  readonly #options: ReplicaOptions;
  readonly #configMaps = new ObjectStore();
  /** By name of the serving Secret. */
  readonly #served = new Map<string, Served>();
  readonly #nodes = new ObjectStore();
  readonly #namespaces = new ObjectStore();
  readonly #webhooks = new ObjectStore();
  readonly #starting = new AbortController();
  readonly #stop = new AbortController();
  readonly #changes = new EventEmitter<{ changed: [] }>();
  /** The ConfigMaps to load, by name. They are loaded one at a time, to keep requests fast. */
  readonly #toLoad = new Map<string, KubernetesObject>();
  /** The number of loads that will be retried. Until then, this replica is not ready. */
  #pendingReloads = 0;
  #loading = false;
  #nodeFacts: readonly NodeFacts[] | undefined;
  #namespaceRanges: ReadonlyMap<string, NamespaceMetadata> | undefined;

  constructor(options: ReplicaOptions) {
    this.#options = options;
  }

  start(): void {
    const { operatorClass, openshift } = this.#options;
    const owned = ownedSelector(operatorClass);
    this.#configMaps.subscribe((change) => this.#onConfigMap(change));
    this.#nodes.subscribe((change) => {
      // Ignore heartbeats, so that callers can compare the list by identity.
      if (changesKubelets(change)) this.#nodeFacts = undefined;
    });
    const labelSelector = `${owned},${labelNames.configurationHash}`;
    this.#follow({ resource: configMaps, store: this.#configMaps, labelSelector });
    const webhooks = { resource: mutatingWebhooks, store: this.#webhooks, namespace: undefined, labelSelector: owned };
    this.#follow(webhooks, AbortSignal.any([this.#stop.signal, this.#starting.signal]));
    this.#followed(validatorNames(operatorClass).servingSecret);
    this.#follow({ resource: nodes, store: this.#nodes, namespace: undefined, transform: onlyKubeletFacts });
    if (openshift !== true) return;
    this.#namespaces.subscribe(({ type, object, before }) => {
      // Ignore other changes, so that callers can compare the map by identity.
      if (type === 'Deleted' || !isDeepStrictEqual(object.metadata.annotations, before?.metadata.annotations))
        this.#namespaceRanges = undefined;
    });
    this.#follow({ resource: namespaces, store: this.#namespaces, namespace: undefined, transform: onlyRanges });
  }

  /** Ends the watches; loaded configurations are still served. */
  stop(): void {
    this.#stop.abort();
  }

  /** Whether all existing objects were loaded once, and all webhook paths were readable. */
  get ready(): boolean {
    const ofNamespaces = this.#options.openshift === true ? [this.#namespaces] : [];
    const ofSecrets = [...this.#served.values()].map(({ store }) => store);
    const stores = [this.#configMaps, this.#webhooks, ...ofNamespaces, ...ofSecrets];
    const isLoaded = stores.every(({ hasSynced }) => hasSynced) && this.#toLoad.size + this.#pendingReloads === 0;
    if (isLoaded && this.#webhooks.list().every(hasReadablePaths)) this.#starting.abort();
    return this.#starting.signal.aborted;
  }

  /** Returns the cached nodes; empty until they are listed. */
  nodes(): readonly NodeFacts[] {
    this.#nodeFacts ??= this.#nodes.list().map(kubeletFacts);
    return this.#nodeFacts;
  }

  /** Returns the ranges of the namespaces; undefined unless the operator runs on OpenShift. */
  namespaces(): ReadonlyMap<string, NamespaceMetadata> | undefined {
    if (this.#options.openshift !== true) return undefined;
    this.#namespaceRanges ??= new Map(
      this.#namespaces.list().flatMap(({ metadata: { name = '', annotations } }) => {
        return annotations === undefined ? [] : [[name, { annotations }]];
      }),
    );
    return this.#namespaceRanges;
  }

  /** Returns the state by InjectorConfig; key {@link validatorReport} has the validator's state. */
  serves(): ReadonlyMap<string, ServedConfiguration> {
    const { certificates, operatorClass } = this.#options;
    const fingerprints = new Map(certificates.all().map(({ owner, fingerprint }) => [owner, fingerprint]));
    const served = (secret: string, hashes: Iterable<string>): ServedConfiguration => {
      const certificate = fingerprints.get(secret);
      return { hashes: [...hashes].sort(), ...(certificate === undefined ? {} : { certificate }) };
    };
    const validator = served(validatorNames(operatorClass).servingSecret, []);
    const revisions = [...this.#served].flatMap(([secret, { loaded }]): [string, ServedConfiguration][] => {
      return loaded === undefined ? [] : [[loaded.injectorConfig, served(secret, loaded.hashes)]];
    });
    return new Map([[validatorReport, validator], ...revisions]);
  }

  /** Calls the listener whenever {@link serves} may have changed. */
  subscribe(listener: () => void): void {
    this.#changes.on('changed', listener);
  }

  /** @param what the resource, store and selector; the default namespace is the operator's */
  #follow(
    what: Pick<ReflectorOptions<KubernetesObject>, 'resource' | 'store'> & Partial<ReflectorOptions<KubernetesObject>>,
    signal = this.#stop.signal,
  ): void {
    void new Reflector({ ...this.#options, ...what }).run(signal);
  }

  /** Watches a serving Secret by name, as RBAC requires, unless it is watched already. */
  #followed(secret: string): Served {
    const known = this.#served.get(secret);
    if (known !== undefined) return known;
    const served: Served = { store: new ObjectStore(), stop: new AbortController() };
    this.#served.set(secret, served);
    served.store.subscribe((change) => this.#onSecret(served, change));
    const signal = AbortSignal.any([this.#stop.signal, served.stop.signal]);
    this.#follow({ resource: secrets, store: served.store, fieldSelector: `metadata.name=${secret}` }, signal);
    return served;
  }

  #onConfigMap({ type, object }: StoreChange<KubernetesObject>): void {
    const key = object.metadata.name ?? '';
    if (type === 'Deleted') {
      this.#toLoad.delete(key);
      this.#collectLater(object);
      return;
    }
    this.#toLoad.set(key, object);
    const name = injectorConfigOf(object);
    if (name !== undefined) this.#followed(objectNames(name).servingSecret);
    if (this.#loading) return;
    this.#loading = true;
    setImmediate(() => void this.#loadAll());
  }

  async #loadAll(): Promise<void> {
    for (let [next] = this.#toLoad; next !== undefined; [next] = this.#toLoad) {
      const [key, object] = next;
      await this.#load(object);
      // A newer version may have arrived during the load.
      if (this.#toLoad.get(key) === object) this.#toLoad.delete(key);
      this.#changes.emit('changed');
    }
    this.#loading = false;
  }

  async #load(object: KubernetesObject): Promise<void> {
    const { injectors, load, logger } = this.#options;
    const name = injectorConfigOf(object);
    const configMap = object.metadata.name;
    const verified = servedFiles(object);
    if (name === undefined || verified === undefined) {
      logger.error('a configuration does not match the hash in its label and is not loaded', { configMap });
      return;
    }
    const { files, hash } = verified;
    const key = configurationKey({ injectorConfig: name, hash });
    // After an upgrade, the leader records the mode of native sidecars in the ConfigMap.
    if (injectors.get(key)?.files.settings === files.settings) return;
    try {
      injectors.set(key, await load(files));
      const served = this.#followed(objectNames(name).servingSecret);
      served.loaded ??= { injectorConfig: name, hashes: new Set() };
      served.loaded.hashes.add(hash);
      logger.info('loaded', { injectorConfig: name, hash });
    } catch (error) {
      if (!(error instanceof ConfigurationError)) this.#reloadLater(object);
      logger.error('a configuration cannot be loaded', { configMap, error: messageOf(error) });
    }
  }

  #reloadLater(object: KubernetesObject): void {
    const { clock, namespace } = this.#options;
    this.#pendingReloads += 1;
    clock.after(reloadMs, () => {
      this.#pendingReloads -= 1;
      if (this.#configMaps.get(object.metadata.name ?? '', namespace) === object)
        this.#onConfigMap({ type: 'Modified', object, before: object });
    });
  }

  #onSecret(served: Served, { type, object }: StoreChange<KubernetesObject>): void {
    const { namespace, clock, logger } = this.#options;
    const owner = object.metadata.name ?? '';
    if (type === 'Deleted') {
      this.#collectLater(object);
      return;
    }
    const pair = servingPairOf(object);
    if (!isUnrelated(pair, served.pair, clock.now())) {
      this.#take(served, owner, pair);
      return;
    }
    logger.warn('a serving certificate shares no authority with the served one, which stays for now', {
      secret: owner,
      seconds: unrelatedDelayMs / 1000,
    });
    clock.after(unrelatedDelayMs, () => {
      if (this.#served.get(owner)?.store.get(owner, namespace) === object) this.#take(served, owner, pair);
    });
  }

  #take(served: Served, owner: string, pair: ServingPair): void {
    const { certificates, clock, logger } = this.#options;
    const faults = certificates.offer(owner, pair, clock.now());
    if (faults.length > 0) {
      const problem = faults.map(({ message }) => message).join('; ');
      logger.error('a serving certificate cannot be used; the last good one stays', { secret: owner, problem });
      return;
    }
    served.pair = pair;
    this.#changes.emit('changed');
  }

  #collectLater(deleted: KubernetesObject): void {
    const name = injectorConfigOf(deleted);
    if (name === undefined) return;
    // Still serve the pair in memory, but accept an unrelated pair for a recreated InjectorConfig.
    const served = this.#served.get(objectNames(name).servingSecret);
    if (served !== undefined && this.#isGone(name)) served.pair = undefined;
    this.#options.clock.after(lingerMs, () => this.#collect(name));
  }

  /**
   * Unloads pruned configurations if newer ones exist, and everything once all ConfigMaps and the
   * Secret are gone. Any other deletion may be a mistake: pods may still need the configuration.
   */
  #collect(name: string): void {
    const { injectors, certificates, logger } = this.#options;
    const { servingSecret } = objectNames(name);
    const stored = this.#stored(name);
    const isGone = this.#isGone(name);
    if (!isGone && stored.length < keptConfigurations) return;
    const served = this.#served.get(servingSecret);
    for (const hash of served?.loaded?.hashes ?? []) {
      if (stored.includes(hash)) continue;
      injectors.delete(configurationKey({ injectorConfig: name, hash }));
      served?.loaded?.hashes.delete(hash);
      logger.info('unloaded', { injectorConfig: name, hash });
    }
    if (isGone) {
      certificates.remove(servingSecret);
      served?.stop.abort();
      this.#served.delete(servingSecret);
    }
    this.#changes.emit('changed');
  }

  #stored(name: string): (string | undefined)[] {
    const all = this.#configMaps.list();
    return all
      .filter((object) => injectorConfigOf(object) === name)
      .map(({ metadata }) => metadata.labels?.[labelNames.configurationHash]);
  }

  #isGone(name: string): boolean {
    const { servingSecret } = objectNames(name);
    const secret = this.#served.get(servingSecret)?.store.get(servingSecret, this.#options.namespace);
    return secret === undefined && this.#stored(name).length === 0;
  }
}

/**
 * Reports whether the valid certificate in memory fails verification by the authorities of a pair.
 * A rotation keeps the old authority, so another client wrote the pair, or we missed a rotation.
 */
export function isUnrelated(pair: ServingPair, inMemory: ServingPair | undefined, now: Date): boolean {
  // The chain includes the intermediates, which a user's certificate may need.
  const chain = parseBundle(inMemory?.certificatePem ?? '');
  const [leaf] = chain;
  return leaf !== undefined && leaf.notAfter > now && !isAccepted(chain, parseBundle(pair.caPem), now);
}

/** Keeps only the ranges of a namespace: a cluster can have thousands of namespaces. */
function onlyRanges({ apiVersion, kind, metadata }: KubernetesObject): KubernetesObject {
  const { name = '', resourceVersion = '' } = metadata;
  const ranges = Object.entries(metadata.annotations ?? {}).filter(([key]) => rangeAnnotations.includes(key));
  const annotations = ranges.length === 0 ? {} : { annotations: Object.fromEntries(ranges) };
  return { apiVersion, kind, metadata: { name, resourceVersion, ...annotations } };
}

/** Reports whether all paths are readable. If not, our Lease makes a newer leader rewrite them. */
function hasReadablePaths(webhook: KubernetesObject): boolean {
  return ourWebhooksOf(webhook).every(({ clientConfig }) => routeOf(clientConfig) !== undefined);
}
