import { setTimeout as sleep } from 'node:timers/promises';
import { cpuSecondsOf } from '../../scripts/test/account.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { podCreations } from '../harness/admissions.ts';
import { applyUntilReady, smallConfig } from '../harness/injector-configs.ts';
import { refusedCreations } from '../harness/lost-admissions.ts';
import type { Replicas } from '../harness/replicas/replicas.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { found } from '../harness/wait-for.ts';
import { deployment, neverScheduled } from '../harness/workloads.ts';
import { hasSidecar, isHeld, podsIn } from './hold/held-workloads.ts';
import { servesPolicies, untilHolding } from './hold/holding.ts';

const { START_PODS: named = '20000' } = process.env;
/** The pods of each start, in Deployments of this many pods. */
const sizes = { short: { pods: 200, each: 20 }, full: { pods: Number(named), each: 100 } };
const policies = ['Hold', 'Fail', 'Ignore'] as const;
/** How long the requests of idle processes are counted, in seconds. */
const idleSeconds = { short: 10, full: 60 };

/** What became of the pods of one start. */
interface Start {
  readonly pods: number;
  /** From the first Deployment until the last pod was stored (with a sidecar, if it is held). */
  readonly seconds: number;
  /** Until the API server could reach a replica; 0 without us. */
  readonly secondsToFirstReplica: number;
  readonly refused: number;
  readonly refusedLater: number;
  /** Stored without a sidecar and without a gate. */
  readonly bare: number;
  /** Created without a sidecar and then replaced. */
  readonly replaced: number;
  readonly cpuSecondsOfReplicas: number;
}

export const clusterStart: Scenario = {
  name: 'cluster-start',
  about:
    'controllers create pods as fast as the API server takes them while all replicas start, for each failurePolicy',
  destructive: 'it stops all replicas and fills the cluster with pods',
  ownControlPlane: true,
  onlyGate: true,
  full: `${named} pods for each failurePolicy and without a webhook, 15 minutes; START_PODS=5000 tries another number`,
  run: async (context) => {
    const canHold = await servesPolicies(context);
    const replicas = await context.startReplicas({}, { operator: { holdPods: canHold } });
    const starts: Record<string, Start> = {};
    for (const failurePolicy of policies.filter((each) => each !== 'Hold' || canHold)) {
      const name = failurePolicy.toLowerCase();
      const ended = replicas.all.filter(({ operator }) => !operator.process.running);
      await Promise.all(ended.map(({ operator }) => operator.restart()));
      await applyUntilReady(context.client, smallConfig(name, { failurePolicy }));
      if (failurePolicy === 'Hold') await untilHolding(context, name);
      if (failurePolicy === 'Fail') context.measured({ idleRequestsPerMinute: await idleRequests(context, replicas) });
      await Promise.all(replicas.all.map(({ operator }) => operator.process.stop(30_000)));
      const found = await start(context, name, replicas);
      starts[failurePolicy] = found;
      await checkStart(context, failurePolicy, found);
    }
    starts['no webhook'] = await start(context, 'none');
    context.measured({ starts: Object.entries(starts).map(([policy, each]) => ({ policy, ...each })) });
    return Object.entries(starts)
      .map(([name, { pods, seconds, refused, bare }]) => {
        return `${name}: ${pods} pods in ${seconds} s, ${refused} refused, ${bare} bare`;
      })
      .join('; ');
  },
};

/** Counts the requests of an idle leader, of another controller, and of a webhook replica. */
async function idleRequests(context: ScenarioContext, replicas: Replicas) {
  const leader = await replicas.waitForLeader();
  const standby = replicas.controllers.find((each) => each !== leader);
  await sleep(5000);
  const audit = context.requireAudit();
  const seconds = idleSeconds[context.size];
  await sleep(seconds * 1000);
  const events = audit.events();
  return [leader, standby, replicas.webhooks[0]].flatMap((replica) => {
    if (replica === undefined) return [];
    const own = events.filter(({ verb, userAgent }) => verb !== 'watch' && userAgent?.includes(replica.name) === true);
    const leases = own.filter(({ verb, objectRef }) => objectRef?.resource === 'leases' && verb !== 'get');
    const perMinute = (count: number): number => Math.round((60 * count) / seconds);
    const role = replica === leader ? 'leader' : replica === standby ? 'standby controller' : 'webhook replica';
    return [{ role, requests: perMinute(own.length), leaseWrites: perMinute(leases.length) }];
  });
}

