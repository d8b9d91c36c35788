import { leaderLeaseName } from '../../api/names.ts';
import operatorModule, { type ResourceEvent } from '@dot-i/k8s-operator';
import { group, injectorConfigPlural, version } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { revisionTagPlural } from '../../api/revision-tag/revision-tag.ts';
import { type GenerateKeyPair, generateRsaKeyPair } from '../../certs/key-pair.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import type { KubeConfig } from '../../kube/kube-config.ts';
import { LeaseElector } from '../../kube/lease-elector.ts';
import { ObjectStore } from '../../kube/object-store.ts';
import { type FollowingParts, Reflector, type ReflectorOptions } from '../../kube/reflector.ts';
import { apiVersionOf, kindServedAs, type ResourceKind, resourcePath } from '../../kube/resource-kinds.ts';
import { ClusterView, injectorConfigs, namespaces, ownedSelector, pods, revisionTags } from '../cluster-view.ts';
import type { LoadConfiguration, OperatorMetrics, RehearsePods, ReplicaReports } from '../ports.ts';
import { ReconcileLoop } from './reconcile-loop.ts';
import { KeyPairPool } from '../certificates/key-pair-pool.ts';
import { createReconcilers, type Reconcilers } from './create-reconcilers.ts';
import type { OperatorSettings } from '../settings.ts';
import { otherKeys, tagIn, WakeUps } from './wake-ups.ts';

export interface InjectorOperatorOptions extends FollowingParts {
  readonly kubeConfig: KubeConfig;
  readonly client: ApiClient;
  readonly settings: OperatorSettings;
  readonly reports: ReplicaReports;
  /** Compiles a configuration as a replica does. */
  readonly load: LoadConfiguration;
  readonly rehearse: RehearsePods;
  readonly metrics: OperatorMetrics;
  readonly generateKeyPair?: GenerateKeyPair;
}

/**
 * The objects per page, and the pause between pages in milliseconds. Small pages keep admissions
 * fast in a process of role `all`. A list of 10,000 pods takes about 15 s; no work waits for it.
 */
const gentlyPaged = { pageSize: 25, pagePauseMs: 20 };

/** The delay before an event whose handler threw is delivered again, in milliseconds. */
const redeliveryMs = 1000;

const { default: Operator, ResourceEventType, ResourceMetaImpl } = operatorModule;

/**
 * The controller: watches InjectorConfigs and their objects; reconciles while it holds the Lease.
 *
 * Keeps the life cycle (`start` calls `init`) and the events of the library's Operator. Overrides
 * its watches (the library exits on any error, and drops an event whose handler throws), its URIs
 * (which the library's client no longer has), `stop`, and the kubeconfig.
 */
export class InjectorOperator extends Operator {
  readonly #options: InjectorOperatorOptions;
  readonly #view: ClusterView;
  readonly #reconcilers: Reconcilers;
  readonly #keyPairs: KeyPairPool;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>[] = [];
  readonly #elector: LeaseElector;
  readonly #wakeUps: WakeUps;
  /** Undefined unless this process leads. */
  #loop: ReconcileLoop | undefined;
  readonly #enqueue = (key: string): void => this.#loop?.add(key);

