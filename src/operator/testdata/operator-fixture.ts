import { randomBytes } from 'node:crypto';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { emptyShadowReport, type ShadowReport } from '../../rollout/shadow-report.ts';
import { generateRsaKeyPair, type KeyPair } from '../../certs/key-pair.ts';
import { loadInjector, type Injector } from '../../inject/injector.ts';
import { capturingLogger } from '../../kube/testdata/capturing-logger.ts';
import { ManualClock } from '../../kube/testdata/manual-clock.ts';
import { Reflector } from '../../kube/reflector.ts';
import { ClusterView, configMaps, injectorConfigs, revisionTags, secrets } from '../cluster-view.ts';
import { createReconcilers, type Reconcilers } from '../controller/create-reconcilers.ts';
import type {
  InjectorRegistryPort,
  LoadConfiguration,
  OperatorMetrics,
  ReplicaReport,
  ReplicaReports,
} from '../ports.ts';
import type { OperatorSettings } from '../settings.ts';
import { MemoryCluster } from './memory-cluster.ts';

export const context = {
  namespace: 'injection',
  operatorClass: 'default',
  podSelector: { app: 'injector' },
  targetPort: 15017,
};

/** An InjectorConfig as the API server stores it, defaults left to the parser. */
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

/** Keys are made once: what is tested is what becomes of them. */
const keys: Promise<KeyPair>[] = [];
let taken = 0;
export function nextKeyPair(): Promise<KeyPair> {
  const index = taken % 4;
  taken += 1;
  return (keys[index] ??= generateRsaKeyPair(2048));
}

/** As a process loads that answers nobody. */
export const loadAtOnce: LoadConfiguration = (files) => Promise.resolve().then(() => loadInjector(files));

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

/** Replicas that say what a test wants them to. */
export class ScriptedReports implements ReplicaReports {
  missing: string[] = [];
  live: ReplicaReport[] = [];
  shadow: ShadowReport = emptyShadowReport;
  readonly #listeners: (() => void)[] = [];
  readonly #shadowListeners: (() => void)[] = [];
  lacking(): readonly string[] {
    return this.missing;
  }
  replicas(): readonly ReplicaReport[] {
    return this.live;
  }
  removeExpired(): Promise<number> {
    return Promise.resolve(60_000);
  }
  subscribe(listener: () => void): void {
    this.#listeners.push(listener);
  }
  tell(): void {
    for (const listener of this.#listeners) listener();
  }
  shadowReport(): ShadowReport {
    return this.shadow;
  }
  subscribeShadow(listener: () => void): void {
    this.#shadowListeners.push(listener);
  }
  tellShadow(shadow: ShadowReport): void {
    this.shadow = shadow;
    for (const listener of this.#shadowListeners) listener();
  }
}

/** The reconcilers on a cluster in memory; the view follows by real watches, time is the test's. */
export class OperatorFixture {
  readonly cluster = new MemoryCluster();
  readonly clock = new ManualClock(Date.UTC(2026, 5, 1));
  readonly logger = capturingLogger();
  readonly reports = new ScriptedReports();
  readonly metrics: OperatorMetrics = {};
  readonly referenceChanges: string[] = [];
  /** InjectorConfigs that served something else than before. */
  readonly publications: string[] = [];
  view!: ClusterView;
  reconcilers!: Reconcilers;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>[] = [];

  async start(settings: Partial<OperatorSettings> = {}): Promise<void> {
    await this.cluster.start();
    this.restart(settings);
    await this.view.synced(this.#stop.signal);
  }

  /** A new process on the same cluster: it remembers nothing. */
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
      randomBytes,
      generateKeyPair: nextKeyPair,
      load: loadAtOnce,
      followConfigMap: ({ namespace, name, store, signal }) => {
        const fieldSelector = `metadata.name=${name}`;
        follow({ resource: configMaps, store, namespace, fieldSelector } as never, signal);
      },
      followSecret: ({ namespace, name, store, signal }) => {
        const fieldSelector = `metadata.name=${name}`;
        follow({ resource: secrets, store, namespace, fieldSelector } as never, signal);
      },
      followCollection: ({ resource, store, keep, signal }) => {
        follow({ resource, store, transform: keep } as never, signal);
      },
      onRestarts: () => undefined,
      onReferenceChange: (name) => this.referenceChanges.push(name),
      onUsage: () => undefined,
      onPublished: (name) => this.publications.push(name),
    });
  }

  /** One pass, once the view has caught up with the cluster. */
  async reconcile(name: string): Promise<number> {
    await this.caughtUp();
    return this.passNow(name);
  }

  /** One pass, whatever the view knows. */
  passNow(name: string): Promise<number> {
    return this.reconcilers.revisions.reconcile(name, this.#stop.signal);
  }

  /** One pass over a tag, once the view has caught up with the cluster. */
  async reconcileTag(name: string): Promise<number> {
    await this.caughtUp();
    return this.passTagNow(name);
  }

  /** One pass over a tag, whatever the view knows. */
  passTagNow(name: string): Promise<number> {
    return this.reconcilers.tags.reconcile(name, this.#stop.signal);
  }

  async caughtUp(): Promise<void> {
    await this.until(() => {
      const pairs: [string, KubernetesObject[]][] = [
        ['injectorconfigs', this.view.configs.list()],
        ['revisiontags', this.view.tags.list()],
        ['mutatingwebhookconfigurations', this.view.mutatingWebhooks.list()],
        ['secrets', this.view.secrets.list()],
        ['services', this.view.services.list()],
        ['validatingwebhookconfigurations', this.view.validatingWebhooks.list()],
        ['configmaps', this.view.configMaps.list()],
      ];
      return pairs.every(([plural, seen]) => {
        const there = this.cluster.names(plural).flatMap((name) => {
          const namespace = ['injectorconfigs', 'revisiontags', 'mutatingwebhookconfigurations', 'validatingwebhookconfigurations'].includes(plural) ? undefined : context.namespace;
          const object = this.cluster.get(plural, name, namespace);
          const isOurs = plural === 'injectorconfigs' || plural === 'revisiontags' || plural === 'mutatingwebhookconfigurations' || object?.metadata.labels?.['app.kubernetes.io/managed-by'] !== undefined;
          return object === undefined || !isOurs ? [] : [`${name}@${object.metadata.resourceVersion}`];
        });
        return JSON.stringify(there.sort()) === JSON.stringify(seen.map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`).sort());
      });
    });
  }

  async until(what: () => boolean): Promise<void> {
    for (let turn = 0; turn < 3000; turn += 1) {
      if (what()) return;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    throw new Error(`never came true: ${what.toString()}`);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    this.reconcilers.references.stop();
    await Promise.all(this.#running);
    await this.cluster.stop();
  }

  /** The condition of an InjectorConfig as `Status/Reason: message`. */
  condition(name: string, type: string, plural = 'injectorconfigs'): string {
    const { conditions = [] } = (this.cluster.get(plural, name)?.status ?? {}) as {
      conditions?: { type: string; status: string; reason: string; message: string }[];
    };
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

