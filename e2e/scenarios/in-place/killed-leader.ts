/** Kills the leader after each write of an update in place, before the answer arrives. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { tagWebhookConfiguration } from '../../../src/api/names.ts';
import { parsePodUpdate, updateAnnotation } from '../../../src/api/revision-tag/update-annotation.ts';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import { applyObject, objectOf } from '../../harness/apply.ts';
import { chartWorkloads } from '../../harness/chart-workloads.ts';
import type { PassedWrite } from '../../harness/faulty-proxy/faulty-proxy-worker.ts';
import { startFaultyProxy } from '../../harness/faulty-proxy/faulty-proxy.ts';
import { follow } from '../../harness/follow.ts';
import { agent } from '../../harness/node/agent.ts';
import { startOperatorProcess } from '../../harness/operator-process.ts';
import { workloadFor } from '../../harness/installation.ts';
import { isReady, type Pod } from '../../harness/pod.ts';
import { type KillableReplicas, LeaderKiller } from '../../harness/replicas/leader-killer.ts';
import { applyTagUntilReady, restartsOf, revisionTag } from '../../harness/revision-tags.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { serviceAccountKubeconfig } from '../../harness/service-account.ts';
import { found, none, waitFor } from '../../harness/wait-for.ts';
import { deployment, podsOf, waitForDeployment } from '../../harness/workloads.ts';
import {
  app,
  checkLikeNew,
  configurationOf,
  cpusOf,
  describe,
  imageOf,
  isAt,
  neverReady,
  restartsIn,
  revisions,
  usualCpu,
} from './updated-pods.ts';

const tag = 'kills';
const strategy = { update: 'InPlace', restart: { minReadySeconds: 0, readyTimeout: '20s' } };
const match = {
  verbs: ['create', 'update', 'patch', 'delete'],
  resources: ['pods', 'revisiontags', 'mutatingwebhookconfigurations'],
};

/** A move of the tag, and what it leaves. */
interface Move {
  readonly to: string;
  readonly phase: 'Idle' | 'Stopped';
  /** The revision that the pod has afterwards. */
  readonly has: string;
  /** How often the kubelet restarts the sidecar. */
  readonly restarts: number;
}

const failing: Move = { to: 'unready', phase: 'Stopped', has: 'next', restarts: 2 };
const back: Move = { to: 'next', phase: 'Idle', has: 'next', restarts: 0 };
const larger: Move = { to: 'larger', phase: 'Idle', has: 'larger', restarts: 1 };
const smaller: Move = { ...larger, to: 'next', has: 'next' };

/**
 * Replaces the leader of the chart by a process whose requests go through a proxy. The proxy kills
 * it when the API server has performed a write; the next process must finish the update.
 */
export async function checkKills(context: ScenarioContext, system: string) {
  const replicas = await replaceLeader(context, system);
  const kills = await Kills.begin(context, replicas);
  const isOfPod = ({ resource }: PassedWrite) => resource === 'pods';
  const killed: string[] = [];
  // The move back only removes the record of the failure.
  for (const move of [failing, back]) killed.push(...(await kills.move(move, isOfPod)));
  // If no process has led for long, the next one first writes a new time into the record.
  const expected = /^(pods, )+pods\/resize, pods, pods\/resize, pods, pods$/;
  await context.checkNow(`the leader was killed after each write to a pod: ${killed.join(', ')}`, () =>
    expected.test(killed.join(', ')),
  );
  if (context.size === 'full') killed.push(...(await killAfterEach(kills)));
  return { killed };
}

/** Repeats updates, each with one kill after a later write, until an update has no later write. */
async function killAfterEach(kills: Kills): Promise<string[]> {
  const killed: string[] = [];
  const isNumber = (number: number) => {
    let writes = 0;
    return () => (writes += 1) === number;
  };
  const never = () => false;
  const moveNewPod = async (move: Move, isFatal: (write: PassedWrite) => boolean) => {
    await kills.renew();
    return kills.move(move, isFatal);
  };
  let has = smaller;
  for (let number = 1, before = -1; before < killed.length; number += 1) {
    before = killed.length;
    has = has === smaller ? larger : smaller;
    killed.push(...(await moveNewPod(has, isNumber(number))));
  }
  if (has === larger) await moveNewPod(smaller, never);
  for (let number = 1, before = -1; before < killed.length; number += 1) {
    before = killed.length;
    killed.push(...(await moveNewPod(failing, isNumber(number))));
    await kills.move(back, never);
  }
  return killed;
}