  constructor(options: InjectorOperatorOptions) {
    const restoreEnvironment = withoutDefaultKubeconfig();
    super(options.logger);
    restoreEnvironment();
    this.kubeConfig = options.kubeConfig;
    this.#options = options;
    const { settings, logger } = options;
    const { context, leaseTimeScale: timeScale = 1 } = settings;
    this.#view = new ClusterView(context.namespace, context.operatorClass);
    this.#keyPairs = new KeyPairPool(options.generateKeyPair ?? generateRsaKeyPair);
    this.#elector = new LeaseElector({
      ...options,
      namespace: context.namespace,
      name: leaderLeaseName(context.operatorClass),
      identity: settings.identity,
      timeScale,
      onHolder: (holder) => logger.info('another process leads; standing by', { holder }),
    });
    this.#reconcilers = createReconcilers({
      ...options,
      holdsLease: () => this.#elector.holds,
      view: this.#view,
      generateKeyPair: this.#keyPairs.take,
      wake: this.#enqueue,
      onPublished: (name) => this.#wakeUps.tagsOf(name),
      followObject: (resource, store, { namespace, name }, signal) => {
        this.#follow(resource, store, { namespace, fieldSelector: `metadata.name=${name}` }, signal);
      },
      followCollection: ({ resource, store, keep, fieldSelector, signal }) =>
        this.#follow(resource, store, { transform: keep, fieldSelector, ...gentlyPaged }, signal),
      followOurs: (resource, store) => {
        store.subscribe((change) => this.#wakeUps.owned(change));
        const labelSelector = ownedSelector(context.operatorClass);
        this.#follow(resource, store, { labelSelector }, this.#stop.signal);
      },
    });
    const { targets } = this.#reconcilers;
    this.#wakeUps = new WakeUps({ view: this.#view, targets, owner: settings.owner, add: this.#enqueue });
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
  override stop(): void {
    this.#stop.abort(new Error('the operator is stopping'));
  }

  /** Resolves when all work has ended and the Lease is released. */
  async stopped(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** Returns the complete URI of a collection in the chosen cluster. */
  protected override getCustomResourceApiUri(
    group: string,
    version: string,
    plural: string,
    namespace?: string,
  ): string {
    return this.#options.client.server + resourcePath({ group, version, plural }, { namespace });
  }

  /** Watches a collection until the operator stops. Repeats each event until `onEvent` succeeds. */
  protected override watchResource(
    group: string,
    version: string,
    plural: string,
    onEvent: (event: ResourceEvent) => Promise<void>,
    namespace?: string,
  ): Promise<void> {
    const resource = kindServedAs(group, version, plural) ?? { group, version, plural, kind: plural, namespaced: true };
    const store = this.#storeFollowing(resource);
    const { logger, clock } = this.#options;
    const id = `${plural}.${apiVersionOf(resource)}`;
    const deliver = async (event: ResourceEvent): Promise<void> => {
      try {
        await onEvent(event);
      } catch (error) {
        logger.error('the handler of an event failed; delivering the event again', { id, error: String(error) });
        clock.after(redeliveryMs, () => void deliver(event));
      }
    };
    store.subscribe(({ type, object }) => {
      // The library declares times in metadata as Dates, but its own watches deliver JSON as well.
      const raw = object as unknown as ResourceEvent['object'];
      const meta = ResourceMetaImpl.createWithPlural(plural, raw);
      void deliver({ meta, object: raw, type: ResourceEventType[type] });
    });
    this.#follow(resource, store, { namespace }, this.#stop.signal);
    logger.debug(`watching ${id}`);
    return Promise.resolve();
  }

  #storeFollowing(resource: ResourceKind): ObjectStore {
    if (resource === injectorConfigs) return this.#view.configs;
    return resource === revisionTags ? this.#view.tags : new ObjectStore();
  }

  protected override async init(): Promise<void> {
    const { settings, logger, reports } = this.#options;
    if (settings.owner === undefined) {
      logger.warn('no owner is set (--owner): if the operator is removed by force, its webhooks remain and block pods');
    }
    for (const { resource, store, ...where } of this.#view.owned()) {
      store.subscribe((change) => this.#wakeUps.owned(change));
      this.#follow(resource, store, where, this.#stop.signal);
    }
    reports.subscribe(() => this.#wakeUps.all());
    await this.watchResource(group, version, injectorConfigPlural, ({ type, meta, object }) => {
      this.#wakeUps.config(meta.name, object as unknown as KubernetesObject, type === ResourceEventType.Deleted);
      return Promise.resolve();
    });
    await this.watchResource(group, version, revisionTagPlural, ({ type, meta, object }) => {
      this.#wakeUps.tag(meta.name, object as unknown as KubernetesObject, type === ResourceEventType.Deleted);
      return Promise.resolve();
    });
    this.#running.push(this.#runForLeader());
  }

  /**
   * Joins the leader election once all collections are listed. A process that cannot list a
   * collection, as during an upgrade, must not hold the Lease: it would block other processes.
   */
  async #runForLeader(): Promise<void> {
    await this.#view.synced(this.#stop.signal, this.#options.reports.synced());
    await this.#elector.run(this.#stop.signal, (leading) => this.#lead(leading));
  }

  /** Leads until the signal aborts: reconciles all keys once, then keys that change or are due. */
  async #lead(leading: AbortSignal): Promise<void> {
    const { settings, metrics } = this.#options;
    if (settings.followPods !== false) this.#followPods(leading);
    const loop = new ReconcileLoop({ ...this.#options, reconcile: (key, signal) => this.#reconcile(key, signal) });
    this.#loop = loop;
    metrics.leading?.(true);
    this.#keyPairs.fill();
    this.#wakeUps.everything();
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
    this.#follow(namespaces, stores.namespaces, { transform: stores.keepOfNamespace }, signal);
    this.#follow(pods, stores.pods, { transform: stores.keepOfPod, ...gentlyPaged }, signal);
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

/**
 * Hides the default kubeconfig until the returned function is called. The library's constructor
 * always loads that file, but a broken file must not stop a process that uses another kubeconfig.
 */
function withoutDefaultKubeconfig(): () => void {
  const { KUBECONFIG: kubeconfig, HOME: home } = process.env;
  delete process.env.KUBECONFIG;
  delete process.env.HOME;
  return () => {
    if (kubeconfig !== undefined) process.env.KUBECONFIG = kubeconfig;
    if (home !== undefined) process.env.HOME = home;
  };
}
