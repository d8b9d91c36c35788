import { setMaxListeners } from 'node:events';
import type { ReportedFailure } from '../replicas/report-annotations.ts';
import type { Condition, KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { emptyShadowReport, type ShadowReport } from '../../rollout/shadow-report.ts';
import { pooledKeys } from '../../certs/testdata/key-pool.ts';
import { loadInjector } from '../../inject/injector.ts';
import { rehearse } from '../../inject/rehearsal/rehearse.ts';
import { ApiClient } from '../../kube/api-client.ts';
import { capturingLogger } from '../../kube/testdata/capturing-logger.ts';
import { ManualClock, until } from '../../kube/testdata/manual-clock.ts';
import type { ObjectStore } from '../../kube/object-store.ts';
import type { Clock } from '../../kube/ports.ts';
import { Reflector, type ReflectorOptions } from '../../kube/reflector.ts';
import { context } from '../../manifests/testdata/manifest-context.ts';
import { ClusterView, injectorConfigs, nodes, revisionTags } from '../cluster-view.ts';
import { createReconcilers, type Reconcilers } from '../controller/create-reconcilers.ts';
import type { LoadConfiguration, OperatorMetrics, RehearsePods, ReplicaReports, TryConfiguration } from '../ports.ts';
import type { ReplicaReport } from '../replicas/replica-leases.ts';
import { type PathFormat, pathFormats } from '../../routing/route.ts';
import type { OperatorSettings } from '../settings.ts';
import { TagTargets } from '../tags/tag-targets.ts';
import { MemoryCluster, parsePath } from './memory-cluster.ts';

export { context };

/** Returns an InjectorConfig as stored by the API server, without the parser's defaults. */
export function injectorConfig(name: string, spec: Record<string, unknown> = {}): KubernetesObject {
  return {
    apiVersion: 'sidecar-injector.io/v1alpha1',
    kind: 'InjectorConfig',
    metadata: { name },
    spec: { injection: { templates: { sidecar: template('one') } }, ...spec },
  };
}

export function template(image: string): string {
  return `spec:\n  containers:\n  - name: proxy\n    image: ${image}\n`;
}

/** Returns short keys that all tests share, because generating and reading keys is slow. */
export const nextKeyPair = pooledKeys();

/** Loads a configuration in one step, as a process that serves no admission requests does. */
export const loadAtOnce: LoadConfiguration = (files) => Promise.resolve().then(() => loadInjector(files));

/** Tries a configuration in this process; the result has the injected typical pods. */
export const tryAtOnce: TryConfiguration = async (files) => {
  const injector = await loadAtOnce(files);
  const { injected } = rehearse(injector, () => 0);
  return { ...injector, rehearsal: { warnings: [], injected } };
};

export const rehearseAtOnce: RehearsePods = async (files, pods) => rehearse(await loadAtOnce(files), () => 0, pods);

/** Replica reports that a test sets. */
export class ScriptedReports implements ReplicaReports {
  missing: string[] = [];
  /** The fingerprint of every replica's certificate; undefined matches any fingerprint. */
  certificate: string | undefined;
  live: ReplicaReport[] = [];
  shadow: ShadowReport = emptyShadowReport;
  readonly subscribe = (): void => undefined;
  readonly lacking = (_name: string, _hash: string, fingerprint = this.certificate): readonly string[] =>
    fingerprint === (this.certificate ?? fingerprint) ? this.missing : ['replica-1'];
  readonly replicas = (): readonly ReplicaReport[] => this.live;
  readonly removeExpired = (): Promise<number> => Promise.resolve(60_000);
  readonly synced = (): Promise<void> => Promise.resolve();
  old: string[] = [];
  readonly notHolding = (): readonly string[] => this.old;
  format: PathFormat | string = pathFormats[0]!;
  readonly pathFormat = (): PathFormat | string => this.format;
  readonly shadowReport = (): ShadowReport => this.shadow;
  failing: ReportedFailure | undefined;
  readonly failures = (): ReportedFailure | undefined => this.failing;
}

/** A write of the operator that the cluster has performed. */
export interface PerformedWrite {
  readonly verb: string;
  /** The plural, with the subresource: `revisiontags/status`. */
  readonly resource: string;
  readonly name: string;
  readonly body: string;
  /** The time of the write, in milliseconds since 1970. */
  readonly at: number;
}

const verbs: Record<string, string> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };
const uncounted = ['events', 'leases', 'selfsubjectaccessreviews'];

type Collection = Partial<ReflectorOptions<KubernetesObject>> & Pick<ReflectorOptions<KubernetesObject>, 'resource' | 'store'>;

