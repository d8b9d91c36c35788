import { setTimeout as sleep } from 'node:timers/promises';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { dryRun } from '../harness/admissions.ts';
import { applyObject, objectOf } from '../harness/apply.ts';
import type { PassedWrite } from '../harness/faulty-proxy/faulty-proxy-worker.ts';
import { isCounted, nameIn } from '../harness/faulty-proxy/passed-writes.ts';
import { applyUntilReady, injectorConfigs, waitForCondition } from '../harness/injector-configs.ts';
import { checkDeadReplicas, reportLoad, lossesOf } from '../harness/load/losses.ts';
import { markDefect, markedConfig, marksOf } from '../harness/load/marked-config.ts';
import { podReview, postReview, type ReviewTarget } from '../harness/post-review.ts';
import type { Replicas } from '../harness/replicas/replicas.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { found, none, waitFor } from '../harness/wait-for.ts';
import { reviewTarget, validatingWebhooks, webhooks } from '../harness/webhook-configurations.ts';
import { barePod } from '../harness/workloads.ts';

export const faults: Scenario = {
  name: 'faults',
  about:
    'replicas continue to inject while the API server and etcd fail, watches hang or expire, and requests are refused; the operator reconverges within 5 s after each fault',
  destructive: 'it kills the components of the control plane',
  ownControlPlane: true,
  full: 'etcd is stopped for a minute, requests are refused for 20 s, every watch hangs: about 6 minutes',
  alone: 'it judges milliseconds of retries',
  run: async (context) => {
    const { client, size } = context;
    const replicas = await context.startReplicas({ proxied: true });
    const namespace = await context.namespace('pods', { 'istio.io/rev': configName });
    const cluster = faultyCluster(context, replicas, namespace);
    await applyUntilReady(client, markedConfig(configName, 'edit0'));
    const load = await context.startLoad({ namespace, perSecond: 15, inspect: markDefect });
    await checkDeadReplicas(context, replicas, lossesOf(context, load, cluster.audit));
    const began = Date.now();

    // The operator detects these hung watches while the next faults happen.
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
    // Creations also fail while etcd is down. Count only creations that failed at our webhook.
    const ours = lost.filter(({ kind, description }) => kind !== 'refused' || description.includes('webhook'));
    await context.checkNow(`the webhook lost none of ${created} pods (${lost.length} others could not be stored)`, () =>
      none(ours.map(({ description }) => description)),
    );
    const writes = await cluster.proxy.writes();
    const duplicates = duplicateWrites(writes);
    const last = writes.filter(isDone).slice(-1);
    await context.checkNow('negative control: the test detects a repeated write', () =>
      found(String(duplicateWrites([...last, ...last]).length), '1'),
    );
    await context.checkNow(
      `the operator repeated none of its ${writes.filter(isDone).length} writes (the audit log has ${recordedWrites(cluster)} writes)`,
      () => none(duplicates),
    );
    context.measured({ created, lost: ours.length, reconvergedMilliseconds: cluster.reconverged });
    context.measured({ hungNoticedMilliseconds: Math.max(noticed, all), duplicates: duplicates.length });
    const slowest = Math.max(...Object.values(cluster.reconverged));
    return `${created} pods created, 0 lost; the slowest reconvergence took ${slowest} ms; all hung watches were detected within ${noticed} ms; 0 repeated writes`;
  },
};

/** Counts our successful writes in the audit log, for comparison with the proxy's count. */
function recordedWrites({ audit, replicas }: FaultyCluster): number {
  return replicas.installation.usernames
    .flatMap((username) => audit.writesBy(username, false))
    .filter(({ objectRef, responseStatus }) => objectRef?.resource !== 'events' && (responseStatus?.code ?? 0) < 300)
    .length;
}

/** Returns successful writes that repeat the object's previous write. Omits Leases and Events. */
function duplicateWrites(writes: PassedWrite[]): string[] {
  const last = new Map<string, string>();
  const duplicates: string[] = [];
  for (const { verb, apiGroup, resource, subresource, namespace, name, body } of writes.filter(isDone)) {
    const object = `${resource}.${apiGroup} ${namespace}/${verb === 'create' ? nameIn(body) : name} ${subresource}`;
    const content = verb === 'delete' ? 'deleted' : body;
    if (last.get(object) === content) duplicates.push(`${verb} ${object}`);
    last.set(object, content);
  }
  return duplicates;
}

function isDone({ status, resource }: PassedWrite): boolean {
  return status < 300 && isCounted(resource);
}

/** Refuses four of five requests during an edit, as a broken API server does. */
async function refuseRequests(cluster: FaultyCluster): Promise<void> {
  for (const status of [403, 429, 500]) {
    // Replicas keep a configuration only for a few edits, so prepare again before each edit.
    const direct = await cluster.prepareDirect();
    const retry = status === 429 ? { retryAfterSeconds: 1 } : {};
    const fault = await cluster.proxy.fault({ match: {}, action: { kind: 'answer', status, ...retry }, share: 0.8 });
    await cluster.edit();
    await sleep(cluster.lasting(2000, 20_000));
    await cluster.checkInjecting(direct, `while four of five requests get ${status}`);
    const affected = await fault.end();
    await cluster.context.checkNow(`the fault answered ${affected} requests with ${status}`, () => affected > 0);
    await cluster.checkReconverged(`after ${affected} requests got ${status}`, Date.now());
  }
}

/** Makes open watches (default: all) stay open without events. New watches work. */
async function hangWatches(cluster: FaultyCluster, match: { resources?: string[] } = {}) {
  const hungBefore = await cluster.watchesEnded('Hung');
  const fault = await cluster.proxy.fault({ match: { verbs: ['watch'], ...match }, action: { kind: 'hang' } });
  return { count: await fault.end(), since: Date.now(), hungBefore };
}

