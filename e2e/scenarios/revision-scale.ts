import { setTimeout as sleep } from 'node:timers/promises';
import type { UsageStatus } from '../../src/api/injector-config/usage-status.ts';
import type { ApiClient } from '../../src/kube/api-client.ts';
import { refusalOf } from '../harness/admissions.ts';
import { isGone, objectOf } from '../harness/apply.ts';
import type { AuditEvent } from '../harness/audit-log.ts';
import {
  applyUntilReady,
  deleteForced,
  injectorConfigs,
  smallConfig,
  type InjectorConfigObject,
} from '../harness/injector-configs.ts';
import { kindsOfRequests, many, requestsOf, sumOf, waitUntilQuiet } from '../harness/operator-requests.ts';
import type { Replicas } from '../harness/replicas/replicas.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { found } from '../harness/wait-for.ts';
import { barePod, createNamespace, labelNamespace, neverScheduled } from '../harness/workloads.ts';

const sizes: Record<ScenarioContext['size'], Scale> = {
  short: { revisions: 8, namespaces: 60, pods: 400 },
  full: { revisions: 50, namespaces: 1000, pods: 10_000 },
};
const shares = [0.25, 0.5, 1];
const timeScale = 5;
/** The interval between two statuses of an object that show its usage. */
const statusIntervalMs = 30_000 / timeScale;

type Measures = Readonly<Record<(typeof measures)[number], number>>;
type Reading = Scale & Measures & { readonly dryRunsPerEdit: number };
const measures = [
  'requestsPerEdit',
  'kindsOfRequestsPerEdit',
  'requestsPerLabel',
  'requestsPerPod',
  'editToReadyMilliseconds',
  'editCpuMilliseconds',
  'reconcileMilliseconds',
  'countedMilliseconds',
  'startCpuMilliseconds',
  'controllerMebibytes',
] as const;

export const revisionScale: Scenario = {
  name: 'revision-scale',
  about: 'measures the requests, time and memory that a controller needs for many revisions, namespaces and pods',
  destructive: 'it fills the cluster with revisions, namespaces and pods',
  ownControlPlane: true,
  full: '50 revisions, 1,000 namespaces, 10,000 pods, 10 minutes',
  run: async (context) => {
    const whole = sizes[context.size];
    const flags: string[] = [];
    const replicas = await context.startReplicas({ webhooks: 1, controllers: 1, flags: () => flags });
    const readings: Reading[] = [];
    const population = populate(context.client, whole);
    for (const share of shares) {
      await population.growTo(share);
      readings.push(await read(context, replicas, population));
      context.say(JSON.stringify(readings.at(-1)));
    }
    const pairs = measures.map((measure) => [measure, exponentOf(readings, measure)]);
    const exponents = Object.fromEntries(pairs) as Measures;
    context.measured({ readings: readings.map((reading) => ({ ...reading })), exponents });
    context.say(`exponents (0: constant, 1: linear, 2: quadratic): ${JSON.stringify(exponents)}`);
    const last = readings.at(-1);
    if (last === undefined) throw new Error('no size was measured');
    const bounds: [string, boolean][] = [
      [
        'an edit of one InjectorConfig takes the same number of requests at all sizes',
        exponents.kindsOfRequestsPerEdit < 0.5 && last.requestsPerEdit <= 20,
      ],
      ['an edit takes at most 20 dry runs', readings.every((each) => each.dryRunsPerEdit <= 20)],
      [
        'a new label on a namespace causes at most one status write for each of the two revisions',
        readings.every((each) => each.requestsPerLabel <= 4),
      ],
      ['a new pod causes at most one status write', readings.every((each) => each.requestsPerPod <= 2)],
      ['the CPU time of a new leader does not grow quadratically', exponents.startCpuMilliseconds < 1.5],
      // Check CPU time, because elapsed time depends on other load on the machine.
      ['the CPU time of an edit does not grow quadratically', exponents.editCpuMilliseconds < 1.5],
      ['the controller uses less than 500 MiB', last.controllerMebibytes < 500],
    ];
    if (context.size === 'full')
      bounds.push(['the time of a reconcile does not grow quadratically', exponents.reconcileMilliseconds < 1.5]);
    for (const [statement, holds] of bounds) await context.checkNow(statement, () => holds);
    flags.push(`--test-lease-time-scale=${timeScale}`);
    for (const controller of [...replicas.controllers]) await replicas.replace(controller);
    await replicas.waitForLeader();
    const statuses = await churn(context, replicas);
    context.measured({ churn: statuses });
    await checkInUse(context);
    return `${last.revisions} revisions, ${last.namespaces} namespaces, ${last.pods} pods: ${last.requestsPerEdit} requests per edit, ${last.reconcileMilliseconds} ms per reconcile, the controller uses ${last.controllerMebibytes} MiB`;
  },
};