/** Moves the tag of a pod while the leader is killed. */
class Kills {
  readonly #context: ScenarioContext;
  readonly #replicas: KillableReplicas;
  readonly #workload: KubernetesObject;
  /** What is wrong with versions of the pod. */
  readonly #wrong: string[] = [];
  #deaths = 0;

  private constructor(context: ScenarioContext, replicas: KillableReplicas, workload: KubernetesObject) {
    this.#context = context;
    this.#replicas = replicas;
    this.#workload = workload;
  }

  /** Creates a pod that follows a tag of its own. */
  static async begin(context: ScenarioContext, replicas: KillableReplicas): Promise<Kills> {
    const { client } = context;
    await applyTagUntilReady(client, revisionTag(tag, 'next', { strategy }));
    const namespace = await context.namespace(tag, { 'istio.io/rev': tag });
    const containers = [agent(app, { securityContext: undefined })];
    // Without the volume of the token, whose name is random.
    const spec = { containers, terminationGracePeriodSeconds: 2, automountServiceAccountToken: false };
    const workload = deployment(namespace, 'web', { spec });
    await client.create(workload);
    await waitForDeployment(client, namespace, 'web');
    const kills = new Kills(context, replicas, workload);
    await follow(context, resourceKind('v1', 'Pod'), { namespace }, (pod) => {
      const wrong = problemOf(pod as KubernetesObject & Pod);
      if (wrong !== undefined) kills.#wrong.push(wrong);
    });
    return kills;
  }

  /** Replaces the pod: with each restart of a container, the kubelet waits longer for the next. */
  async renew(): Promise<void> {
    const { client } = this.#context;
    const old = await this.#pod();
    const { name = '', namespace = '' } = old.metadata;
    await client.delete(objectOf('v1', 'Pod', name, namespace));
    const isRenewed = async () => {
      const [pod, ...others] = await podsOf(client, namespace);
      return others.length === 0 && pod !== undefined && pod.metadata.uid !== old.metadata.uid && isReady(pod);
    };
    await waitFor('a new pod', isRenewed, { timeout: 60_000 });
  }

