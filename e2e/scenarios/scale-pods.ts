import { setTimeout as sleep } from 'node:timers/promises';
import type { UsageStatus } from '../../src/api/injector-config/usage-status.ts';
import type { RestartStatus, RolloutState } from '../../src/api/revision-tag/revision-tag.ts';
import { AdmissionRhythm } from '../harness/admission-rhythm.ts';
import { applyObject } from '../harness/apply.ts';
import {
  applyUntilReady,
  injectorConfigs,
  smallConfig,
  type InjectorConfigObject,
} from '../harness/injector-configs.ts';
import type { Installation } from '../harness/installation.ts';
import { requestsOf, sumOf, waitUntilQuiet } from '../harness/operator-requests.ts';
import { podReview } from '../harness/post-review.ts';
import { applyTagUntilReady, revisionTag, revisionTags, type RevisionTagObject } from '../harness/revision-tags.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { found, waitFor } from '../harness/wait-for.ts';
import { ManyPods, sampleNamespace } from './scale-pods/many-pods.ts';
import { reviewTarget } from '../harness/webhook-configurations.ts';
import { barePod, neverScheduled } from '../harness/workloads.ts';

const { SCALE_PODS: named = '10000,30000,100000' } = process.env;
const sizes = {
  short: { pods: [400, 1200], revisions: 4, tags: 2 },
  full: { pods: named.split(',').map(Number), revisions: 20, tags: 5 },
};
/** What must hold at every size. */
const goals = {
  memoryMebibytes: 350,
  stallMilliseconds: 100,
  statusSeconds: 32,
  rolloutStepSeconds: 5,
  restartsPlannedSeconds: 1,
} as const;
/** How many more requests an edit may take at the largest size than at the smallest. */
const moreRequests = 5;
/** How far the largest size may be from the line through the two smaller ones. */
const tolerance = 0.2;

interface Reading {
  readonly pods: number;
  readonly namespaces: number;
  readonly memoryMebibytes: number;
  /** From the end of the previous leader until all pods are counted. */
  readonly countedSeconds: number;
  /** The longest time for which the process itself delayed an admission while it began to lead. */
  readonly stallMilliseconds: number;
  /** From a change, right after another one, until a status shows it. */
  readonly statusSeconds: number;
  readonly requestsPerEdit: number;
  /** From the edit of a tag until its canary has the weight of the first step. */
  readonly rolloutStepSeconds: number;
  /** From the edit of a tag until its status counts all workloads that the edit made stale. */
  readonly restartsPlannedSeconds: number;
}

export const scalePods: Scenario = {
  name: 'scale-pods',
  about: 'one process leads and serves while the cluster has many pods of 8 kB: memory, stalls, statuses, requests',
  destructive: 'it ends components of the control plane, and writes pods into etcd',
  ownControlPlane: true,
  onlyGate: true,
  full: `${named} pods with 20 revisions and 5 tags, 15 minutes; SCALE_PODS=10000 tries other numbers`,
  run: async (context) => {
    const { pods } = sizes[context.size];
    const installation = await context.install({ operator: { restartWorkloads: true } });
    await installation.startOperator({ name: 'scale-0' });
    const cluster = await populate(context);
    const readings: Reading[] = [];
    for (const [index, count] of pods.entries()) {
      await cluster.growTo(count);
      readings.push(await read(context, installation, cluster, { pods: count, name: `scale-${index + 1}` }));
      context.say(JSON.stringify(readings.at(-1)));
      context.measured({ readings: readings.map((each) => ({ ...each })) });
    }
    for (const [measure, most] of Object.entries(goals) as [keyof typeof goals, number][]) {
      const figures = readings.map((each) => each[measure]);
      await context.checkNow(`${measure} is at most ${most} with ${pods.join(', ')} pods`, () =>
        found(figures.filter((each) => each > most).join(), ''),
      );
    }
    const edits = readings.map(({ requestsPerEdit }) => requestsPerEdit);
    await context.checkNow(`the requests for an edit are flat: ${edits.join(', ')}`, () => {
      return Math.max(...edits) <= (edits[0] ?? 0) + moreRequests;
    });
    const [one, two, three] = readings;
    if (one !== undefined && two !== undefined && three !== undefined) {
      const slope = (two.memoryMebibytes - one.memoryMebibytes) / (two.pods - one.pods);
      const predicted = Math.round(two.memoryMebibytes + slope * (three.pods - two.pods));
      context.measured({ predictedMebibytes: predicted, bytesPerPod: Math.round(slope * 2 ** 20) });
      await context.checkNow(
        `memory with ${three.pods} pods is within ${tolerance * 100} % of what the smaller sizes predict`,
        () => {
          if (Math.abs(three.memoryMebibytes / predicted - 1) <= tolerance) return true;
          throw new Error(`${three.memoryMebibytes} MiB instead of ${predicted} MiB`);
        },
      );
    }
    return readings
      .map((each) => {
        const { memoryMebibytes, stallMilliseconds, statusSeconds, rolloutStepSeconds, restartsPlannedSeconds } = each;
        return `${each.pods} pods: ${memoryMebibytes} MiB, ${stallMilliseconds} ms stalled, status after ${statusSeconds} s, step after ${rolloutStepSeconds} s, restarts after ${restartsPlannedSeconds} s`;
      })
      .join('; ');
  },
};