async function read(context: ScenarioContext, replicas: Replicas, population: Population): Promise<Reading> {
  const scale = population.scale();
  const { client } = context;
  const audit = context.requireAudit();
  const [controller] = replicas.controllers;
  if (controller === undefined) throw new Error('there is no controller');
  const { operator } = controller;
  const username = replicas.installation.username;
  const podsIn = async (state: string) => sumOf(await operator.metrics(), 'injector_pods', `state="${state}"`);
  const requestsIn = async (change: () => Promise<unknown>): Promise<AuditEvent[]> => {
    await waitUntilQuiet(audit, username, 500);
    const before = requestsOf(audit, username).length;
    await change();
    await waitUntilQuiet(audit, username, 1000);
    return requestsOf(audit, username).slice(before);
  };
  const patient = { timeout: 120_000, interval: 100 };
  const checkPods = (statement: string, state: 'current' | 'stale', count: number) =>
    context.check(statement, async () => (await podsIn(state)) === count, patient);
  const all = `all ${scale.pods} pods`;
  await checkPods(`the operator counts ${all} as current`, 'current', scale.pods);

  await operator.process.stop(30_000);
  const started = Date.now();
  await operator.restart();
  await checkPods(`a new leader counts ${all}`, 'current', scale.pods);
  const countedMilliseconds = Date.now() - started;
  const startCpuMilliseconds = Math.round(sumOf(await operator.metrics(), 'process_cpu_seconds_total') * 1000);
  const countAll = async () => {
    const { items } = await client.listAll<InjectorConfigObject & { status?: UsageStatus }>(injectorConfigs);
    const count = (read: (status: UsageStatus) => number | undefined): number =>
      items.reduce((sum, { status }) => sum + (read(status ?? {}) ?? 0), 0);
    const namespaces = count((status) => status.namespaces?.count);
    const actual = `${count(({ injected }) => injected?.current)} pods, ${namespaces} namespaces`;
    return found(actual, `${scale.pods} pods, ${scale.namespaces} namespaces`);
  };
  await context.check(`the statuses of all InjectorConfigs count ${all} in total`, countAll, patient);
  await waitUntilQuiet(audit, username, 500);
  const controllerMebibytes = operator.residentMemory();

  const reconciles = async () => {
    const metrics = await operator.metrics();
    const total = (what: string) => sumOf(metrics, `injector_reconcile_duration_seconds_${what}`);
    const cpuMilliseconds = sumOf(metrics, 'process_cpu_seconds_total') * 1000;
    return { seconds: total('sum'), count: total('count'), cpuMilliseconds };
  };
  const before = await reconciles();
  const edited = revisionName(0);
  let editToReadyMilliseconds = 0;
  const config = smallConfig(edited);
  const { injection } = config.spec;
  const edit = await requestsIn(async () => {
    const at = Date.now();
    const injectedAnnotations = { 'e2e.sidecar-injector.io/scale': String(scale.pods) };
    const spec = { ...config.spec, injection: { ...injection, injectedAnnotations } };
    await applyUntilReady(client, { ...config, spec });
    editToReadyMilliseconds = Date.now() - at;
  });
  const after = await reconciles();
  const dryRuns = edit.filter(({ requestURI }) => requestURI.includes('dryRun=All'));
  const stale = population.podsOf(0);
  await checkPods(`after an edit, the operator counts all ${stale} pods of the revision as stale`, 'stale', stale);

  const moved = scale.namespaces - 1;
  const own = revisionName(population.revisionOf(moved));
  const label = await requestsIn(() => labelNamespace(client, namespaceName(moved), { 'istio.io/rev': edited }));
  const movedPods = population.podsIn(moved);
  await checkPods(`after a new label on a namespace, its ${movedPods} pods are stale`, 'stale', stale + movedPods);
  const pod = await requestsIn(() => client.create(barePod(namespaceName(2), 'one-more')));
  await client.delete(barePod(namespaceName(2), 'one-more'), { gracePeriodSeconds: 0 });

  // Restore the namespace and the InjectorConfig for the next size.
  await labelNamespace(client, namespaceName(moved), { 'istio.io/rev': own });
  await applyUntilReady(client, config);
  return {
    ...scale,
    requestsPerEdit: edit.length - dryRuns.length,
    dryRunsPerEdit: dryRuns.length,
    kindsOfRequestsPerEdit: kindsOfRequests(edit).size,
    requestsPerLabel: label.length,
    requestsPerPod: pod.length,
    editToReadyMilliseconds,
    reconcileMilliseconds:
      Math.round(((after.seconds - before.seconds) / Math.max(after.count - before.count, 1)) * 10_000) / 10,
    editCpuMilliseconds: Math.round(after.cpuMilliseconds - before.cpuMilliseconds),
    countedMilliseconds,
    startCpuMilliseconds,
    controllerMebibytes,
  };
}

/**
 * Moves a namespace between two revisions. Checks that statuses are written once per interval. A
 * unit test checks that the interval without the scale is 30 s (cluster-usage.test.ts).
 */
