import { tagWebhookConfiguration } from '../../../src/api/names.ts';
import {
  formatRolloutAction,
  rolloutActionAnnotation,
  type RolloutVerb,
} from '../../../src/api/revision-tag/rollout-action.ts';
import type { RolloutState } from '../../../src/api/revision-tag/revision-tag.ts';
import type { AuditLog } from '../../harness/audit-log.ts';
import { repeat } from '../../harness/repeat.ts';
import type { Replicas } from '../../harness/replicas/replicas.ts';
import { revisionTag, revisionTags, type RevisionTagObject } from '../../harness/revision-tags.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { none, waitFor } from '../../harness/wait-for.ts';
import type { Pod } from '../../harness/pod.ts';
import { webhooks, type WebhookConfiguration } from '../../harness/webhook-configurations.ts';
import { barePod, deployment, type WorkloadOptions } from '../../harness/workloads.ts';
import { makersOf, PodSightings, readinessSince, readyAt, workloadOf } from './pod-sightings.ts';

/**
 * The number of pods deleted per round, and the duration of a round in milliseconds. If `restMs` is
 * set, a pod is not deleted until its readiness has been unchanged for that many milliseconds.
 * Without `restMs`, pods on a slow machine might not live long enough to count.
 */
export interface Churn {
  readonly pods: number;
  readonly roundMs: number;
  readonly restMs?: number;
}

/** Deployments that follow a tag; some of their pods are continuously deleted and recreated. */
export class Workloads {
  readonly #names: Set<string>;
  readonly #context: ScenarioContext;
  /** The pods seen so far. */
  readonly pods: PodSightings;
  /** Stops the deletions. */
  close: () => Promise<void> = () => Promise.resolve();
  #turn = 0;

  private constructor(context: ScenarioContext, pods: PodSightings, count: number) {
    this.#context = context;
    this.pods = pods;
    this.#names = new Set(Array.from({ length: count }, (_, index) => `work-${String(index).padStart(3, '0')}`));
  }

  /** @param options.opensReady whether to wait until pods are ready, not only created */
  static async open(
    context: ScenarioContext,
    audit: AuditLog,
    tag: string,
    count: number,
    { churn, opensReady = true }: { churn: Churn; opensReady?: boolean },
  ): Promise<Workloads> {
    const namespace = await context.namespace(tag, { 'istio.io/rev': tag });
    const workloads = new Workloads(context, new PodSightings(context.client, audit, namespace), count);
    for (const name of workloads.names) await context.client.create(deployment(workloads.namespace, name));
    const haveAllPods = async () => (opensReady ? await workloads.ready() : await workloads.stored()).size === count;
    const what = `${count} Deployments to have ${opensReady ? 'ready ' : ''}pods`;
    await waitFor(what, haveAllPods, { interval: 250 });
    workloads.close = repeat(async (pause) => {
      await pause(churn.roundMs);
      await workloads.disturb(churn.pods, churn.restMs).catch(() => undefined);
    });
    context.atEnd(() => workloads.close());
    return workloads;
  }

  get namespace(): string {
    return this.pods.namespace;
  }

