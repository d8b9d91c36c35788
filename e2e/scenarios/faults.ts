import { setTimeout as sleep } from 'node:timers/promises';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { dryRun } from '../harness/admissions.ts';
import { applyObject, objectOf } from '../harness/apply.ts';
import type { PassedWrite } from '../harness/faulty-proxy/faulty-proxy-worker.ts';
import { isCounted, nameIn } from '../harness/faulty-proxy/passed-writes.ts';
import { applyUntilReady, injectorConfigs, waitForCondition } from '../harness/injector-configs.ts';
import { checkDeadReplicas, Losses, reportLoad } from '../harness/load/losses.ts';
import { markDefect, markedConfig, marksOf } from '../harness/load/marked-config.ts';
import { podReview, postReview, type ReviewTarget } from '../harness/post-review.ts';
import type { Replicas } from '../harness/replicas/replicas.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { none, waitFor } from '../harness/wait-for.ts';
import { reviewTarget, validatingWebhooks, webhooks } from '../harness/webhook-configurations.ts';
import { barePod } from '../harness/workloads.ts';

export const faults: Scenario = {
  name: 'faults',
  about:
    'API server and etcd fail, watches hang and expire, requests are refused: injection goes on, and all is well 5 s later',
  destructive: 'it kills the components of the control plane',
  ownControlPlane: true,
  full: 'etcd stopped for a minute, storms of 20 s, every watch hung: about 6 minutes',
  run: async (context) => {
    const { client, size } = context;
    const replicas = await context.startReplicas({ proxied: true });
    const namespace = await context.namespace('pods', { 'istio.io/rev': configName });
    const cluster = faultyCluster(context, replicas, namespace);
    await applyUntilReady(client, markedConfig(configName, 'edit0'));
    const load = await context.startLoad({ namespace, perSecond: 15, inspect: markDefect });
    await checkDeadReplicas(context, replicas, new Losses(context, load, cluster.audit));
    const began = Date.now();

    // In the short size it is noticed while other things happen.
    const hung = await hangWatches(cluster, { resources: ['nodes'] });
    await restartApiServer(cluster);
    await stopEtcd(cluster);
    await freezeControllerManager(cluster);
    await expireWatches(cluster);
    await refuseRequests(cluster);
    const noticed = await checkHungDetected(cluster, hung);
    const all = size === 'full' ? await hangEverything(cluster) : 0;
    await load.stop();

    const { created, lost } = reportLoad(load, cluster.audit.events(), { answeredSince: began });
    // While nothing can be stored creations fail for that reason; what counts is those that failed at our webhook.
    const ours = lost.filter(({ kind, description }) => kind !== 'refused' || description.includes('webhook'));
    await context.checkNow(`0 of ${created} pods lost at the webhook (${lost.length} could not be stored)`, () =>
      none(ours.map(({ description }) => description)),
    );
    const writes = await cluster.proxy.writes();
    const duplicates = duplicateWrites(writes);
    const last = writes.filter(isDone).slice(-1);
    await context.checkNow(
      'a write that is repeated would be seen',
      () => duplicateWrites([...last, ...last]).length === 1,
    );
    await context.checkNow(
      `none of ${writes.filter(isDone).length} writes was (the audit log has ${recordedWrites(cluster)})`,
      () => none(duplicates),
    );
    context.measured({ created, lost: ours.length, reconvergedMilliseconds: cluster.reconverged });
    context.measured({ hungNoticedMilliseconds: Math.max(noticed, all), duplicates: duplicates.length });
    const slowest = Math.max(...Object.values(cluster.reconverged));
    return `${created} pods, 0 lost; slowest back ${slowest} ms after a fault; hung watches noticed within ${noticed} ms; 0 duplicate writes`;
  },
};

/** Successful writes of our processes by the audit log, which knows no bodies: to be compared with those that were seen on their way. */
function recordedWrites({ audit, replicas }: FaultyCluster): number {
  return replicas.installation.usernames
    .flatMap((username) => audit.writesBy(username, false))
    .filter(({ objectRef, responseStatus }) => objectRef?.resource !== 'events' && (responseStatus?.code ?? 0) < 300)
    .length;
}

/** Successful writes that said what the one before them on the same object had said already, Leases and Events apart. */
function duplicateWrites(writes: PassedWrite[]): string[] {
  const last = new Map<string, string>();
  const duplicates: string[] = [];
  for (const { verb, apiGroup, resource, subresource, namespace, name, body } of writes.filter(isDone)) {
    const object = `${resource}.${apiGroup} ${namespace}/${verb === 'create' ? nameIn(body) : name} ${subresource}`;
    const said = verb === 'delete' ? 'deleted' : body;
    if (last.get(object) === said) duplicates.push(`${verb} ${object}`);
    last.set(object, said);
  }
  return duplicates;
}

