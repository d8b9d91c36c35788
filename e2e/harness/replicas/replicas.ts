import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import { objectOf } from '../apply.ts';
import type { BalancerTimes } from '../balancer/backend.ts';
import { startBalancer, type Balancer } from '../balancer/balancer.ts';
import type { ChartWorkload } from '../chart-workloads.ts';
import type { Cluster } from '../cluster.ts';
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
  /** The pod's name: in Leases, in the User-Agent, in the audit log (`authentication.kubernetes.io/pod-name`), and of the balancer's backend. */
  name: string;
  /** What it is here; in a chart that runs everything in one process a `controller` is one that gets no traffic. */
  role: ReplicaRole;
  pod: Pod;
  operator: OperatorProcess;
}

export interface ReplicaOptions {
  webhooks?: number;
  controllers?: number;
  /** Further flags of every process, which may depend on its name; a later one beats the chart's. */
  flags?: string[] | ((name: string) => string[]);
  balancer?: Partial<BalancerTimes>;
  /** Puts a {@link FaultyProxy} between the processes and the API server (the embedded one only). */
  proxied?: boolean;
  bundle?: string;
  /** The objects of another version's chart, for a namespace. */
  render?: (namespace: string) => KubernetesObject[];
  seed?: number;
}

interface Lease {
  spec?: { holderIdentity?: string };
}

/** Several processes of one installation behind a balancer. */
export class Replicas {
  readonly installation: Installation;
  readonly balancer: Balancer;
  bundle: string;
  readonly webhooks: Replica[] = [];
  readonly controllers: Replica[] = [];
  readonly #cluster: Cluster;
  readonly #proxy: FaultyProxy | undefined;
  readonly #options: ReplicaOptions;
  /** Names of the pods that replicas have or had. */
  readonly #taken = new Set<string>();

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

  /** What stands between them and the API server, if they were started so. */
  get proxy(): FaultyProxy {
    if (this.#proxy === undefined) throw new Error('these replicas have no proxy before the API server');
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

  /** SIGTERM, its end, a new process in the same pod, ready again: what a kubelet does when a container ends. */
  async restart(replica: Replica): Promise<void> {
    await replica.operator.process.stop(30_000);
    await replica.operator.restart();
  }

  /**
   * A new replica, ready and in rotation, then SIGTERM for the old one, whose pod goes: what a rolling update does (maxSurge 1, maxUnavailable 0).
   * Returns the new one.
   */
  async replace(replica: Replica): Promise<Replica> {
    const successor = await this.add(replica.role);
    if (replica.role === 'webhook') await this.balancer.waitUntilUsed(successor.name);
    await replica.operator.process.stop(30_000);
    await this.remove(replica);
    return successor;
  }

  /** SIGKILL, and the time of it in milliseconds since 1970. `restart` of its operator brings it back. */
  async kill(replica: Replica): Promise<number> {
    const time = Date.now();
    await replica.operator.process.kill();
    return time;
  }

  /** Forgets a replica whose process has ended, and deletes its pod, for which its ReplicaSet makes another. */
  async remove(replica: Replica): Promise<void> {
    await replica.operator.process.kill();
    await this.balancer.remove(replica.name);
    for (const list of [this.webhooks, this.controllers]) {
      const index = list.indexOf(replica);
      if (index >= 0) list.splice(index, 1);
    }
    await this.#cluster.client.delete(replica.pod, { gracePeriodSeconds: 0 });
  }

  /** The controller that holds the leader's Lease now; undefined while nobody does. */
  async leader(): Promise<Replica | undefined> {
    // In its own namespace: those of scenarios before may be going still, with a Lease of this name.
    const { namespace } = this.installation;
    const kind = resourceKind('coordination.k8s.io/v1', 'Lease');
    const lease = await this.#cluster.client.find<Lease>(kind, 'injector-leader-default', { namespace });
    return this.all.find(({ name }) => name === lease?.spec?.holderIdentity);
  }

  /** The same, once it is another one than before. */
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

  async stop(): Promise<void> {
    await Promise.all(this.all.map(({ operator }) => operator.process.kill()));
    await this.balancer.stop();
    await this.#proxy?.stop();
  }

  async #takePod(labels: Record<string, string>): Promise<Pod> {
    return waitFor('a pod of the chart that no replica has', async () => {
      const pods = await podsMatching(this.#cluster.client, this.installation.namespace, labels);
      const free = pods.find(
        ({ metadata: { name = '', deletionTimestamp } }) => deletionTimestamp === undefined && !this.#taken.has(name),
      );
      if (free?.metadata.name !== undefined) this.#taken.add(free.metadata.name);
      return free;
    });
  }

  /** One pod more than there are replicas: a replacement needs its own before the old one is gone. */
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
      // Never fewer: which pods go then is not for us to say, and one of them may be a process's already.
      if (replicas <= (deployment.spec.replicas ?? 1)) continue;
      const target = objectOf('apps/v1', 'Deployment', deployment.metadata.name, this.installation.namespace);
      await this.#cluster.client.patch(target, 'merge', { spec: { replicas } });
    }
  }
}