async function read(
  context: ScenarioContext,
  installation: Installation,
  cluster: ManyPods,
  { pods, name }: { readonly pods: number; readonly name: string },
): Promise<Reading> {
  const { client } = context;
  const before = installation.operators.at(-1);
  const next = await installation.startOperator({ name });
  const rhythm = new AdmissionRhythm(
    await reviewTarget(client, revisionName(0), installation.namespace, next.webhookPort),
    podReview('scale'),
    () => next.process.pid,
  );
  await sleep(2000);
  const handOver = Date.now();
  const stopped = before?.process.stop(30_000);
  const counted = async () => {
    const metrics = await next.metrics();
    found(String(sumOf(metrics, 'injector_leader')), '1');
    return found(String(sumOf(metrics, 'injector_pods', 'state="current"')), String(pods));
  };
  await context.check(`a new leader counts all ${pods} pods as current`, counted, {
    timeout: 600_000,
    interval: 500,
  });
  const countedSeconds = secondsSince(handOver);
  await Promise.all([quiet(context, installation), stopped]);
  await rhythm.stop();
  const delays = rhythm.between(handOver, Date.now());
  await context.checkNow(`meanwhile, each of ${delays.length} admissions got a patch`, () =>
    delays.every(({ injected }) => injected),
  );
  const memoryMebibytes = next.residentMemory();
  return {
    pods,
    namespaces: cluster.namespaces,
    memoryMebibytes,
    countedSeconds,
    stallMilliseconds: Math.round(Math.max(...delays.map(({ heldUp }) => heldUp))),
    statusSeconds: await statusSeconds(context),
    requestsPerEdit: await requestsOfEdit(context, installation, client),
    rolloutStepSeconds: await rolloutStepSeconds(context),
    restartsPlannedSeconds: await restartsPlannedSeconds(context, cluster.workloadsOf(tagName(1))),
  };
}

async function quiet(context: ScenarioContext, { username }: Installation): Promise<void> {
  await waitUntilQuiet(context.requireAudit(), username, 3000);
}

/** Creates two pods, and waits until the status counts the second, which need not be immediate. */
async function statusSeconds(context: ScenarioContext): Promise<number> {
  const name = revisionName(0);
  const namespace = sampleNamespace(0);
  const total = async () => {
    const { status } = await context.client.get<InjectorConfigObject & { status?: UsageStatus }>(injectorConfigs, name);
    return status?.injected?.total ?? 0;
  };
  const create = (pod: string) => context.client.create(barePod(namespace, pod, { spec: neverScheduled }));
  const before = await total();
  await create('one-more');
  await waitFor('the status to count a pod', async () => (await total()) === before + 1);
  const began = Date.now();
  await create('another');
  await waitFor('the status to count another pod', async () => (await total()) === before + 2, { timeout: 90_000 });
  const seconds = secondsSince(began);
  for (const pod of ['one-more', 'another'])
    await context.client.delete(barePod(namespace, pod), { gracePeriodSeconds: 0 });
  return seconds;
}