function isDone({ status, resource }: PassedWrite): boolean {
  return status < 300 && isCounted(resource);
}

/** Most requests are refused for a while, as by an overloaded or broken API server, in the middle of an edit. */
async function refuseRequests(cluster: FaultyCluster): Promise<void> {
  for (const status of [403, 429, 500]) {
    // Again each time: of a configuration that is three edits old nothing is kept.
    const direct = await cluster.prepareDirect();
    const retry = status === 429 ? { retryAfterSeconds: 1 } : {};
    const storm = await cluster.proxy.fault({ match: {}, action: { kind: 'answer', status, ...retry }, share: 0.8 });
    await cluster.edit();
    await sleep(cluster.lasting(2000, 20_000));
    await cluster.checkInjecting(direct, `${status} for four of five requests`);
    const met = await storm.end();
    await cluster.context.checkNow(`the storm met requests (${met})`, () => met > 0);
    await cluster.checkReconverged(`${met} requests got ${status}`, Date.now());
  }
}

/**
 * Watches that are open stay open, and nothing comes on them any more; new ones are well.
 *
 * @param match which resources' watches; all of them unless told
 */
async function hangWatches(cluster: FaultyCluster, match: { resources?: string[] } = {}) {
  const hungBefore = await cluster.watchesEnded('Hung');
  const fault = await cluster.proxy.fault({ match: { verbs: ['watch'], ...match }, action: { kind: 'hang' } });
  return { count: await fault.end(), since: Date.now(), hungBefore };
}

type HungWatches = Awaited<ReturnType<typeof hangWatches>>;

/** Every hung watch is noticed within a minute. Returns when the last one was, in milliseconds after it hung. */
async function checkHungDetected(cluster: FaultyCluster, hung: HungWatches): Promise<number> {
  await cluster.context.check(
    `${hung.count} watches hang, half-open: each is noticed`,
    async () => hung.count > 0 && (await cluster.watchesEnded('Hung')) >= hung.hungBefore + hung.count,
    { timeout: 150_000 },
  );
  // Other things have happened meanwhile, so the logs say when.
  const noticed = cluster.replicas.all
    .flatMap(({ operator }) => operator.process.log().split('\n'))
    .filter((line) => line.includes('did not end when it was due'))
    .map((line) => Date.parse(line.split(' ', 1)[0] ?? '') - hung.since)
    .filter((after) => after >= 0);
  const last = Math.max(...noticed);
  const still = await cluster.standstill.between(hung.since, hung.since + last);
  await cluster.context.checkNow(
    `the last of them after ${last} ms`,
    () => noticed.length >= hung.count && last <= 60_000 + still,
  );
  return last;
}

/** Everything hangs in the middle of an edit. */
async function hangEverything(cluster: FaultyCluster): Promise<number> {
  const direct = await cluster.prepareDirect();
  const hung = await hangWatches(cluster);
  await cluster.edit();
  await cluster.checkInjecting(direct, 'every watch hangs');
  const took = await checkHungDetected(cluster, hung);
  await cluster.checkReconverged(`${hung.count} hung watches were noticed`, Date.now());
  return took;
}

async function restartApiServer(cluster: FaultyCluster): Promise<void> {
  const direct = await cluster.prepareDirect();
  await cluster.edit();
  await cluster.plane.component('kube-apiserver').kill();
  await cluster.checkInjecting(direct, 'the API server is dead');
  await sleep(cluster.lasting(1000, 20_000));
  await cluster.checkInjecting(direct, 'the API server is still dead');
  await cluster.plane.restart('kube-apiserver');
  await cluster.checkReconverged('the API server is back', Date.now());
}

async function stopEtcd(cluster: FaultyCluster): Promise<void> {
  const direct = await cluster.prepareDirect();
  await cluster.plane.component('etcd').stop();
  await cluster.checkInjecting(direct, 'etcd is stopped');
  await sleep(cluster.lasting(4000, 60_000));
  await cluster.checkInjecting(direct, 'etcd is still stopped');
  await cluster.plane.restart('etcd');
  await waitUntilStored(cluster);
  await cluster.edit();
  await cluster.checkReconverged('etcd is back', Date.now());
}

/** The API server has a connection to etcd for each resource, which it tries again later the longer etcd was away: the fault ends with the last of them. */
async function waitUntilStored({ context }: FaultyCluster): Promise<void> {
  const kinds = [
    injectorConfigs,
    resourceKind('coordination.k8s.io/v1', 'Lease'),
    resourceKind('rbac.authorization.k8s.io/v1', 'Role'),
    ...['ConfigMap', 'Secret', 'Service', 'Namespace', 'Pod'].map((kind) => resourceKind('v1', kind)),
    webhooks,
    validatingWebhooks,
  ];
  await waitFor(
    'the API server to read every resource from etcd',
    async () => {
      // Without a resourceVersion a list is read from etcd.
      await Promise.all(kinds.map((kind) => context.client.list(kind, { limit: 1, timeoutMs: 2000 })));
      return true;
    },
    { timeout: 180_000 },
  );
}

