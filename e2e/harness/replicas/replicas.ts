import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import { objectOf } from '../apply.ts';
import type { BalancerTimes } from '../balancer/backend.ts';
import { startBalancer, type Balancer } from '../balancer/balancer.ts';
import type { ChartWorkload } from '../chart-workloads.ts';
import type { Cluster } from '../cluster.ts';
import type { Fault } from '../faulty-proxy/fault.ts';
import { startFaultyProxy, type FaultyProxy } from '../faulty-proxy/faulty-proxy.ts';
import { workloadFor, type Installation } from '../installation.ts';
import type { OperatorProcess, OperatorRole } from '../operator-process.ts';
import { paths } from '../paths.ts';
import type { Pod } from '../pod.ts';
import { serviceAccountKubeconfig } from '../service-account.ts';
import { waitFor } from '../wait-for.ts';
import { podsMatching } from '../workloads.ts';

type ReplicaRole = Exclude<OperatorRole, 'all'>;

export interface Replica {
  /** The pod's name, which identifies the replica in Leases, balancer, User-Agent and audit log. */
  name: string;
  /** The role. If the chart has one Deployment, a `controller` is a process without traffic. */
  role: ReplicaRole;
  pod: Pod;
  operator: OperatorProcess;
}

export interface ReplicaOptions {
  webhooks?: number;
  controllers?: number;
  /** More flags, for all processes or by process name. They override the flags in the chart. */
  flags?: string[] | ((name: string) => string[]);
  balancer?: Partial<BalancerTimes>;
  /** Puts a {@link FaultyProxy} between the processes and the embedded API server. */
  proxied?: boolean;
  /** Faults of the proxy from the start. */
  faults?: readonly Fault[];
  bundle?: string;
  /** Renders the objects of another version's chart for a namespace. */
  render?: (namespace: string) => KubernetesObject[];
  seed?: number;
}

interface Lease {
  spec?: { holderIdentity?: string };
}

/** The processes of one installation, behind a balancer. */
export class Replicas {
  readonly installation: Installation;
  readonly balancer: Balancer;
  bundle: string;
  readonly webhooks: Replica[] = [];
  readonly controllers: Replica[] = [];
  readonly #cluster: Cluster;
  readonly #proxy: FaultyProxy | undefined;
  readonly #options: ReplicaOptions;
  /** The names of pods that a replica uses or has used. */
  readonly #inUse = new Set<string>();

  private constructor(
    cluster: Cluster,
    installation: Installation,
    options: ReplicaOptions,
    balancer: Balancer,
    proxy: FaultyProxy | undefined,
  ) {
    this.#cluster = cluster;
    this.installation = installation;
    this.bundle = options.bundle ?? paths.injector;
    this.#options = options;
    this.balancer = balancer;
    this.#proxy = proxy;
  }

  static async start(cluster: Cluster, installation: Installation, options: ReplicaOptions): Promise<Replicas> {
    if (!cluster.fakeNodes) throw new Error('several replicas on this machine need the embedded control plane');
    const { webhooks = 3, controllers = 2, seed = 1 } = options;
    const proxy = options.proxied === true ? await startFaultyProxy(cluster, seed) : undefined;
    for (const fault of options.faults ?? []) await proxy?.fault(fault);
    const balancer = await startBalancer(options.balancer);
    const replicas = new Replicas(cluster, installation, options, balancer, proxy);
    try {
      await replicas.#scale(webhooks, controllers);
      await Promise.all([
        ...Array.from({ length: webhooks }, () => replicas.add('webhook')),
        ...Array.from({ length: controllers }, () => replicas.add('controller')),
      ]);
      await replicas.waitUntilServing();
      return replicas;
    } catch (error) {
      await replicas.stop();
      throw error;
    }
  }

