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
    'the API server and etcd fail, watches hang and expire, requests are refused: replicas continue to inject, and the operator reconverges within 5 s',
  destructive: 'it kills the components of the control plane',
  ownControlPlane: true,
  full: 'etcd stopped for a minute, refusals for 20 s, every watch hung: about 6 minutes',
  run: async (context) => {
    const { client, size } = context;
    const replicas = await context.startReplicas({ proxied: true });
    const namespace = await context.namespace('pods', { 'istio.io/rev': configName });
    const cluster = faultyCluster(context, replicas, namespace);
    await applyUntilReady(client, markedConfig(configName, 'edit0'));
    const load = await context.startLoad({ namespace, perSecond: 15, inspect: markDefect });
    await checkDeadReplicas(context, replicas, new Losses(context, load, cluster.audit));
    const began = Date.now();

    // These watches are detected while the next faults happen.
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
    // Creations also fail while etcd is down; count only those that failed at our webhook.
    const ours = lost.filter(({ kind, description }) => kind !== 'refused' || description.includes('webhook'));
    await context.checkNow(`the webhook lost none of ${created} pods (${lost.length} could not be stored)`, () =>
      none(ours.map(({ description }) => description)),
    );
    const writes = await cluster.proxy.writes();
    const duplicates = duplicateWrites(writes);
    const last = writes.filter(isDone).slice(-1);
    await context.checkNow(
      'negative control: a repeated write is detected',
      () => duplicateWrites([...last, ...last]).length === 1,
    );
    await context.checkNow(
      `none of ${writes.filter(isDone).length} writes was repeated (the audit log has ${recordedWrites(cluster)})`,
      () => none(duplicates),
    );
    context.measured({ created, lost: ours.length, reconvergedMilliseconds: cluster.reconverged });
    context.measured({ hungNoticedMilliseconds: Math.max(noticed, all), duplicates: duplicates.length });
    const slowest = Math.max(...Object.values(cluster.reconverged));
    return `${created} pods, 0 lost; slowest reconvergence ${slowest} ms after a fault; hung watches detected within ${noticed} ms; 0 duplicate writes`;
  },
};

/** Counts our successful writes in the audit log, for comparison with the proxy's count. */
function recordedWrites({ audit, replicas }: FaultyCluster): number {
  return replicas.installation.usernames
    .flatMap((username) => audit.writesBy(username, false))
    .filter(({ objectRef, responseStatus }) => objectRef?.resource !== 'events' && (responseStatus?.code ?? 0) < 300)
    .length;
}

/** Returns successful writes that repeat the previous write of the object; no Leases and Events. */
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

/** Refuses four of five requests for a while during an edit, as a broken API server does. */
async function refuseRequests(cluster: FaultyCluster): Promise<void> {
  for (const status of [403, 429, 500]) {
    // Replicas keep a configuration only for a few edits, so prepare again for each one.
    const direct = await cluster.prepareDirect();
    const retry = status === 429 ? { retryAfterSeconds: 1 } : {};
    const fault = await cluster.proxy.fault({ match: {}, action: { kind: 'answer', status, ...retry }, share: 0.8 });
    await cluster.edit();
    await sleep(cluster.lasting(2000, 20_000));
    await cluster.checkInjecting(direct, `${status} for four of five requests`);
    const affected = await fault.end();
    await cluster.context.checkNow(`the fault affected ${affected} requests`, () => affected > 0);
    await cluster.checkReconverged(`${affected} requests got ${status}`, Date.now());
  }
}

/** Makes open watches (default: of all resources) stay open without events; new ones work. */
async function hangWatches(cluster: FaultyCluster, match: { resources?: string[] } = {}) {
  const hungBefore = await cluster.watchesEnded('Hung');
  const fault = await cluster.proxy.fault({ match: { verbs: ['watch'], ...match }, action: { kind: 'hang' } });
  return { count: await fault.end(), since: Date.now(), hungBefore };
}