/** The controller-manager stops: nothing of ours needs it. */
async function freezeControllerManager(cluster: FaultyCluster): Promise<void> {
  const manager = cluster.plane.component('kube-controller-manager');
  manager.freeze();
  try {
    const since = Date.now();
    await cluster.edit();
    await cluster.checkReconverged('the controller-manager is frozen', since);
    await sleep(cluster.lasting(0, 30_000));
  } finally {
    manager.unfreeze();
  }
}

/** Watches are cut, the cluster goes on without us, what they would resume from is compacted away: listed again. */
async function expireWatches(cluster: FaultyCluster): Promise<void> {
  const { context, proxy, plane } = cluster;
  const expired = await cluster.watchesEnded('Expired');
  const cut = await proxy.fault({ match: { verbs: ['list', 'watch'] }, action: { kind: 'cut' } });
  await cluster.edit();
  // Something of every kind that is watched changes, so that each watch is behind.
  for (let index = 0; index < 3; index++) {
    await context.client.patch(objectOf('v1', 'Namespace', 'default'), 'merge', {
      metadata: { labels: { 'e2e.sidecar-injector.io/moved': String(index) } },
    });
  }
  const { resourceVersion } = await context.client.list(injectorConfigs);
  await plane.compact(Number(resourceVersion));
  await plane.component('kube-apiserver').kill();
  await plane.restart('kube-apiserver');
  await context.client.list(resourceKind('v1', 'Namespace'));
  const met = await cut.end();
  await cluster.checkReconverged(`${met} lists and watches were cut, and their past is compacted`, Date.now());
  await context.check(
    'watches had expired, and were listed again',
    async () => (await cluster.watchesEnded('Expired')) > expired,
  );
}

const configName = 'faulty';
/** What reconverging may take after a fault, in milliseconds. */
const bound = 5000;

type FaultyCluster = ReturnType<typeof faultyCluster>;

/** Replicas whose API server fails them, with one InjectorConfig that is edited at the worst moments. */
function faultyCluster(context: ScenarioContext, replicas: Replicas, namespace: string) {
  const { client, size } = context;
  /** Beside which reconverging is held to its bound. */
  const standstill = context.standstill();
  /** Milliseconds from the end of a fault until all was as it should be, by fault. */
  const reconverged: Record<string, number> = {};
  let edits = 0;
  let generation: number | undefined;
  return {
    context,
    replicas,
    plane: context.requireControlPlane(),
    proxy: replicas.proxy,
    audit: context.requireAudit(),
    standstill,
    reconverged,
    lasting: (short: number, full: number) => (size === 'full' ? full : short),
    edit: async () => {
      const config = markedConfig(configName, `edit${++edits}`);
      ({ generation } = (await waitFor('an edit to be stored', () => applyObject(client, config))).metadata);
    },
    /** Waits until the last edit is Ready and published, and checks that this took no longer than it may since `since`. */
    checkReconverged: async (fault: string, since: number) => {
      await waitForCondition(client, configName, 'Ready', 'True', generation);
      await waitFor(`the last edit to be published after ${fault}`, async () => {
        const { marks } = marksOf(await dryRun(client, barePod(namespace, 'probe')));
        return marks.join() === `edit${edits}`;
      });
      const took = Math.max(0, Date.now() - since);
      const still = await standstill.between(since, since + took);
      reconverged[fault] = took;
      await context.checkNow(`${fault}: reconverged ${took} ms later`, () => took <= bound + still);
    },
    checkInjecting: async (direct: ReviewTarget, fault: string) => {
      const targets = replicas.webhooks.map(({ operator }) => ({ ...direct, port: operator.webhookPort }));
      await context.check(`${fault}: every replica injects, from memory`, async () =>
        (await Promise.all(targets.map(injects))).every(Boolean),
      );
    },
    prepareDirect: () => reviewTarget(client, configName, replicas.installation.namespace),
    watchesEnded: async (reason: string) => {
      const texts = await Promise.all(replicas.all.map(({ operator }) => operator.metrics()));
      const pattern = new RegExp(`^injector_watch_ends_total\\{.*reason="${reason}".*\\} (\\d+)$`, 'gm');
      return texts.flatMap((text) => [...text.matchAll(pattern)]).reduce((sum, [, count]) => sum + Number(count), 0);
    },
  };
}

/** Whether a replica injects a pod when it is asked without the API server. */
async function injects(target: ReviewTarget): Promise<boolean> {
  const uid = `direct-${target.port}`;
  const { review } = await postReview(target, podReview(uid));
  return review?.response?.uid === uid && review.response.allowed && review.response.patch !== undefined;
}
