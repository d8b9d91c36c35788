import { ConfigurationError } from '../../api/errors.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { labelNames, objectNames, validatorNames } from '../../api/names.ts';
import { parseBundle } from '../../certs/read-certificate.ts';
import { isAccepted } from '../../certs/rotation/rotation-state.ts';
import type { ServingPair } from '../../certs/verify-chain.ts';
import type { NodeFacts } from '../../inject/injection-request.ts';
import { messageOf } from '../../kube/api-error.ts';
import { ObjectStore, type StoreChange } from '../../kube/object-store.ts';
import { type FollowingParts, Reflector, type ReflectorOptions } from '../../kube/reflector.ts';
import { routeOf } from '../../routing/route.ts';
import { configMaps, injectorConfigOf, mutatingWebhooks, nodes, ownedSelector, secrets } from '../cluster-view.ts';
import { verifiedFiles } from '../configurations/last-good.ts';
import type { InjectorRegistryPort, LoadConfiguration, NodeSource, ServingCertificatesPort } from '../ports.ts';
import { validatorReport, type ServedConfiguration } from './replica-lease.ts';
import { servingPairOf } from '../certificates/secret-text.ts';
import { keptConfigurations } from '../settings.ts';
import { ourWebhooksOf } from '../webhooks/published-webhook.ts';

export interface ReplicaOptions extends FollowingParts {
  readonly namespace: string;
  readonly operatorClass: string;
  readonly registry: InjectorRegistryPort;
  readonly load: LoadConfiguration;
  readonly certificates: ServingCertificatesPort;
}

/**
 * What is taken away stays served this long: API servers learn of a new path, or of a webhook's removal, by their own watches. Milliseconds.
 */
const lingerMs = 15_000;

/** How long a pair of strangers is left to the leader, which puts such a Secret right within a second, before it is taken over after all. */
const strangerMs = 3000;

/** After how long a configuration is loaded again that could not be tried: the machine was to blame. Milliseconds. */
const triedAgainMs = 5000;

/** A serving Secret that is followed, alone: that is all a replica may read of Secrets. */
interface FollowedSecret {
  readonly store: ObjectStore;
  readonly stop: AbortController;
}

/**
 * The serving side of the operator: follows hashed ConfigMaps and, by name, the serving Secrets of the InjectorConfigs that have any; and keeps the
 * injectors and certificates in memory equal to them. Nothing here is on the path of a request, and nothing that goes wrong here takes away what
 * is served already.
 */
export class Replica implements NodeSource {
  readonly #options: ReplicaOptions;
  readonly #configMaps = new ObjectStore();
  /** By the Secret's name. */
  readonly #secrets = new Map<string, FollowedSecret>();
  readonly #nodes = new ObjectStore();
  readonly #webhooks = new ObjectStore();
  readonly #starting = new AbortController();
  readonly #stop = new AbortController();
  readonly #listeners: (() => void)[] = [];
  /** What waits to be loaded, by the ConfigMap's name: one at a time, so that requests get their turn in between. */
  readonly #toLoad = new Map<string, KubernetesObject>();
  /** The pairs that are served, by the Secret's name. */
  readonly #pairs = new Map<string, ServingPair>();
  /** The hashes that are loaded, by InjectorConfig. */
  readonly #loaded = new Map<string, Set<string>>();
  /** Configurations, by the ConfigMap's name, that could not be tried: until they are, this replica is not ready. */
  readonly #untried = new Set<string>();
  #loading = false;
  #nodeFacts: readonly NodeFacts[] | undefined;

  constructor(options: ReplicaOptions) {
    this.#options = options;
  }

  /** Begins to follow; returns at once. */
  start(): void {
    const { operatorClass } = this.#options;
    const owned = ownedSelector(operatorClass);
    this.#configMaps.subscribe((change) => this.#onConfigMap(change));
    this.#nodes.subscribe(({ object, before }) => {
      // Heartbeats change nothing here, and the list stays the same object for those who compare.
      const isNews =
        before === undefined || kubeletFacts(before).kubeletVersion !== kubeletFacts(object).kubeletVersion;
      if (isNews || this.#nodes.get(object.metadata.name ?? '') === undefined) this.#nodeFacts = undefined;
    });
    const labelSelector = `${owned},${labelNames.configurationHash}`;
    this.#follow({ resource: configMaps, store: this.#configMaps, labelSelector });
    const webhooks = { resource: mutatingWebhooks, store: this.#webhooks, namespace: undefined, labelSelector: owned };
    this.#follow(webhooks, AbortSignal.any([this.#stop.signal, this.#starting.signal]));
    this.#followSecret(validatorNames(operatorClass).servingSecret);
    this.#follow({ resource: nodes, store: this.#nodes, namespace: undefined, transform: withoutAllButKubelet });
  }