  get names(): readonly string[] {
    return [...this.#names];
  }

  async add(name: string, options: WorkloadOptions = {}): Promise<string> {
    const before = new Set(this.pods.seen.map(({ uid }) => uid));
    await this.#context.client.create(deployment(this.namespace, name, options));
    this.#names.add(name);
    return waitFor(`a pod of ${name}`, async () => {
      await this.pods.look();
      return this.pods.seen.find(({ uid, workload }) => workload === name && !before.has(uid))?.maker;
    });
  }

  async remove(name: string): Promise<void> {
    this.#names.delete(name);
    await this.#context.client.delete(deployment(this.namespace, name), { propagationPolicy: 'Background' });
    await waitFor(`the pods of ${name} to be deleted`, async () => !(await this.stored()).has(name));
  }

  async ready(): Promise<Set<string>> {
    const pods = await this.pods.look();
    return new Set(pods.filter((pod) => readyAt(pod) !== undefined).map(workloadOf));
  }

  async stored(): Promise<Map<string, Set<string>>> {
    return makersOf(await this.pods.look());
  }

  /** Recreates pods of Deployments (default: all); returns each Deployment's InjectorConfigs. */
  async renew(names: readonly string[] = this.names): Promise<Map<string, Set<string>>> {
    const chosen = (await this.pods.look()).filter((pod) => names.includes(workloadOf(pod)));
    const old = new Set(chosen.map(({ metadata }) => metadata.uid));
    await this.pods.delete(chosen);
    const makersOfAll = async () => {
      const pods = await this.pods.look();
      if (pods.some(({ metadata }) => old.has(metadata.uid))) return false;
      const makers = makersOf(pods);
      return makers.size === this.#names.size && makers;
    };
    return waitFor('every pod to be recreated', makersOfAll, { interval: 150 });
  }

  /** Stops the churn, checks that no pod was lost, and returns the number of created pods. */
  async checkNoneLost(): Promise<number> {
    await this.close();
    return checkNoneLost(this.#context, [this.pods.lost()]);
  }

  /** Waits until each Deployment's pods have one InjectorConfig. Returns `maker`'s Deployments. */
  async settled(maker: string): Promise<string[]> {
    const settledMakers = async () => {
      const found = await this.stored();
      return found.size === this.#names.size && [...found.values()].every(({ size }) => size === 1) && found;
    };
    const what = 'every Deployment to have pods of one InjectorConfig';
    const makers = await waitFor(what, settledMakers, { interval: 150 });
    return [...makers].filter(([, each]) => each.has(maker)).map(([name]) => name);
  }

  async allOf(maker: string, timeout: number): Promise<void> {
    const isEverywhere = async () => (await this.settled(maker)).length === this.#names.size;
    await waitFor(`${maker} to inject every pod`, isEverywhere, { timeout });
  }

  /** Recreates the pods of the next few Deployments; `restMs` as in {@link Churn}. */
  async disturb(count: number, restMs?: number): Promise<void> {
    const now = Date.now();
    const isSpared = (pod: Pod) => restMs !== undefined && now - (readinessSince(pod) ?? now) < restMs;
    const pods = (await this.pods.look()).filter((pod) => !isSpared(pod));
    const some = Array.from({ length: count }, (_, index) => pods[(this.#turn + index * 7) % pods.length]);
    this.#turn += 3;
    await this.pods.delete(some.flatMap((pod) => pod ?? []));
  }
}

/** Checks that no pod was lost; returns the number of created pods. */
export async function checkNoneLost(context: ScenarioContext, counts: readonly ReturnType<PodSightings['lost']>[]) {
  const created = counts.reduce((sum, each) => sum + each.created, 0);
  const lost = counts.flatMap((each) => each.lost);
  await context.checkNow(`none of ${created} pods was lost`, () => none(lost));
  return created;
}

/** Waits until the rollout of a tag is in the state that `what` describes and `isSo` accepts. */
export async function waitForRollout(
  context: ScenarioContext,
  tag: string,
  what: string,
  isSo: (rollout: RolloutState) => boolean,
  timeout = 60_000,
  interval = 100,
): Promise<RolloutState> {
  const state = async () => {
    const found = await context.client.get<RevisionTagObject>(revisionTags, tag);
    const rollout = found.status?.['rollout'] as RolloutState | undefined;
    if (rollout !== undefined && isSo(rollout)) return rollout;
    throw new Error(`its state is ${JSON.stringify(rollout)}`);
  };
  return waitFor(`the rollout of ${tag} to be ${what}`, state, { timeout, interval });
}

/** Requests an action with an annotation, as a user does. */
export async function ask(context: ScenarioContext, tag: string, verb: RolloutVerb, nonce: string): Promise<void> {
  const annotations = { [rolloutActionAnnotation]: formatRolloutAction({ verb, nonce }) };
  await context.client.patch(revisionTag(tag, ''), 'merge', { metadata: { annotations } });
}

/** Returns the paths of a tag's webhooks. */
export async function pathOf(context: ScenarioContext, tag: string): Promise<string> {
  const found = await context.client.get<WebhookConfiguration>(webhooks, tagWebhookConfiguration(tag));
  const paths = new Set(found.webhooks.map(({ clientConfig }) => clientConfig.service?.path));
  return [...paths].join(' and ');
}

/**
 * Checks the negative control of "no pod was lost": with every webhook replica dead, the API server
 * refuses a pod that follows the tag, and the test counts the pod as lost. Restarts all replicas.
 */
export async function checkLossSeen(context: ScenarioContext, replicas: Replicas, tag: string): Promise<void> {
  const { client } = context;
  // Use a separate namespace. It has no stored pods, so it adds no workload to the shares.
  const namespace = await context.namespace('refused', { 'istio.io/rev': tag });
  const pods = new PodSightings(client, context.requireAudit(), namespace);
  await Promise.all(replicas.webhooks.map((each) => replicas.kill(each)));
  await replicas.balancer.waitForRotation([]);
  await client.create(barePod(namespace, 'refused')).catch(() => undefined);
  await context.check('negative control: with every webhook replica dead, the test detects a lost pod', () => {
    return pods.lost().lost.length === 1;
  });
  await Promise.all(replicas.webhooks.map(({ operator }) => operator.restart()));
  await replicas.waitUntilServing();
}