  /** Moves the tag, and kills the leader after chosen writes. Returns these. */
  async move(move: Move, isFatal: (write: PassedWrite) => boolean): Promise<string[]> {
    const { client } = this.#context;
    const before = await this.#pod();
    const killed: string[] = [];
    const isOfUpdate = ({ namespace, name }: PassedWrite) =>
      namespace === before.metadata.namespace || name === tag || name === tagWebhookConfiguration(tag);
    const killer = await LeaderKiller.start(this.#replicas, {
      match,
      isFatal: (write) => {
        const { resource, subresource } = write;
        const isChosen = isOfUpdate(write) && isFatal(write);
        if (isChosen) killed.push([resource, subresource].filter(Boolean).join('/'));
        return isChosen;
      },
      afterwards: () => this.#afterDeath(),
    });
    await applyObject(client, revisionTag(tag, move.to, { strategy }));
    await this.#context.check(`killed leader: the move to ${move.to} ends`, () => this.#isAfter(move));
    await killer.end();
    const { to, has, restarts } = move;
    const pod = await this.#pod();
    const after = killed.length === 0 ? 'without a kill' : `after kills at ${killed.join(', ')}`;
    await this.#context.checkNow(
      `move to ${to}, ${after}: the same pod has ${has}; the app has not restarted, the sidecar ${restarts} times`,
      () => {
        const counts = ['app', 'sidecar'].map((each) => restartsIn(pod, each) - restartsIn(before, each));
        return found(`${pod.metadata.uid} ${counts.join(' ')}`, `${before.metadata.uid} 0 ${restarts}`);
      },
    );
    await this.#context.checkNow('each version of the pod said what it was', () => none(this.#wrong));
    if (move.phase === 'Idle') await checkLikeNew(this.#context, this.#workload, [pod]);
    return killed;
  }

  async #isAfter({ to, phase, has }: Move): Promise<boolean> {
    const pod = await this.#pod();
    const failed = parsePodUpdate(pod.metadata.annotations?.[updateAnnotation])?.target ?? '';
    const expected = phase === 'Idle' ? failed === '' : failed.startsWith(`${to}.`);
    const status = await restartsOf(this.#context, tag);
    const isSaid = phase === 'Idle' || neverReady.test(status.message);
    if (expected && isSaid && isReady(pod) && isAt(pod, has) && status.phase === phase && status.inProgress === 0)
      return true;
    throw new Error(`${describe(pod)}, ${JSON.stringify(status)}`);
  }

  async #pod(): Promise<Pod> {
    const [pod] = await podsOf(this.#context.client, this.#workload.metadata.namespace ?? '');
    if (pod === undefined) throw new Error('the pod is gone');
    return pod;
  }

  /** Checks once that nothing goes on while no process leads. */
  async #afterDeath(): Promise<void> {
    this.#deaths += 1;
    if (this.#deaths > 1) return;
    const before = await this.#pod();
    await sleep(3000);
    const after = await this.#pod();
    await this.#context.checkNow('without a leader, the update stays where it is', () => {
      return (
        parsePodUpdate(after.metadata.annotations?.[updateAnnotation])?.resizing === true &&
        found(
          JSON.stringify([after.metadata.annotations, after.spec]),
          JSON.stringify([before.metadata.annotations, before.spec]),
        )
      );
    });
  }
}

/** Returns what is wrong with a version of a pod: it differs from what its annotations say. */
function problemOf(pod: Pod): string | undefined {
  const [revision = ''] = configurationOf(pod).split('.');
  const update = parsePodUpdate(pod.metadata.annotations?.[updateAnnotation]);
  const [cpu] = cpusOf(pod);
  const { image, cpu: own = usualCpu } = revisions[revision] ?? {};
  // During a resize, and before a failed image is taken back, the CPU may be that of either.
  const isEitherCpu = update !== undefined && update.failed === undefined && ['10m', '20m'].includes(cpu ?? '');
  const saysTarget = update?.target.startsWith(`${revision}.`);
  const isMarked = update === undefined || (update.resizing === true || update.failed !== undefined) !== saysTarget;
  if (imageOf(pod) === image && (cpu === own || isEitherCpu) && isMarked) return undefined;
  return `${describe(pod)} cpu: ${cpu} ${JSON.stringify(update)}`;
}

/** Ends the controllers of the chart, and starts one behind a proxy. */
async function replaceLeader(context: ScenarioContext, system: string): Promise<KillableReplicas> {
  const { client, cluster, seed } = context;
  const name = 'injector-operator-controller';
  const stored = await client.get(resourceKind('apps/v1', 'Deployment'), name, { namespace: system });
  const { account, flags, environment } = workloadFor(chartWorkloads([stored], system), 'controller');
  await client.patch(objectOf('apps/v1', 'Deployment', name, system), 'merge', { spec: { replicas: 0 } });
  await waitForDeployment(client, system, name);
  const proxy = await startFaultyProxy(cluster, seed);
  context.atEnd(() => proxy.stop());
  const kubeconfig = await serviceAccountKubeconfig(cluster, system, account, undefined, proxy.url);
  // The Services of the operator lead to this port of the chart's replicas.
  flags.push('--webhook-port=15017');
  const settings = { name: 'leader', role: 'controller', namespace: system, kubeconfig, flags, environment } as const;
  const operator = await startOperatorProcess({ ...settings, advertiseHost: undefined }, cluster.run);
  context.atEnd(() => operator.process.kill());
  await operator.waitUntilReady();
  return {
    controllers: [{ name: 'leader', operator }],
    proxy,
    kill: async () => {
      const time = Date.now();
      await operator.process.kill();
      return time;
    },
  };
}
