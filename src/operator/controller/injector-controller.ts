import { setImmediate as nextTurn } from 'node:timers/promises';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { leaderLeaseName } from '../../api/names.ts';
import { type GenerateKeyPair, generateRsaKeyPair } from '../../certs/key-pair.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { createLeaseElector } from '../../kube/lease-elector.ts';
import { ObjectStore } from '../../kube/object-store.ts';
import { type FollowingParts, Reflector, type ReflectorOptions } from '../../kube/reflector.ts';
import type { ResourceKind } from '../../kube/resource-kinds.ts';
import { KeyPairPool } from '../certificates/key-pair-pool.ts';
import {
  changesKubelets,
  ClusterView,
  injectorConfigs,
  namespaces,
  nodes,
  onlyKubeletFacts,
  ownedSelector,
  pods,
  revisionTags,
} from '../cluster-view.ts';
import type { OperatorMetrics, RehearsePods, ReplicaReports, TryConfiguration } from '../ports.ts';
import type { OperatorSettings } from '../settings.ts';
import { TagTargets } from '../tags/tag-targets.ts';
import { createReconcilers, type Reconcilers } from './create-reconcilers.ts';
import { parsedConfig } from './parsed-configs.ts';
import { ReconcileLoop } from './reconcile-loop.ts';
import { type ObjectChange, otherKeys, tagIn, WakeUps } from './wake-ups.ts';

export interface ControllerOptions extends FollowingParts {
  readonly client: ApiClient;
  readonly settings: OperatorSettings;
  readonly reports: ReplicaReports;
  /** Tries a configuration as a replica does before it loads the configuration. */
  readonly tryOne: TryConfiguration;
  readonly rehearse: RehearsePods;
  readonly metrics: OperatorMetrics;
  readonly generateKeyPair?: GenerateKeyPair;
}

/**
 * The objects per page, and the pause between pages in milliseconds. A page blocks the event loop
 * for 0.1 to 0.2 ms per pod, so small pages keep admissions fast in a process that serves them.
 * Each page costs a round trip, which is slow on a busy machine, so other processes read large
 * pages: etcd forgets a list after 5 minutes, and the list would never end.
 */
const paging = {
  serving: { pageSize: 25, pagePauseMs: 10 },
  alone: { pageSize: 250, pagePauseMs: 0 },
};

/** Watches InjectorConfigs and their objects; reconciles while this process holds the Lease. */
export class InjectorController {
  readonly wakeUps: WakeUps;
  readonly #options: ControllerOptions;
  readonly #view: ClusterView;
  readonly #keyPairs: KeyPairPool;
  readonly #elector: ReturnType<typeof createLeaseElector>;
  readonly #reconcilers: Reconcilers;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>[] = [];
  readonly #paging: (typeof paging)['alone'];
  /** Undefined unless this process leads. */
  #loop: ReconcileLoop | undefined;

