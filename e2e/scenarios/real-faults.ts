import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../src/kube/api-error.ts';
import { resourceKind, resourcePath } from '../../src/kube/resource-kinds.ts';
import { containersOf, refusal } from '../harness/admissions.ts';
import type { NodeComponent } from '../harness/control-plane-commands.ts';
import { clusterFlags, injectorOutput } from '../harness/injector-command.ts';
import { applyUntilReady, smallConfig } from '../harness/injector-configs.ts';
import { Creations, notInjected } from '../harness/node/creations.ts';
import { readyColumn } from '../harness/pod-table.ts';
import { isInjected, type Pod } from '../harness/pod.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { none, waitFor } from '../harness/wait-for.ts';
import { barePod, deployment, podsOf, restartDeployment } from '../harness/workloads.ts';
import { untilHolding } from './hold/holding.ts';
import { type EndpointSlice, endpointSlices, ReplicaTimeline } from './real-faults/replica-timeline.ts';

const name = 'real-faults';
const system = `${name}-system`;
/** Four processes start at once on a machine that may be busy with other scenarios. */
const patience = { timeout: 180_000 };
/** How long kube-proxy needs at most to apply a change of a Service on a busy machine. */
const proxyMs = 5000;
const nodePrograms: readonly NodeComponent[] = ['containerd', 'kubelet', 'kube-proxy'];