async function checkStart(context: ScenarioContext, policy: string, { refused, refusedLater, bare }: Start) {
  const expected = {
    Hold: [`Hold: no pod is refused, and none is bare`, refused + bare],
    Fail: ['Fail: pods are refused only until the first replica serves, and none is bare', refusedLater + bare],
    Ignore: ['Ignore: no pod is refused', refused],
  }[policy] as [string, number];
  await context.checkNow(expected[0], () => found(String(expected[1]), '0'));
}

/** Creates Deployments while the replicas start, and waits until all their pods are there. */
async function start(context: ScenarioContext, name: string, replicas?: Replicas): Promise<Start> {
  const { client, size } = context;
  const { pods, each } = sizes[size];
  const namespace = await context.namespace(name, replicas === undefined ? {} : { 'istio.io/rev': name });
  const audit = context.requireAudit();
  const began = Date.now();
  const restarts = replicas?.all.map(({ operator }) => operator.restart()) ?? [];
  const firstReplica = replicas && firstInRotation(replicas);
  for (let index = 0; index * each < pods; index++) {
    // Pods that nothing runs: the scheduler and fake kubelets would take most of the machine.
    await client.create(deployment(namespace, `app-${index}`, { replicas: each, spec: neverScheduled }));
  }
  await Promise.all(restarts);
  const servedAt = (await firstReplica) ?? began;
  const allThere = async () => {
    const { items } = await client.listAll<{ status?: { replicas?: number } }>(replicaSets, { namespace });
    const count = items.reduce((sum, { status }) => sum + (status?.replicas ?? 0), 0);
    if (count < pods) throw new Error(`there are ${count} of ${pods} pods`);
    const held = (await podsIn(context, namespace)).filter((pod) => isHeld(pod) && !hasSidecar(pod, name)).length;
    return found(`${held} pods are held`, '0 pods are held');
  };
  await context.check(`${name}: all ${pods} pods of the controllers are there`, allThere, {
    timeout: 600_000,
    interval: 2000,
  });
  const creations = podCreations(audit.events(), namespace);
  const refused = refusedCreations(creations).length;
  const later = creations.filter(({ requestReceivedTimestamp: time }) => Date.parse(time) > servedAt);
  const stored = creations.filter(({ responseStatus }) => responseStatus?.code === 201);
  const last = Math.max(...stored.map(({ stageTimestamp }) => Date.parse(stageTimestamp)));
  const there = await podsIn(context, namespace);
  const cpuSeconds = replicas?.all.map(({ operator }) => cpuSecondsOf(operator.process.pid ?? 0)?.own ?? 0) ?? [];
  const start: Start = {
    pods: there.length,
    seconds: secondsBetween(began, last),
    secondsToFirstReplica: secondsBetween(began, servedAt),
    refused,
    refusedLater: refusedCreations(later).length,
    bare: replicas === undefined ? 0 : there.filter((pod) => !hasSidecar(pod, name)).length,
    replaced: stored.length - there.length,
    cpuSecondsOfReplicas: Math.round(cpuSeconds.reduce((sum, used) => sum + used, 0)),
  };
  context.say(`${name}: ${JSON.stringify(start)}`);
  await Promise.all(replicas?.all.map(({ operator }) => operator.process.stop(30_000)) ?? []);
  return start;
}

const replicaSets = resourceKind('apps/v1', 'ReplicaSet');

/** Returns when the API server can reach the first replica, in milliseconds since 1970. */
async function firstInRotation({ webhooks, balancer }: Replicas): Promise<number> {
  await Promise.any(webhooks.map(({ name }) => balancer.waitUntilUsed(name)));
  return Date.now();
}

function secondsBetween(from: number, to: number): number {
  return Math.round((to - from) / 100) / 10;
}