type HungWatches = Awaited<ReturnType<typeof hangWatches>>;

/** Checks that every hung watch is detected within a minute. Returns the longest time in ms. */
async function checkHungDetected(cluster: FaultyCluster, hung: HungWatches): Promise<number> {
  const statement = `the operator detects each of ${hung.count} hung watches`;
  const areDetected = async () => (await cluster.watchesEnded('Hung')) >= hung.hungBefore + hung.count;
  await cluster.context.check(statement, async () => hung.count > 0 && areDetected(), { timeout: 150_000 });
  // Read the times from the logs, because other faults happened in the meantime.
  const noticed = cluster.replicas.all
    .flatMap(({ operator }) => operator.process.log().split('\n'))
    .filter((line) => line.includes('did not end when it was due'))
    .map((line) => Date.parse(line.split(' ', 1)[0] ?? '') - hung.since)
    .filter((after) => after >= 0);
  const last = Math.max(...noticed);
  const still = await cluster.standstill.between(hung.since, hung.since + last);
  await cluster.context.checkNow(
    `the operator detected the last hung watch after ${last} ms`,
    () => noticed.length >= hung.count && last <= 60_000 + still,
  );
  return last;
}

/** Makes all watches hang during an edit. */
async function hangEverything(cluster: FaultyCluster): Promise<number> {
  const direct = await cluster.prepareDirect();
  const hung = await hangWatches(cluster);
  await cluster.edit();
  await cluster.checkInjecting(direct, 'while every watch hangs');
  const took = await checkHungDetected(cluster, hung);
  await cluster.checkReconverged(`after ${hung.count} hung watches were detected`, Date.now());
  return took;
}

async function restartApiServer(cluster: FaultyCluster): Promise<void> {
  const direct = await cluster.prepareDirect();
  await cluster.edit();
  await cluster.plane.component('kube-apiserver').kill();
  await cluster.checkInjecting(direct, 'while the API server is dead');
  await sleep(cluster.lasting(1000, 20_000));
  await cluster.checkInjecting(direct, 'while the API server is still dead');
  await cluster.plane.restart('kube-apiserver');
  await cluster.checkReconverged('after the API server was restarted', Date.now());
}

async function stopEtcd(cluster: FaultyCluster): Promise<void> {
  const direct = await cluster.prepareDirect();
  await cluster.plane.component('etcd').stop();
  await cluster.checkInjecting(direct, 'while etcd is stopped');
  await sleep(cluster.lasting(4000, 60_000));
  await cluster.checkInjecting(direct, 'while etcd is still stopped');
  await cluster.plane.restart('etcd');
  await waitUntilStored(cluster);
  await cluster.edit();
  await cluster.checkReconverged('after etcd was restarted', Date.now());
}

/** Waits until the API server's connections to etcd work; each resource has its own connection. */
async function waitUntilStored({ context }: FaultyCluster): Promise<void> {
  const kinds = [
    injectorConfigs,
    resourceKind('coordination.k8s.io/v1', 'Lease'),
    resourceKind('rbac.authorization.k8s.io/v1', 'Role'),
    ...['ConfigMap', 'Secret', 'Service', 'Namespace', 'Pod'].map((kind) => resourceKind('v1', kind)),
    webhooks,
    validatingWebhooks,
  ];
  // Without a resourceVersion, the API server reads a list from etcd.
  const read = () => Promise.all(kinds.map((kind) => context.client.list(kind, { limit: 1, timeoutMs: 2000 })));
  await waitFor('the API server to read every resource from etcd', read, { timeout: 180_000 });
}

/** Checks that the operator does not need the controller-manager. */
async function freezeControllerManager(cluster: FaultyCluster): Promise<void> {
  const manager = cluster.plane.component('kube-controller-manager');
  manager.freeze();
  try {
    const since = Date.now();
    await cluster.edit();
    await cluster.checkReconverged('while the controller-manager is frozen', since);
    await sleep(cluster.lasting(0, 30_000));
  } finally {
    manager.unfreeze();
  }
}

/** Cuts watches and compacts etcd, so that they cannot resume; checks that the operator relists. */
async function expireWatches(cluster: FaultyCluster): Promise<void> {
  const { context, proxy, plane } = cluster;
  const expired = await cluster.watchesEnded('Expired');
  const cut = await proxy.fault({ match: { verbs: ['list', 'watch'] }, action: { kind: 'cut' } });
  await cluster.edit();
  // Change watched objects, so that each watch has missed changes.
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
  await cluster.checkReconverged(`after ${affected} lists and watches were cut and etcd was compacted`, Date.now());
  await context.check(
    'the operator found expired watches and listed the objects again',
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
      await waitFor(`the last edit to be published ${fault}`, async () => {
        const { marks } = marksOf(await dryRun(client, barePod(namespace, 'probe')));
        return marks.join() === `edit${edits}`;
      });
      const took = Math.max(0, Date.now() - since);
      const still = await standstill.between(since, since + took);
      reconverged[fault] = took;
      await context.checkNow(`${fault}, the operator reconverged within ${took} ms`, () => took <= bound + still);
    },
    checkInjecting: async (direct: ReviewTarget, fault: string) => {
      const targets = replicas.webhooks.map(({ operator }) => ({ ...direct, port: operator.webhookPort }));
      await context.check(`${fault}, every replica injects with its configuration in memory`, async () =>
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

/** Reports whether a replica injects a pod when the scenario sends the review directly. */
async function injects(target: ReviewTarget): Promise<boolean> {
  const uid = `direct-${target.port}`;
  const { review } = await postReview(target, podReview(uid));
  return review?.response?.uid === uid && review.response.allowed && review.response.patch !== undefined;
}
