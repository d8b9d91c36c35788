import type { ReportedFailure } from '../replicas/failures-annotation.ts';
import type { Condition, KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { emptyShadowReport, type ShadowReport } from '../../rollout/shadow-report.ts';
import { generateRsaKeyPair, type KeyPair } from '../../certs/key-pair.ts';
import { loadInjector, type Injector } from '../../inject/injector.ts';
import { rehearse } from '../../inject/rehearsal/rehearse.ts';
import { capturingLogger } from '../../kube/testdata/capturing-logger.ts';
import { ManualClock, until } from '../../kube/testdata/manual-clock.ts';
import type { ObjectStore } from '../../kube/object-store.ts';
import { Reflector } from '../../kube/reflector.ts';
import { context } from '../../manifests/testdata/manifest-context.ts';
import { ClusterView, injectorConfigs, revisionTags } from '../cluster-view.ts';
import { createReconcilers, type Reconcilers } from '../controller/create-reconcilers.ts';
import type {
  InjectorRegistryPort,
  LoadConfiguration,
  OperatorMetrics,
  RehearsePods,
  ReplicaReport,
  ReplicaReports,
} from '../ports.ts';
import { type PathFormat, pathFormats } from '../../routing/route.ts';
import type { OperatorSettings } from '../settings.ts';
import { MemoryCluster } from './memory-cluster.ts';

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

/** Four key pairs that all tests share, because generating a key pair is slow. */
const keys: Promise<KeyPair>[] = [];
let taken = 0;
export function nextKeyPair(): Promise<KeyPair> {
  const index = taken % 4;
  taken += 1;
  return (keys[index] ??= generateRsaKeyPair(2048));
}

/** Loads a configuration in one step, as a process that serves no admission requests does. */
export const loadAtOnce: LoadConfiguration = (files) => Promise.resolve().then(() => loadInjector(files));

export const rehearseAtOnce: RehearsePods = async (files, pods) => rehearse(await loadAtOnce(files), () => 0, pods).warnings;

export class MemoryRegistry implements InjectorRegistryPort {
  readonly injectors = new Map<string, Injector>();
  get(name: string, hash: string): Injector | undefined {
    return this.injectors.get(`${name}.${hash}`);
  }
  set(name: string, hash: string, injector: Injector): void {
    this.injectors.set(`${name}.${hash}`, injector);
  }
  delete(name: string, hash: string): void {
    this.injectors.delete(`${name}.${hash}`);
  }
}

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
  view!: ClusterView;
  reconcilers!: Reconcilers;
  #stop = new AbortController();
  #running: Promise<void>[] = [];

  async start(settings: Partial<OperatorSettings> = {}): Promise<void> {
    await this.cluster.start();
    this.restart(settings);
    await this.view.synced(this.#stop.signal);
  }

  /** Starts a new process, with empty memory, on the same cluster. */
  restart(settings: Partial<OperatorSettings> = {}): void {
    const { client } = this.cluster;
    this.view = new ClusterView(context.namespace, context.operatorClass);
    const follow = (options: Pick<ConstructorParameters<typeof Reflector>[0], 'resource' | 'store'>, signal: AbortSignal): void => {
      const reflector = new Reflector({
        client,
        clock: this.clock,
        random: () => 0,
        logger: this.logger,
        transform: (object) => object,
        ...options,
      });
      this.#running.push(reflector.run(AbortSignal.any([signal, this.#stop.signal])));
    };
    follow({ resource: injectorConfigs, store: this.view.configs }, this.#stop.signal);
    follow({ resource: revisionTags, store: this.view.tags }, this.#stop.signal);
    for (const each of this.view.owned()) follow(each, this.#stop.signal);
    this.reconcilers = createReconcilers({
      client,
      holdsLease: () => true,
      settings: { context, identity: 'tester', ...settings },
      view: this.view,
      reports: this.reports,
      logger: this.logger,
      metrics: this.metrics,
      clock: this.clock,
      generateKeyPair: nextKeyPair,
      load: loadAtOnce,
      rehearse: rehearseAtOnce,
      followObject: (resource, store, { namespace, name }, signal) => {
        const fieldSelector = `metadata.name=${name}`;
        follow({ resource, store, namespace, fieldSelector } as never, signal);
      },
      followCollection: ({ resource, store, keep, fieldSelector, signal }) => {
        follow({ resource, store, transform: keep, fieldSelector } as never, signal);
      },
      followOurs: (resource, store) => follow({ resource, store }, this.#stop.signal),
      wake: (key) => this.referenceChanges.push(key),
      onPublished: (name) => this.publications.push(name),
    });
  }

  /** Waits for the caches, then runs a pass over an InjectorConfig, and then over a given tag. */
  async reconcile(name: string, tag?: string): Promise<number> {
    await this.caughtUp();
    const wait = await this.passNow(name);
    return tag === undefined ? wait : this.reconcileTag(tag);
  }

  /** Runs a pass without waiting for the caches. */
  passNow(name: string): Promise<number> {
    return this.reconcilers.revisions.reconcile(name, this.#stop.signal);
  }

  /** Waits for the caches, then runs a pass over a tag. */
  async reconcileTag(name: string): Promise<number> {
    await this.caughtUp();
    return this.passTagNow(name);
  }

  /** Runs a pass over a tag without waiting for the caches. */
  passTagNow(name: string): Promise<number> {
    return this.reconcilers.tags.reconcile(name, this.#stop.signal);
  }

  async caughtUp(): Promise<void> {
    const { view, cluster } = this;
    const ofAllClients = { injectorconfigs: view.configs, revisiontags: view.tags, mutatingwebhookconfigurations: view.mutatingWebhooks };
    const followed = { ...ofAllClients, secrets: view.secrets, services: view.services, configmaps: view.configMaps, validatingwebhookconfigurations: view.validatingWebhooks };
    const versions = (objects: KubernetesObject[]): string => objects.map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`).sort().join();
    const isSeen = ([plural, store]: [string, ObjectStore]): boolean => {
      const namespace = ['secrets', 'services', 'configmaps'].includes(plural) ? context.namespace : undefined;
      const stored = cluster.names(plural).flatMap((name) => cluster.get(plural, name, namespace) ?? []);
      const ours = stored.filter(({ metadata }) => plural in ofAllClients || metadata.labels?.['app.kubernetes.io/managed-by'] !== undefined);
      return versions(ours) === versions(store.list());
    };
    await this.until(() => view.hasSynced && Object.entries(followed).every(isSeen));
  }

  readonly until = until;

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
    await this.cluster.stop();
    // Reset all fields for the next test.
    Object.assign(this, new OperatorFixture());
    [this.#stop, this.#running] = [new AbortController(), []];
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