export const realFaults: Scenario = {
  name,
  about:
    'with two replicas on a real node, no creation of a pod fails while replicas are deleted, drained or rolled, and kubelet or API server restart; a killed or frozen replica costs few; in a crash of the node, Fail, Ignore and Hold do what they promise',
  destructive: 'it installs the operator as real pods, and kills them',
  realNode: true,
  alone: 'it judges probes of seconds; a second real node beside it can starve a replica for ten',
  full: 'each fault five times, 15 minutes',
  run: async (context) => {
    const { client, cluster } = context;
    const plane = context.requireControlPlane();
    await context.namespace('system', { 'pod-security.kubernetes.io/enforce': 'restricted' });
    // Beside other scenarios on two cores, kube-proxy may need longer than the default of 5 s.
    const settings = ['webhook.replicas=2', 'operator.holdPods=true', 'operator.drainSeconds=10'];
    const values = settings.flatMap((value) => ['--set', value]);
    await injectorOutput(['install', '-n', system, ...values, ...clusterFlags(cluster)]);
    const namespaces = { Fail: '', Ignore: '', Hold: '' };
    for (const failurePolicy of ['Fail', 'Ignore', 'Hold'] as const) {
      const revision = failurePolicy.toLowerCase();
      await applyUntilReady(client, smallConfig(revision, { failurePolicy }));
      namespaces[failurePolicy] = await context.namespace(revision, { 'istio.io/rev': revision });
    }
    await untilHolding(context, 'hold');
    const operator = new OperatorPods(context);
    const timeline = await ReplicaTimeline.start(context, system, 'sidecar-injector-fail');
    const creations = new Creations(client, namespaces.Fail);
    const holdable = new Creations(client, namespaces.Hold, (pod) =>
      'schedulingGates' in pod.spec ? undefined : notInjected(pod),
    );
    context.atEnd(() => {
      creations.stop();
      holdable.stop();
    });
    const rows: [what: string, made: number, failed: number][] = [];
    /** Causes a fault, waits until all pods are ready, and counts the creations meanwhile. */
    const during = async (what: string, fault: () => Promise<unknown>, allowed = 0): Promise<void> => {
      const from = Date.now();
      await fault();
      await operator.waitUntilReady();
      await sleep(1000);
      const { made, problems } = creations.since(from);
      rows.push([what, made, problems.length]);
      if (problems.length > allowed) {
        for (const line of [...timeline.since(from), ...problems]) context.say(line.slice(0, 300));
      }
      if (Number.isFinite(allowed))
        await context.checkNow(`${what}: at most ${allowed} of ${made} creations failed`, () =>
          none(problems.slice(allowed)),
        );
      await noneFailedWithHold(what, from);
    };
    const noneFailedWithHold = async (what: string, from: number): Promise<void> => {
      const { made, problems } = holdable.since(from);
      await context.checkNow(`${what}: with Hold, 0 of ${made} creations failed`, () => none(problems));
    };
    for (let round = context.size === 'full' ? 5 : 1; round > 0; round--) {
      const killedAt = Date.now();
      let dropped = killedAt;
      // The API server repeats no call. How many it sends to the dead replica until the Service has
      // dropped it depends on what else runs: 0 to 3 on idle machines, 6 on busy ones.
      const most = context.size === 'full' ? 5 : Infinity;
      const kill = async () => {
        dropped = await operator.kill();
      };
      await during('a replica is killed', kill, most);
      const late = creations.since(killedAt, (at) => at > dropped + proxyMs);
      await context.checkNow(
        `a replica is killed: none of ${late.made} creations failed after the Service had dropped it`,
        () => none(late.problems),
      );
      await during('a replica is deleted', async () => client.delete(await operator.webhook()));
      await during('the node is drained', () => operator.drain());
      await during('both Deployments are rolled', () =>
        Promise.all(
          ['webhook', 'controller'].map((part) =>
            restartDeployment(client, system, `injector-operator-${part}`, patience.timeout),
          ),
        ),
      );
      await during('the kubelet restarts', async () => {
        await plane.component('kubelet').kill();
        await plane.restart('kubelet');
      });
      await during('the API server restarts', async () => {
        await plane.component('kube-apiserver').kill();
        await plane.restart('kube-apiserver');
      });
      const frozen = Date.now();
      // Each connection that is open to it hangs, and each new one until readiness fails after 8 s.
      // A busy API server opens several: 0 to 2 creations failed on idle machines, 6 on busy ones.
      await during('a replica is frozen', () => operator.signal('SIGSTOP'), 10);
      const ready = (Date.now() - frozen) / 1000;
      const killed = ((await operator.lastEnd()) - frozen) / 1000;
      // How long a new process needs to start depends on what else runs; gates run alone.
      const readyWithin = context.size === 'full' ? 31 : 60;
      await context.checkNow(
        `the kubelet kills the frozen replica within 22 s (after ${killed.toFixed(1)} s), and all are ready within ${readyWithin} s (after ${ready.toFixed(1)} s)`,
        () => killed < 22 && ready < readyWithin,
      );
      const crashed = Date.now();
      await crash(context, operator, namespaces, `held-${round}`);
      const { problems } = creations.since(crashed);
      await context.checkNow('negative control: creations failed while no replica lived', () => problems.length > 0);
      await noneFailedWithHold('while no replica lived', crashed);
      await during('after the way back', () => sleep(3000));
    }
    context.measured({ faults: rows });
    const sums = new Map<string, [made: number, failed: number]>();
    for (const [what, made, failed] of rows) {
      const [all, lost] = sums.get(what) ?? [0, 0];
      sums.set(what, [all + made, lost + failed]);
    }
    const figures = [...sums].map(([what, [made, failed]]) => `${what}: ${failed} of ${made} creations failed`);
    return figures.join(', ');
  },
};

/** Ends all programs and containers of the node, and starts the programs again. */
async function crash(
  context: ScenarioContext,
  operator: OperatorPods,
  { Fail, Ignore, Hold }: Record<'Fail' | 'Ignore' | 'Hold', string>,
  held: string,
): Promise<void> {
  const { client } = context;
  const plane = context.requireControlPlane();
  const restarts = await operator.restarts();
  await plane.sandbox?.crash();
  await Promise.all(nodePrograms.map((program) => plane.component(program).waitForEnd(10_000)));
  await context.check('negative control: without replicas, Fail refuses a pod', () =>
    refusal(client, barePod(Fail, 'refused')),
  );
  await context.check(
    'without replicas, Ignore creates a pod without a sidecar',
    async () => (await containersOf(client, Ignore)).join() === 'sleep',
  );
  await client.create(deployment(Hold, held));
  await context.check('without replicas, Hold creates a pod that is not scheduled', async () => {
    const [pod] = await podsOf(client, Hold, held);
    return pod !== undefined && !isInjected(pod) && 'schedulingGates' in pod.spec;
  });
  for (const program of nodePrograms) await plane.restart(program);
  await waitFor('the containers to start again', async () => (await operator.restarts()) >= restarts + 4, patience);
  await operator.waitUntilReady();
  await context.check('after the way back, the held pod is replaced by an injected one', async () => {
    const [pod, ...others] = await podsOf(client, Hold, held);
    return pod !== undefined && others.length === 0 && isInjected(pod) && !('schedulingGates' in pod.spec);
  });
  for (const [namespace, policy] of [
    [Fail, 'Fail'],
    [Ignore, 'Ignore'],
  ] as const)
    await context.check(
      `after the way back, a pod is injected with ${policy}`,
      async () => (await containersOf(client, namespace)).length === 2,
    );
}