async function churn(context: ScenarioContext, replicas: Replicas) {
  const audit = context.requireAudit();
  const { username } = replicas.installation;
  await waitUntilQuiet(audit, username, 1000);
  const began = Date.now();
  const written = (): string[] =>
    audit
      .writesBy(username, false)
      // The new leader may still try pods in dry runs.
      .filter(
        ({ requestReceivedTimestamp: at, requestURI }) => Date.parse(at) >= began && !/dryRun=All/.test(requestURI),
      )
      .map(
        ({ objectRef: { resource = '', subresource = '', name = '' } = {} }) => `${resource}/${subresource} ${name}`,
      );
  const least = began + (context.size === 'full' ? 4 : 1) * statusIntervalMs + 1000;
  const namespace = objectOf('v1', 'Namespace', namespaceName(0));
  const follow = (revision: string) =>
    context.client.patch(namespace, 'merge', { metadata: { labels: { 'istio.io/rev': revision } } });
  let labels = 0;
  // A due status may equal the stored status. Continue until the operator writes a status.
  while (Date.now() < least || (written().length === 0 && Date.now() < least + 90_000)) {
    await follow(revisionName(labels % 2));
    labels++;
    await sleep(50);
  }
  await follow(revisionName(0));
  const perObject = new Map<string, number>();
  for (const each of written()) perObject.set(each, (perObject.get(each) ?? 0) + 1);
  const seconds = Math.round((Date.now() - began) / 1000);
  const most = Math.max(0, ...perObject.values());
  const bound = Math.floor((Date.now() - began) / statusIntervalMs) + 1;
  context.say(`${labels} labels in ${seconds} s: ${[...perObject].map((each) => each.join(' ')).join(', ')}`);
  await context.checkNow(
    `the operator writes each status at most ${bound} times, and no other object, while a namespace changes its label ${labels} times in ${seconds} s`,
    () =>
      most >= 1 &&
      most <= bound &&
      [...perObject.keys()].every((object) => object.startsWith('injectorconfigs/status ')),
  );
  return { seconds, labels, statuses: [...perObject.values()].reduce((sum, count) => sum + count, 0) };
}

async function checkInUse(context: ScenarioContext): Promise<void> {
  const { client } = context;
  const used = smallConfig(revisionName(1));
  await context.checkNow('the API server refuses to delete an InjectorConfig in use, and names its users', async () => {
    const message = (await refusalOf(() => client.delete(used))) ?? 'it was deleted';
    const expected = /is in use: .*namespaces? selects? it \(.*revision-scale-\d+.*pods? uses? it .*force-delete/;
    return expected.test(message) || found(message, expected.source);
  });
  await deleteForced(client, used);
  await context.check('with the force-delete annotation, the InjectorConfig is deleted', () =>
    isGone(client, injectorConfigs, revisionName(1)),
  );
}

/** Returns the exponent of a measure's growth with the size, by a log-log least squares fit. */
function exponentOf(readings: readonly Reading[], measure: keyof Reading): number {
  const logs = readings.map((each) => [Math.log(each.pods), Math.log(Math.max(each[measure], 1e-9))] as const);
  const mean = (index: 0 | 1): number => logs.reduce((sum, point) => sum + point[index], 0) / logs.length;
  const [x, y] = [mean(0), mean(1)];
  const covariance = logs.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0);
  const variance = logs.reduce((sum, point) => sum + (point[0] - x) ** 2, 0);
  return Math.round((covariance / variance) * 100) / 100;
}

interface Scale {
  readonly revisions: number;
  readonly namespaces: number;
  readonly pods: number;
}

function revisionName(index: number): string {
  return `scale-${index}`;
}

function namespaceName(index: number): string {
  return `revision-scale-${index}`;
}

type Population = ReturnType<typeof populate>;

/**
 * Creates InjectorConfigs, namespaces that use them, and pods, up to a growing size.
 *
 * @param whole the final size; each revision always has the same number of namespaces
 */
function populate(client: ApiClient, whole: Scale) {
  /** The number of pods, by index of the namespace. */
  const counts: number[] = [];
  let scale: Scale = { revisions: 0, namespaces: 0, pods: 0 };
  const revisionOf = (namespace: number) => Math.floor((namespace * whole.revisions) / whole.namespaces);
  const podsIn = (namespace: number) => counts[namespace] ?? 0;
  return {
    scale: () => scale,
    revisionOf,
    podsIn,
    podsOf: (revision: number) =>
      counts.reduce((sum, pods, namespace) => sum + (revisionOf(namespace) === revision ? pods : 0), 0),
    growTo: async (share: number): Promise<void> => {
      const part = (count: number): number => Math.round(count * share);
      const to = { revisions: part(whole.revisions), namespaces: part(whole.namespaces), pods: part(whole.pods) };
      await many(scale.revisions, to.revisions, 4, (index) =>
        applyUntilReady(client, smallConfig(revisionName(index))),
      );
      await many(scale.namespaces, to.namespaces, 8, (index) =>
        createNamespace(client, namespaceName(index), { 'istio.io/rev': revisionName(revisionOf(index)) }),
      );
      await many(scale.pods, to.pods, 16, async (index) => {
        const namespace = index % to.namespaces;
        await client.create(barePod(namespaceName(namespace), `pod-${index}`, { spec: neverScheduled }));
        counts[namespace] = podsIn(namespace) + 1;
      });
      scale = to;
    },
  };
}