/** Returns the number of requests for an edit of an InjectorConfig, without dry runs. */
async function requestsOfEdit(
  context: ScenarioContext,
  installation: Installation,
  client: ScenarioContext['client'],
): Promise<number> {
  const config = smallConfig(revisionName(0));
  await quiet(context, installation);
  const audit = context.requireAudit();
  const injection = { ...config.spec.injection, injectedAnnotations: { 'e2e.sidecar-injector.io/edited': 'yes' } };
  await applyUntilReady(client, { ...config, spec: { ...config.spec, injection } });
  await waitUntilQuiet(audit, installation.username, 3000);
  const requests = requestsOf(audit, installation.username);
  await applyUntilReady(client, config);
  await quiet(context, installation);
  return requests.filter(({ requestURI }) => !requestURI.includes('dryRun=All')).length;
}

async function rolloutStepSeconds({ client }: ScenarioContext): Promise<number> {
  const name = tagName(0);
  const weight = 50;
  const strategy = { canary: { steps: [{ weight, pause: 'UntilResumed' }] } };
  await applyTagUntilReady(client, revisionTag(name, revisionName(0), { strategy }));
  const began = Date.now();
  await applyObject(client, revisionTag(name, revisionName(1), { strategy }));
  await waitFor(`the canary of tag ${name} to have its first weight`, async () => {
    const { status } = await client.get<RevisionTagObject>(revisionTags, name);
    return (status?.['rollout'] as RolloutState | undefined)?.weight === weight;
  });
  const seconds = secondsSince(began);
  await applyTagUntilReady(client, revisionTag(name, revisionName(0)));
  return seconds;
}

/** Creates revisions and tags. Returns the pods that will follow them. */
async function populate(context: ScenarioContext): Promise<ManyPods> {
  const { client, size } = context;
  const { revisions, tags } = sizes[size];
  for (let index = 0; index < revisions; index++) await applyUntilReady(client, smallConfig(revisionName(index)));
  for (let index = 0; index < tags; index++)
    await applyTagUntilReady(client, revisionTag(tagName(index), revisionName(index)));
  await applyTagUntilReady(client, revisionTag(tagName(1), revisionName(1), { strategy: restarting() }));
  const followed = [...Array(revisions).keys()].map(revisionName).concat([...Array(tags).keys()].map(tagName));
  return await ManyPods.start(context, followed);
}

/** A strategy that plans restarts for a window that begins in twelve hours. */
function restarting(): Record<string, unknown> {
  const [from, to] = [12, 13].map((hours) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16));
  return { restart: { maxUnavailableWorkloads: 8 }, windows: [{ from, to, timeZone: 'UTC' }] };
}

/** Moves a tag, and waits until its status counts all workloads whose pods are stale now. */
async function restartsPlannedSeconds(context: ScenarioContext, expected: number): Promise<number> {
  const { client } = context;
  const name = tagName(1);
  const tag = (revision: number) => revisionTag(name, revisionName(revision), { strategy: restarting() });
  const began = Date.now();
  await applyObject(client, tag(2));
  await waitFor(`${expected} workloads to be planned`, async () => {
    const { status = {} } = await client.get<RevisionTagObject>(revisionTags, name);
    return found(String((status['restarts'] as RestartStatus | undefined)?.stale), String(expected));
  });
  const seconds = secondsSince(began);
  await applyTagUntilReady(client, tag(1));
  return seconds;
}

const revisionName = (index: number): string => `scale-${index}`;
const tagName = (index: number): string => `scale-tag-${index}`;

function secondsSince(time: number): number {
  return Math.round((Date.now() - time) / 100) / 10;
}