/** The operator's own pods, two webhook replicas and two controllers. */
class OperatorPods {
  readonly #context: ScenarioContext;

  constructor(context: ScenarioContext) {
    this.#context = context;
  }

  /** Returns the oldest webhook replica. */
  async webhook(): Promise<Pod & { metadata: { name: string } }> {
    const pods = await podsOf(this.#context.client, system);
    return pods.find(({ metadata }) => metadata.name?.includes('-webhook-')) as Pod & { metadata: { name: string } };
  }

  /** Kills a replica. Returns when the Service had dropped it, in milliseconds since 1970. */
  async kill(): Promise<number> {
    const [dropped] = await Promise.all([this.#dropped(), this.signal('SIGKILL')]);
    return dropped;
  }

  /** Waits until the Service of revision `fail` has one replica less. */
  async #dropped(): Promise<number> {
    const isDropped = async () => {
      const { items } = await this.#context.client.listAll<EndpointSlice>(endpointSlices, { namespace: system });
      const slices = items.filter(({ metadata }) => metadata.name?.startsWith('sidecar-injector-fail-'));
      const ready = slices.flatMap(({ endpoints }) => endpoints ?? []).filter(({ conditions }) => conditions.ready);
      return ready.length < 2 && Date.now();
    };
    return waitFor('the Service to drop the replica', isDropped, { ...patience, interval: 50 });
  }

  async restarts(): Promise<number> {
    return (await this.#containers()).reduce((sum, { restartCount }) => sum + restartCount, 0);
  }

  /** Returns when a container of the operator ended most recently, as the kubelet recorded it. */
  async lastEnd(): Promise<number> {
    const ends = (await this.#containers()).flatMap(({ lastState }) => lastState?.terminated?.finishedAt ?? []);
    return Math.max(...ends.map(Date.parse));
  }

  async #containers() {
    return (await podsOf(this.#context.client, system)).flatMap(({ status }) => status?.containerStatuses ?? []);
  }

  /** Sends a signal to the process of a replica, and waits until its container starts again. */
  async signal(signal: string): Promise<void> {
    const before = await this.restarts();
    const { status } = await this.webhook();
    const id = status?.containerStatuses?.[0]?.containerID?.replace('containerd://', '') ?? '';
    const { sandbox } = this.#context.requireControlPlane();
    await sandbox?.execute('ctr', '--namespace', 'k8s.io', 'tasks', 'kill', '--signal', signal, id);
    await waitFor('the container to start again', async () => (await this.restarts()) > before, patience);
  }

  /** Evicts each pod as `kubectl drain` does: again and again while its budget forbids it. */
  async drain(): Promise<void> {
    const { client } = this.#context;
    const kind = resourceKind('v1', 'Pod');
    for (const { metadata } of await podsOf(client, system)) {
      const { name: pod = '', namespace } = metadata;
      const path = resourcePath(kind, { namespace, name: pod, subresource: 'eviction' });
      const body = JSON.stringify({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod, namespace } });
      await waitFor(
        `the eviction of ${pod}`,
        async () => {
          try {
            await client.request('POST', path, { body });
            return true;
          } catch (error) {
            if (error instanceof ApiError && error.code === 429) return false;
            throw error;
          }
        },
        patience,
      );
    }
  }

  async waitUntilReady(): Promise<void> {
    await waitFor(
      'all pods of the operator to be ready',
      async () => {
        const pods = await podsOf(this.#context.client, system);
        return (
          pods.length === 4 &&
          pods.every((pod) => readyColumn(pod) === '1/1' && pod.metadata.deletionTimestamp === undefined)
        );
      },
      patience,
    );
  }
}