type HungWatches = Awaited<ReturnType<typeof hangWatches>>;

/** Checks that every hung watch is detected within a minute; returns the longest time in ms. */
async function checkHungDetected(cluster: FaultyCluster, hung: HungWatches): Promise<number> {
  await cluster.context.check(
    `each of ${hung.count} half-open watches is detected`,
    async () => hung.count > 0 && (await cluster.watchesEnded('Hung')) >= hung.hungBefore + hung.count,
    { timeout: 150_000 },
  );
  // Other faults happened meanwhile, so take the times from the logs.
  const noticed = cluster.replicas.all
    .flatMap(({ operator }) => operator.process.log().split('\n'))
    .filter((line) => line.includes('did not end when it was due'))
    .map((line) => Date.parse(line.split(' ', 1)[0] ?? '') - hung.since)
    .filter((after) => after >= 0);
  const last = Math.max(...noticed);
  const still = await cluster.standstill.between(hung.since, hung.since + last);
  await cluster.context.checkNow(
    `the last hung watch was detected after ${last} ms`,
    () => noticed.length >= hung.count && last <= 60_000 + still,
  );
  return last;
}

/** Makes all watches hang during an edit. */
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

/** Waits until all connections to etcd work: one per resource, each with its own backoff. */
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
      // Without a resourceVersion, the API server reads a list from etcd.
      await Promise.all(kinds.map((kind) => context.client.list(kind, { limit: 1, timeoutMs: 2000 })));
      return true;
    },
    { timeout: 180_000 },
  );
}

/** Checks that the operator does not need the controller-manager. */
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

/** Cuts watches, compacts etcd past their resourceVersion, and checks that the operator relists. */
async function expireWatches(cluster: FaultyCluster): Promise<void> {
  const { context, proxy, plane } = cluster;
  const expired = await cluster.watchesEnded('Expired');
  const cut = await proxy.fault({ match: { verbs: ['list', 'watch'] }, action: { kind: 'cut' } });
  await cluster.edit();
  // Change watched objects, so that each watch is behind.
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
  const affected = await cut.end();
  await cluster.checkReconverged(`${affected} lists and watches were cut, and etcd was compacted`, Date.now());
  await context.check(
    'the operator found expired watches, and listed again',
    async () => (await cluster.watchesEnded('Expired')) > expired,
  );
}

const configName = 'faulty';
/** The maximum time to reconverge after a fault, in milliseconds. */
const bound = 5000;

type FaultyCluster = ReturnType<typeof faultyCluster>;

function faultyCluster(context: ScenarioContext, replicas: Replicas, namespace: string) {
  const { client, size } = context;

  const standstill = context.standstill();
  /** The milliseconds from the end of a fault until the last edit was published, by fault. */
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
    /** Waits until the last edit is Ready and published; checks the time since `since`. */
    checkReconverged: async (fault: string, since: number) => {
      await waitForCondition(client, configName, 'Ready', 'True', generation);
      await waitFor(`the last edit to be published after ${fault}`, async () => {
        const { marks } = marksOf(await dryRun(client, barePod(namespace, 'probe')));
        return marks.join() === `edit${edits}`;
      });
      const took = Math.max(0, Date.now() - since);
      const still = await standstill.between(since, since + took);
      reconverged[fault] = took;
      await context.checkNow(`${fault}: the operator reconverged within ${took} ms`, () => took <= bound + still);
    },
    checkInjecting: async (direct: ReviewTarget, fault: string) => {
      const targets = replicas.webhooks.map(({ operator }) => ({ ...direct, port: operator.webhookPort }));
      await context.check(`${fault}: every replica injects from memory`, async () =>
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

/** Reports whether a replica injects a pod into a review that this scenario sends directly. */
async function injects(target: ReviewTarget): Promise<boolean> {
  const uid = `direct-${target.port}`;
  const { review } = await postReview(target, podReview(uid));
  return review?.response?.uid === uid && review.response.allowed && review.response.patch !== undefined;
}
