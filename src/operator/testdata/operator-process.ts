import type { ResourceEvent } from '@dot-i/k8s-operator';
import type { Condition, KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { ServingCertificates } from '../../certs/serving-certificates.ts';
import type { Injector } from '../../inject/injector.ts';
import { systemClock } from '../../kube/clock.ts';
import { capturingLogger } from '../../kube/testdata/capturing-logger.ts';
import { until } from '../../kube/testdata/manual-clock.ts';
import { InjectorOperator } from '../controller/injector-operator.ts';
import type { OperatorMetrics } from '../ports.ts';
import { ReplicaLeases } from '../replicas/replica-leases.ts';
import { createReplicaReporter } from '../replicas/replica-reporter.ts';
import { Replica } from '../replicas/replica.ts';
import type { OperatorSettings } from '../settings.ts';
import type { UsageFigures } from '../usage/usage-figures.ts';
import { MemoryCluster } from './memory-cluster.ts';
import { context, loadAtOnce, nextKeyPair, rehearseAtOnce, tryAtOnce } from './operator-fixture.ts';

/** Exposes protected members of the library's class. */
class Subclass extends InjectorOperator {
  uri(...target: [group: string, version: string, plural: string, namespace?: string]): string {
    return this.getCustomResourceApiUri(...target);
  }

  watchPods(onEvent: (event: ResourceEvent) => Promise<void>): Promise<void> {
    return this.watchResource('', 'v1', 'pods', onEvent, 'n');
  }

  server(): string | undefined {
    return this.kubeConfig.getCurrentCluster()?.server;
  }
}

/** A controller and a replica in one process, as with `--role=all`. Uses the system clock. */
export class OperatorProcess {
  readonly logger = capturingLogger();
  readonly reconciled: string[] = [];
  usage: () => UsageFigures | undefined = () => undefined;
  readonly injectors = new Map<string, Injector>();
  readonly operator: Subclass;
  readonly #replica: Replica;
  readonly #reporter: ReturnType<typeof createReplicaReporter>;
  readonly #reports: ReplicaLeases;

  constructor(cluster: MemoryCluster, identity: string, settings: Partial<OperatorSettings>) {
    const { client } = cluster;
    const shared = { client, clock: systemClock, random: Math.random, logger: this.logger };
    const common = { ...shared, ...context };
    this.#replica = new Replica({ ...common, injectors: this.injectors, load: loadAtOnce, certificates: new ServingCertificates() });
    this.#reporter = createReplicaReporter({ ...common, identity, instance: 'test', serves: () => this.#replica.serves() });
    this.#reports = new ReplicaLeases(common);
    const metrics: OperatorMetrics = {
      reconciled: (name, outcome) => this.reconciled.push(`${name} ${outcome}`),
      usageFrom: (read) => (this.usage = read),
    };
    this.operator = new Subclass({
      ...shared,
      kubeConfig: cluster.server.kubeConfig(),
      settings: { context, identity, ...settings },
      reports: this.#reports,
      tryOne: tryAtOnce,
      rehearse: rehearseAtOnce,
      metrics,
      generateKeyPair: nextKeyPair,
    });
  }

  async start(): Promise<void> {
    this.#replica.subscribe(() => {
      this.#reporter.changed();
    });
    this.#replica.start();
    this.#reporter.start();
    this.#reports.start();
    await this.operator.start();
  }

  async stop(): Promise<void> {
    this.operator.stop();
    this.#replica.stop();
    this.#reports.stop();
    await Promise.all([this.operator.controller.stopped(), this.#reporter.stop()]);
  }
}

/** An in-memory cluster with operator processes. */
export class ProcessCluster extends MemoryCluster {
  readonly #processes: OperatorProcess[] = [];

  async launch(identity = 'one', settings: Partial<OperatorSettings> = {}): Promise<OperatorProcess> {
    const process = new OperatorProcess(this, identity, settings);
    this.#processes.push(process);
    await process.start();
    return process;
  }

  /** Stops the processes and the cluster. */
  override async stop(): Promise<void> {
    await Promise.all(this.#processes.map((process) => process.stop()));
    await super.stop();
  }

  readonly until = until;

  /** Returns a condition of an InjectorConfig or RevisionTag, as `Status/Reason`. */
  ready(name: string, plural = 'injectorconfigs', condition = 'Ready'): string {
    const { conditions = [] } = (this.get(plural, name)?.status ?? {}) as { conditions?: Condition[] };
    const { status, reason } = conditions.find(({ type }) => type === condition) ?? {};
    return `${status}/${reason}`;
  }

  isReady(name: string): boolean {
    return this.ready(name).startsWith('True/');
  }

  /** Returns MutatingWebhookConfiguration `sidecar-injector-<name>`. */
  webhook(name: string): KubernetesObject | undefined {
    return this.get('mutatingwebhookconfigurations', `sidecar-injector-${name}`);
  }
}