  constructor(options: ControllerOptions) {
    const { settings, logger } = options;
    const { namespace, operatorClass } = settings.context;
    this.#options = options;
    this.#paging = settings.role === 'controller' ? paging.alone : paging.serving;
    this.#view = new ClusterView(namespace, operatorClass);
    this.#keyPairs = new KeyPairPool(options.generateKeyPair ?? generateRsaKeyPair);
    this.#elector = createLeaseElector({
      ...options,
      namespace,
      name: leaderLeaseName(operatorClass),
      identity: settings.identity,
      timeScale: settings.testLeaseTimeScale ?? 1,
      onHolder: (holder) => logger.info('another process leads; standing by', { holder }),
    });
    const targets = new TagTargets(this.#view, operatorClass);
    // The queue exists only while this process leads.
    const wake = (key: string): void => this.#loop?.add(key);
    this.wakeUps = new WakeUps({ view: this.#view, targets, owner: settings.owner, add: wake });
    this.#reconcilers = createReconcilers({
      ...options,
      view: this.#view,
      targets,
      holdsLease: () => this.#elector.holds,
      generateKeyPair: this.#keyPairs.take,
      wake,
      onPublished: (name) => this.wakeUps.tagsOf(name),
      followObject: (resource, store, { namespace, name }, signal) => {
        this.#follow(resource, store, { namespace, fieldSelector: `metadata.name=${name}` }, signal);
      },
      followCollection: ({ resource, store, keep, fieldSelector, signal }) =>
        this.#follow(resource, store, { transform: keep, fieldSelector, ...this.#paging }, signal),
      followOurs: (resource, store) =>
        this.#followOwned(resource, store, { labelSelector: ownedSelector(operatorClass) }),
    });
  }

  /** Whether all collections that a pass reads have been listed. */
  get synced(): boolean {
    return this.#view.hasSynced;
  }

  /** Whether this process holds the Lease and reconciles. */
  get leading(): boolean {
    return this.#loop !== undefined;
  }

  /** Prevents new work. {@link stopped} waits for the work that is in progress. */
  stop(): void {
    this.#stop.abort(new Error('the operator is stopping'));
  }

  /** Resolves when all work has ended and the Lease is released. */
  async stopped(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** Watches a collection until the controller stops, and reports each change. */
  watch(resource: ResourceKind, namespace: string | undefined, onChange: (change: ObjectChange) => void): void {
    const { configs, tags } = this.#view;
    const store = resource === injectorConfigs ? configs : resource === revisionTags ? tags : new ObjectStore();
    store.subscribe(onChange);
    this.#follow(resource, store, { namespace }, this.#stop.signal);
  }

  /**
   * Watches all collections that a pass reads, except InjectorConfigs and RevisionTags. Joins the
   * leader election once all collections are listed. A process that cannot list a collection, as
   * during an upgrade, must not hold the Lease: it would block other processes.
   */
  start(): void {
    const { settings, logger, reports } = this.#options;
    const { signal } = this.#stop;
    if (settings.owner === undefined) {
      logger.warn('no owner is set (--owner): if the operator is removed by force, its webhooks remain and block pods');
    }
    for (const { resource, store, ...where } of this.#view.owned()) this.#followOwned(resource, store, where);
    const { nodes: store } = this.#view;
    store.subscribe((change) => {
      if (store.hasSynced && changesKubelets(change)) this.wakeUps.nodes();
    });
    this.#follow(nodes, store, { transform: onlyKubeletFacts }, signal);
    reports.subscribe(() => this.wakeUps.all());
    const listed = this.#view.synced(signal, reports.synced());
    this.#running.push(listed.then(() => this.#elector.run(signal, (leading) => this.#lead(leading))));
  }

  /** Leads until the signal aborts: reconciles all keys once, then keys that change or are due. */
  async #lead(leading: AbortSignal): Promise<void> {
    const { settings, metrics } = this.#options;
    // Otherwise, the first pass would parse all InjectorConfigs in one turn of the event loop.
    for (const object of this.#view.configs.list()) {
      parsedConfig(object);
      await nextTurn();
    }
    if (leading.aborted) return;
    if (settings.followPods !== false) this.#followPods(leading);
    const loop = new ReconcileLoop({ ...this.#options, reconcile: (key, signal) => this.#reconcile(key, signal) });
    this.#loop = loop;
    metrics.leading?.(true);
    this.#keyPairs.fill();
    this.wakeUps.everything();
    await loop.run(leading);
    this.#loop = undefined;
    metrics.leading?.(false);
  }

  /** Watches pods and namespaces while leading, for Events about pods and for usage. */
  #followPods(leading: AbortSignal, isRestart = false): void {
    const ended = new AbortController();
    const signal = AbortSignal.any([leading, ended.signal]);
    const restart = (): void => {
      ended.abort();
      this.#followPods(leading, true);
    };
    const stores = this.#reconcilers.followPods(signal, restart, isRestart);
    this.#follow(namespaces, stores.namespaces, { transform: stores.keepOfNamespace, ...this.#paging }, signal);
    this.#follow(pods, stores.pods, { transform: stores.keepOfPod, ...this.#paging }, signal);
  }

  #reconcile(key: string, signal: AbortSignal): Promise<number> {
    const { validator, servingRole, revisions, tags, restarts, keeper } = this.#reconcilers;
    const tag = tagIn(key);
    if (tag !== undefined) return tags.reconcile(tag, signal);
    switch (key) {
      case otherKeys.validator:
        return validator.reconcile(signal);
      case otherKeys.servingRole:
        return servingRole.reconcile(signal);
      case otherKeys.replicas:
        return this.#options.reports.removeExpired(signal);
      case otherKeys.restarts:
        return restarts.pass(signal);
      case otherKeys.heldPods:
        return keeper.pass(signal);
      default:
        return revisions.reconcile(key, signal);
    }
  }

  /** Watches one of our collections until the controller stops. */
  #followOwned(resource: ResourceKind, store: ObjectStore, where: Partial<ReflectorOptions<KubernetesObject>>): void {
    store.subscribe((change) => this.wakeUps.owned(change));
    this.#follow(resource, store, where, this.#stop.signal);
  }

  #follow<T extends KubernetesObject>(
    resource: ResourceKind,
    store: ObjectStore<T>,
    how: Partial<ReflectorOptions<T>>,
    signal: AbortSignal,
  ): void {
    const { client, clock, random, logger, metrics: observer } = this.#options;
    const reflector = new Reflector({
      ...{ client, clock, random, logger, observer, resource, store },
      // Keep managedFields, which decide whether an object must be written.
      transform: (object) => object,
      onRecovered: () => this.#loop?.recovered(),
      ...how,
    });
    this.#running.push(reflector.run(AbortSignal.any([signal, this.#stop.signal])));
  }
}