  /** The proxy in front of the API server. @throws Error if `proxied` was not set */
  get proxy(): FaultyProxy {
    if (this.#proxy === undefined) throw new Error('these replicas have no proxy: start them with proxied: true');
    return this.#proxy;
  }

  get all(): Replica[] {
    return [...this.webhooks, ...this.controllers];
  }

  async add(role: ReplicaRole): Promise<Replica> {
    const { installation } = this;
    const { role: processRole, account, deployment } = workloadFor(installation.workloads, role);
    const pod = await this.#takePod(deployment.spec.selector.matchLabels);
    const name = pod.metadata.name ?? '';
    const { namespace } = installation;
    const kubeconfig = await serviceAccountKubeconfig(this.#cluster, namespace, account, pod, this.#proxy?.url);
    const { flags: further = [] } = this.#options;
    const flags = typeof further === 'function' ? further(name) : further;
    const settings = { name, role: processRole, kubeconfig, advertisePort: this.balancer.port, flags };
    const operator = await installation.launchOperator({ ...settings, bundle: this.bundle });
    const replica: Replica = { name, role, pod, operator };
    (role === 'webhook' ? this.webhooks : this.controllers).push(replica);
    if (role === 'webhook') {
      const readyUrl = `http://127.0.0.1:${operator.healthPort}/readyz`;
      await this.balancer.add({ name, port: operator.webhookPort, readyUrl });
    }
    await operator.waitUntilReady();
    return replica;
  }

  /** Restarts the process in the same pod, as a kubelet does. Resolves when it is ready. */
  async restart(replica: Replica): Promise<void> {
    await replica.operator.process.stop(30_000);
    await replica.operator.restart();
  }

  /**
   * Adds a new replica, waits until it gets traffic, stops the old replica and deletes its pod, as
   * a rolling update with maxSurge 1 and maxUnavailable 0 does. Returns the new replica.
   */
  async replace(replica: Replica): Promise<Replica> {
    const successor = await this.add(replica.role);
    if (replica.role === 'webhook') await this.balancer.waitUntilUsed(successor.name);
    await replica.operator.process.stop(30_000);
    await this.remove(replica);
    return successor;
  }

  /** Kills a replica. Returns the time in milliseconds since 1970. */
  async kill({ operator }: Pick<Replica, 'operator'>): Promise<number> {
    const time = Date.now();
    await operator.process.kill();
    return time;
  }

  /** Removes a replica and deletes its pod, which the ReplicaSet replaces. */
  async remove(replica: Replica): Promise<void> {
    await replica.operator.process.kill();
    await this.balancer.remove(replica.name);
    for (const list of [this.webhooks, this.controllers]) {
      const index = list.indexOf(replica);
      if (index >= 0) list.splice(index, 1);
    }
    await this.#cluster.client.delete(replica.pod, { gracePeriodSeconds: 0 });
  }

  /** Returns the controller that holds the leader's Lease; undefined if there is none. */
  async leader(): Promise<Replica | undefined> {
    // Each namespace has its own Lease. Operators of earlier scenarios may still run.
    const { namespace } = this.installation;
    const kind = resourceKind('coordination.k8s.io/v1', 'Lease');
    const lease = await this.#cluster.client.find<Lease>(kind, 'injector-leader-default', { namespace });
    return this.all.find(({ name }) => name === lease?.spec?.holderIdentity);
  }

  /** Returns the leader if it is not `before`. */
  async leaderOtherThan(before: Replica): Promise<Replica | undefined> {
    const leader = await this.leader();
    return leader === before ? undefined : leader;
  }

  async waitForLeader(): Promise<Replica> {
    return waitFor('a leader', () => this.leader());
  }

  async waitUntilServing(): Promise<void> {
    const running = this.webhooks.filter(({ operator }) => operator.process.running).map(({ name }) => name);
    await this.balancer.waitForRotation(running);
  }

  /** Stops all processes as a kubelet does, so that they release their Leases. */
  async end(): Promise<void> {
    await Promise.all(this.all.map(({ operator }) => operator.process.stop(30_000)));
    await this.stop();
  }

  async stop(): Promise<void> {
    await Promise.all(this.all.map(({ operator }) => operator.process.kill()));
    await this.balancer.stop();
    await this.#proxy?.stop();
  }

  async #takePod(labels: Record<string, string>): Promise<Pod> {
    return waitFor('a pod of the chart without a replica', async () => {
      const pods = await podsMatching(this.#cluster.client, this.installation.namespace, labels);
      const free = pods.find(
        ({ metadata: { name = '', deletionTimestamp } }) => deletionTimestamp === undefined && !this.#inUse.has(name),
      );
      if (free?.metadata.name !== undefined) this.#inUse.add(free.metadata.name);
      return free;
    });
  }

  /** Keeps one spare pod per Deployment, because new replicas start before old replicas end. */
  async #scale(webhooks: number, controllers: number): Promise<void> {
    const { workloads } = this.installation;
    const needed = new Map<ChartWorkload, number>();
    for (const [role, count] of [
      ['webhook', webhooks],
      ['controller', controllers],
    ] as const) {
      const workload = workloadFor(workloads, role);
      needed.set(workload, (needed.get(workload) ?? 1) + count);
    }
    for (const [{ deployment }, replicas] of needed) {
      // Never scale down: the controller could delete a pod that a replica uses.
      if (replicas <= (deployment.spec.replicas ?? 1)) continue;
      const target = objectOf('apps/v1', 'Deployment', deployment.metadata.name, this.installation.namespace);
      await this.#cluster.client.patch(target, 'merge', { spec: { replicas } });
    }
  }
}