  /** Ends the watches; what is loaded stays served. */
  stop(): void {
    this.#stop.abort();
  }

  /** True once all that was there is loaded and each webhook's path can be read: from then on an unknown hash is unknown. */
  get ready(): boolean {
    const stores = [this.#configMaps, this.#webhooks, ...[...this.#secrets.values()].map(({ store }) => store)];
    const isLoaded = stores.every(({ hasSynced }) => hasSynced) && this.#toLoad.size + this.#untried.size === 0;
    if (isLoaded && this.#webhooks.list().every(hasReadablePaths)) this.#starting.abort();
    return this.#starting.signal.aborted;
  }

  /** The cluster's nodes as last seen; none before they have been read. */
  nodes(): readonly NodeFacts[] {
    this.#nodeFacts ??= this.#nodes.list().map(kubeletFacts);
    return this.#nodeFacts;
  }

  /** What is in memory, by InjectorConfig; the validating webhook's certificate under {@link validatorReport}. */
  serves(): ReadonlyMap<string, ServedConfiguration> {
    const { certificates, operatorClass } = this.#options;
    const fingerprints = new Map(certificates.all().map(({ owner, fingerprint }) => [owner, fingerprint]));
    const served = (secret: string, hashes: Iterable<string>): ServedConfiguration => {
      const certificate = fingerprints.get(secret);
      return { hashes: [...hashes].sort(), ...(certificate === undefined ? {} : { certificate }) };
    };
    const validator = served(validatorNames(operatorClass).servingSecret, []);
    const revisions = [...this.#loaded].map(([name, hashes]): [string, ServedConfiguration] => {
      return [name, served(objectNames(name).servingSecret, hashes)];
    });
    return new Map([[validatorReport, validator], ...revisions]);
  }

  /** Is told whenever {@link serves} may have changed. */
  subscribe(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** @param what also by which selector; of this namespace unless told */
  #follow(
    what: Pick<ReflectorOptions<KubernetesObject>, 'resource' | 'store'> & Partial<ReflectorOptions<KubernetesObject>>,
    signal = this.#stop.signal,
  ): void {
    void new Reflector({ ...this.#options, ...what }).run(signal);
  }

  /** A watch of one Secret is authorized by its name. */
  #followSecret(name: string): void {
    if (this.#secrets.has(name)) return;
    const followed = { store: new ObjectStore(), stop: new AbortController() };
    this.#secrets.set(name, followed);
    followed.store.subscribe((change) => this.#onSecret(change));
    const signal = AbortSignal.any([this.#stop.signal, followed.stop.signal]);
    this.#follow({ resource: secrets, store: followed.store, fieldSelector: `metadata.name=${name}` }, signal);
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
    if (name !== undefined) this.#followSecret(objectNames(name).servingSecret);
    if (this.#loading) return;
    this.#loading = true;
    setImmediate(() => void this.#loadAll());
  }

  async #loadAll(): Promise<void> {
    for (let [next] = this.#toLoad; next !== undefined; [next] = this.#toLoad) {
      const [key, object] = next;
      await this.#load(object);
      // A newer one may have come meanwhile.
      if (this.#toLoad.get(key) === object) this.#toLoad.delete(key);
      this.#tell();
    }
    this.#loading = false;
  }

  async #load(object: KubernetesObject): Promise<void> {
    const { registry, load, logger } = this.#options;
    const name = injectorConfigOf(object);
    const configMap = object.metadata.name;
    const verified = verifiedFiles(object);
    if (name === undefined || verified === undefined) {
      logger.error('a configuration is not what its label says and is not loaded', { configMap });
      return;
    }
    const { files, hash } = verified;
    if (registry.get(name, hash) !== undefined) return;
    try {
      registry.set(name, hash, await load(files));
      this.#loaded.set(name, (this.#loaded.get(name) ?? new Set()).add(hash));
      logger.info('loaded', { injectorConfig: name, hash });
    } catch (error) {
      if (!(error instanceof ConfigurationError)) this.#tryAgainLater(object);
      logger.error('a configuration cannot be loaded', { configMap, error: messageOf(error) });
    }
  }

  #tryAgainLater(object: KubernetesObject): void {
    const { clock, namespace } = this.#options;
    const key = object.metadata.name ?? '';
    this.#untried.add(key);
    clock.after(triedAgainMs, () => {
      this.#untried.delete(key);
      if (this.#configMaps.get(key, namespace) === object)
        this.#onConfigMap({ type: 'Modified', object, before: object });
    });
  }

  #onSecret({ type, object }: StoreChange<KubernetesObject>): void {
    const { namespace, clock, logger } = this.#options;
    const owner = object.metadata.name ?? '';
    if (type === 'Deleted') {
      this.#collectLater(object);
      return;
    }
    const pair = servingPairOf(object);
    if (!isUnrelated(pair, this.#pairs.get(owner), clock.now())) {
      this.#take(owner, pair);
      return;
    }
    logger.warn('a serving certificate has no authority in common with the one in memory, which stays for now', {
      secret: owner,
      seconds: strangerMs / 1000,
    });
    clock.after(strangerMs, () => {
      if (this.#secrets.get(owner)?.store.get(owner, namespace) === object) this.#take(owner, pair);
    });
  }

  #take(owner: string, pair: ServingPair): void {
    const { certificates, clock, logger } = this.#options;
    const faults = certificates.offer(owner, pair, clock.now());
    if (faults.length > 0) {
      const problem = faults.map(({ message }) => message).join('; ');
      logger.error('a serving certificate cannot be used; the last good one stays', { secret: owner, problem });
      return;
    }
    this.#pairs.set(owner, pair);
    this.#tell();
  }

  #collectLater(deleted: KubernetesObject): void {
    const name = injectorConfigOf(deleted);
    if (name === undefined) return;
    // The pair stays served for late calls. An InjectorConfig that is applied again has another.
    if (this.#isGone(name)) this.#pairs.delete(objectNames(name).servingSecret);
    this.#options.clock.after(lingerMs, () => this.#collect(name));
  }

  /**
   * Lets go of what an InjectorConfig no longer needs: all of it when neither a configuration nor a Secret is left, and configurations that were
   * pruned because newer ones are there. A single object that is missing was taken by mistake: with it pods could not start.
   */
  #collect(name: string): void {
    const { registry, certificates, logger } = this.#options;
    const { servingSecret } = objectNames(name);
    const stored = this.#stored(name);
    const isGone = this.#isGone(name);
    if (!isGone && stored.length < keptConfigurations) return;
    const loaded = this.#loaded.get(name) ?? new Set();
    for (const hash of loaded) {
      if (stored.includes(hash)) continue;
      registry.delete(name, hash);
      loaded.delete(hash);
      logger.info('unloaded', { injectorConfig: name, hash });
    }
    if (isGone) {
      this.#loaded.delete(name);
      certificates.remove(servingSecret);
      this.#pairs.delete(servingSecret);
      this.#secrets.get(servingSecret)?.stop.abort();
      this.#secrets.delete(servingSecret);
    }
    this.#tell();
  }

  /** The hashes of an InjectorConfig's ConfigMaps. */
  #stored(name: string): (string | undefined)[] {
    const all = this.#configMaps.list();
    return all
      .filter((object) => injectorConfigOf(object) === name)
      .map(({ metadata }) => metadata.labels?.[labelNames.configurationHash]);
  }

  #isGone(name: string): boolean {
    const { servingSecret } = objectNames(name);
    const secret = this.#secrets.get(servingSecret)?.store.get(servingSecret, this.#options.namespace);
    return secret === undefined && this.#stored(name).length === 0;
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

/**
 * Whether a pair has nothing to do with the one in memory, which is still good: its authorities do not verify that one. A rotation always overlaps, so
 * somebody else wrote it, or this replica has missed a whole rotation.
 */
export function isUnrelated(pair: ServingPair, inMemory: ServingPair | undefined, now: Date): boolean {
  const certificatePem = inMemory?.certificatePem ?? '';
  const [leaf] = parseBundle(certificatePem);
  // With its intermediates, which a certificate of the user's own may need to be verified.
  return leaf !== undefined && leaf.notAfter > now && !isAccepted(certificatePem, pair.caPem, now);
}

/** A path that cannot be read is of a newer version, whose leader writes another one once it has seen our Lease. */
function hasReadablePaths(webhook: KubernetesObject): boolean {
  return ourWebhooksOf(webhook).every(({ clientConfig }) => routeOf(clientConfig) !== undefined);
}

/** What injection reads of a Node. */
function kubeletFacts({ metadata, status }: KubernetesObject): NodeFacts {
  const { nodeInfo } = (status ?? {}) as { nodeInfo?: { kubeletVersion?: string } };
  return { name: metadata.name ?? '', kubeletVersion: nodeInfo?.kubeletVersion ?? '' };
}

/** Nodes are large and change with every heartbeat; only this much of them is kept. */
function withoutAllButKubelet(node: KubernetesObject): KubernetesObject {
  const { name = '', resourceVersion = '' } = node.metadata;
  const { kubeletVersion } = kubeletFacts(node);
  const { apiVersion, kind } = node;
  return { apiVersion, kind, metadata: { name, resourceVersion }, status: { nodeInfo: { kubeletVersion } } };
}