function versionsOf(objects: readonly KubernetesObject[]): string {
  return objects.map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}@${metadata.resourceVersion}`).sort().join();
}

/** Starts a fixture before each test of a suite, and stops it afterwards. */
export function eachTest<T extends Pick<OperatorFixture, 'start' | 'stop'>>(fixture: T): T {
  beforeEach(() => fixture.start());
  afterEach(() => fixture.stop());
  return fixture;
}

/** The reconcilers on an in-memory cluster, with real watches and a manual clock. */
export class OperatorFixture {
  readonly cluster = new MemoryCluster();
  readonly clock = new ManualClock(Date.UTC(2026, 5, 1));
  readonly logger = capturingLogger();
  readonly reports = new ScriptedReports();
  readonly metrics: OperatorMetrics = {};
  readonly referenceChanges: string[] = [];
  /** The InjectorConfigs whose facts changed, in order. */
  readonly publications: string[] = [];
  /** The writes of all processes, in order, without Leases and Events. */
  readonly performed: PerformedWrite[] = [];
  /** Reports whether the process is killed after this write, which the cluster performs. */
  isFatal: (write: PerformedWrite) => boolean = () => false;
  /** Reports whether this write gets a response, although the cluster does not perform it. */
  isLost: (write: PerformedWrite) => boolean = () => false;
  view!: ClusterView;
  reconcilers!: Reconcilers;
  #stop = new AbortController();
  #running: Promise<void>[] = [];
  #process = new AbortController();
  #clients: ApiClient[] = [];
  #death: Promise<number> = Promise.resolve(0);
  /** For each watch of the process, whether its store equals the cluster. */
  #watches: (() => boolean)[] = [];

  async start(settings: Partial<OperatorSettings> = {}): Promise<void> {
    await this.cluster.start();
    this.restart(settings);
    await this.view.synced(this.#stop.signal);
  }

  /** Starts a new process, with empty memory, on the same cluster. */
  restart(settings: Partial<OperatorSettings> = {}): void {
    const process = new AbortController();
    const alive = AbortSignal.any([process.signal, this.#stop.signal]);
    const client = this.#clientOf(process);
    // The cluster ends no watch, so no watch is hung, however far a test advances the clock.
    const clock: Clock = {
      now: () => this.clock.now(),
      monotonic: () => this.clock.monotonic(),
      after: (milliseconds, callback) => (milliseconds > 30_000 ? () => undefined : this.clock.after(milliseconds, callback)),
    };
    this.#process = process;
    setMaxListeners(0, process.signal);
    this.#death = new Promise((resolve) => process.signal.addEventListener('abort', () => resolve(0)));
    this.#watches = [];
    this.view = new ClusterView(context.namespace, context.operatorClass);
    const follow = (options: Collection, until: AbortSignal): void => {
      const reflector = new Reflector({
        client,
        clock,
        random: () => 0,
        logger: this.logger,
        transform: (object) => object,
        ...options,
      });
      const signal = AbortSignal.any([until, alive]);
      const { resource, store, namespace, labelSelector = '', fieldSelector = '' } = options;
      const stored = (): KubernetesObject[] => this.cluster.list(resource.plural, namespace, { labelSelector, fieldSelector });
      this.#watches.push(() => signal.aborted || (store.hasSynced && versionsOf(store.list()) === versionsOf(stored())));
      this.#running.push(reflector.run(signal));
    };
    follow({ resource: injectorConfigs, store: this.view.configs }, alive);
    follow({ resource: revisionTags, store: this.view.tags }, alive);
    follow({ resource: nodes, store: this.view.nodes }, alive);
    for (const each of this.view.owned()) follow(each, alive);
    this.reconcilers = createReconcilers({
      client,
      holdsLease: () => true,
      settings: { context, identity: 'tester', ...settings },
      view: this.view,
      targets: new TagTargets(this.view, context.operatorClass),
      reports: this.reports,
      logger: this.logger,
      metrics: this.metrics,
      clock: this.clock,
      generateKeyPair: nextKeyPair,
      tryOne: tryAtOnce,
      rehearse: rehearseAtOnce,
      followObject: (resource, store, { namespace, name }, signal) => {
        const fieldSelector = `metadata.name=${name}`;
        follow({ resource, store, namespace, fieldSelector }, signal);
      },
      followCollection: ({ resource, store, keep, fieldSelector, signal }) => {
        follow({ resource, store, transform: keep, fieldSelector } as never, signal);
      },
      followOurs: (resource, store) => follow({ resource, store }, alive),
      wake: (key) => this.referenceChanges.push(key),
      onPublished: (name) => this.publications.push(name),
    });
  }

  /** Ends the process as SIGKILL does: it sends nothing, and no response or event reaches it. */
  kill(): void {
    this.#process.abort();
  }

  /** Aborts when the process is killed. */
  get signal(): AbortSignal {
    return this.#process.signal;
  }

  /** Resolves with the result of a pass, or with 0 if the process is killed in it. */
  untilKilled(pass: Promise<number>): Promise<number> {
    return Promise.race([pass, this.#death]);
  }

  /** Returns the client of a process. A dead process sends nothing, and gets no response. */
  #clientOf(process: AbortController): ApiClient {
    const client = new ApiClient(this.cluster.server.kubeConfig(), { userAgent: 'test' });
    this.#clients.push(client);
    const send = client.request.bind(client);
    client.request = async (method, path, options) => {
      process.signal.throwIfAborted();
      const { plural, namespace, subresource, ...target } = parsePath(path);
      const isPodDryRun = plural === 'pods' && options?.query?.['dryRun'] !== undefined;
      if (method === 'GET' || uncounted.includes(plural) || isPodDryRun) return send(method, path, options);
      const { body = '{}' } = options ?? {};
      const object = JSON.parse(body) as KubernetesObject;
      const name = target.name ?? object.metadata.name ?? '';
      const resource = subresource === undefined ? plural : `${plural}/${subresource}`;
      const write = { verb: verbs[method] ?? '', resource, name, body, at: this.clock.now().getTime() };
      const live = this.isLost(write) ? this.cluster.get(plural, name, namespace) : undefined;
      const response = live === undefined ? await send(method, path, options) : { ...live, ...object, metadata: live.metadata };
      this.performed.push(write);
      if (this.isFatal(write)) process.abort();
      return process.signal.aborted ? new Promise(() => undefined) : response;
    };
    return client;
  }

  /** Waits for the caches, then runs a pass over an InjectorConfig, and then over a given tag. */
  async reconcile(name: string, tag?: string): Promise<number> {
    await this.caughtUp();
    const wait = await this.passNow(name);
    return tag === undefined ? wait : this.reconcileTag(tag);
  }

  /** Runs a pass without waiting for the caches. */
  passNow(name: string): Promise<number> {
    return this.untilKilled(this.reconcilers.revisions.reconcile(name, this.signal));
  }

  /** Waits for the caches, then runs a pass over a tag. */
  async reconcileTag(name: string): Promise<number> {
    await this.caughtUp();
    return this.passTagNow(name);
  }

  /** Runs a pass over a tag without waiting for the caches. */
  passTagNow(name: string): Promise<number> {
    return this.untilKilled(this.reconcilers.tags.reconcile(name, this.signal));
  }

  async caughtUp(): Promise<void> {
    const { view, cluster } = this;
    const ofAllClients = { injectorconfigs: view.configs, revisiontags: view.tags, mutatingwebhookconfigurations: view.mutatingWebhooks };
    const followed = { ...ofAllClients, secrets: view.secrets, services: view.services, configmaps: view.configMaps, validatingwebhookconfigurations: view.validatingWebhooks };
    const isSeen = ([plural, store]: [string, ObjectStore]): boolean => {
      const namespace = ['secrets', 'services', 'configmaps'].includes(plural) ? context.namespace : undefined;
      const stored = cluster.names(plural).flatMap((name) => cluster.get(plural, name, namespace) ?? []);
      const ours = stored.filter(({ metadata }) => plural in ofAllClients || metadata.labels?.['app.kubernetes.io/managed-by'] !== undefined);
      return versionsOf(ours) === versionsOf(store.list());
    };
    await this.until(() => view.hasSynced && Object.entries(followed).every(isSeen));
  }

  /** Waits until every watch of the process has delivered all changes. */
  async watched(): Promise<void> {
    await this.until(() => this.#watches.every((isCurrent) => isCurrent()));
  }

  readonly until = until;

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
    for (const client of this.#clients) client.close();
    await this.cluster.stop();
    // Reset all fields for the next test.
    Object.assign(this, new OperatorFixture());
    [this.#stop, this.#running, this.#clients] = [new AbortController(), [], []];
  }

  statusOf(name: string, plural = 'injectorconfigs'): Record<string, unknown> {
    return (this.cluster.get(plural, name)?.status ?? {}) as Record<string, unknown>;
  }

  /** Returns a condition as `Status/Reason: message`, or `none` if it is absent. */
  condition(name: string, type: string, plural = 'injectorconfigs'): string {
    const conditions = (this.statusOf(name, plural).conditions ?? []) as Condition[];
    const found = conditions.find((each) => each.type === type);
    return found === undefined ? 'none' : `${found.status}/${found.reason}: ${found.message}`;
  }

  events(): string[] {
    return this.cluster.names('events').map((name) => {
      const event = this.cluster.get('events', name, 'default');
      return `${String(event?.reason)}: ${String(event?.note)}`;
    });
  }
}

