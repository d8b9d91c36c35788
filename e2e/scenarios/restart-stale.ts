import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import { ApiClient } from '../../src/kube/api-client.ts';
import { loadKubeConfig } from '../../src/kube/kube-config.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { refusalOf } from '../harness/admissions.ts';
import { applyObject, objectOf } from '../harness/apply.ts';
import type { AuditLog } from '../harness/audit-log.ts';
import { applyUntilReady } from '../harness/injector-configs.ts';
import { applyMarked, markedConfig } from '../harness/load/marked-config.ts';
import { shortLeases } from '../harness/operator-process.ts';
import type { Replicas } from '../harness/replicas/replicas.ts';
import { applyTagUntilReady, describeLeft, restartsOf, revisionTag } from '../harness/revision-tags.ts';
import { isAllowed, type Access } from '../harness/rights/access-review.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { found, waitFor } from '../harness/wait-for.ts';
import { edits, podsMade, type Window } from '../harness/workload-observer/history.ts';
import { WorkloadObserver } from '../harness/workload-observer/workload-observer.ts';
import { bounds, checkBounds, checkNegativeControl, tag, type Stage } from './restart-stale/bounds.ts';
import { checkGuarded, createFixtures, createGuarded, createLeftAlone, generations } from './restart-stale/fixtures.ts';

const name = 'restart-stale';
const sizes = {
  short: { workloads: 35, namespaces: 3, losses: ['killed'] satisfies Loss[] },
  full: { workloads: 210, namespaces: 3, losses: ['killed', 'suspended', 'killed'] satisfies Loss[] },
};

export const restartStale: Scenario = {
  name,
  about:
    'the operator restarts each stale workload of three kinds exactly once and never exceeds the bounds, despite PodDisruptionBudgets, lost leaders, failing pods, a missing webhook, and workloads that cannot be restarted',
  destructive: 'it needs a proxy in front of the embedded API server',
  full: '210 workloads, three lost leaders, about 3 minutes',
  run: async (context) => {
    const { client, size } = context;
    const { workloads: count, namespaces, losses } = sizes[size];
    const values = { operator: { restartWorkloads: true } };
    const flags = ['--drain-seconds=2', shortLeases];
    const replicas = await context.startReplicas({ webhooks: 2, controllers: 2, flags, proxied: true }, values);
    const audit = context.requireAudit();
    await applyMarked(client, { v1: 'one', v2: 'two' });
    await applyUntilReady(client, markedConfig('v3', 'three', {}, 'crash'));
    await applyTagUntilReady(client, revisionTag(tag, 'v1'));
    const isOurs = (namespace: string) => /^restart-stale-(fixtures|guarded)/.test(namespace);
    const observer = await WorkloadObserver.open(context, isOurs);
    const fixtures = await createFixtures(context, namespaces, count);
    const guarded = await createGuarded(context);
    const left = await createLeftAlone(context);
    const all = [...fixtures, guarded.closed, guarded.sick, ...guarded.shared];
    const stage = { context, observer, all };
    const areWholeBy = (workloads: readonly string[], maker: string) => () => {
      const others = workloads.filter((each) => !observer.isWholeBy(each, maker));
      return found(others.slice(0, 5).join(), '');
    };
    await waitFor('all pods to be ready', areWholeBy(all, 'v1'));
    await guarded.setSick(true);
    await waitFor('a pod to become unready', () => observer.standing(guarded.sick)?.whole === false);
    const reads = () => readsOfWorkloads(audit, replicas);
    await context.checkNow('while no tag requests restarts, the operator does not read workloads', () =>
      found(reads().join(), ''),
    );
    const initial = { pods: await left.pods(), generations: await generations(context, left.namespaces) };
    // Wait until freshly ready workloads no longer count as restarting.
    await sleep(1000);

    await checkWindows(stage);
    const started = Date.now();
    const window: Window = { after: observer.latest(), except: [guarded.sick] };
    await applyObject(client, revisionTag(tag, 'v2', { strategy: { restart: bounds } }));
    const restartable = [...fixtures, ...guarded.shared];
    for (const [index, loss] of losses.entries()) {
      const part = Math.round((restartable.length * (index + 1)) / (losses.length + 2));
      const arePart = () => restartable.filter((each) => observer.isWholeBy(each, 'v2')).length >= part;
      await waitFor(`${part} workloads to be restarted`, arePart, { timeout: 120_000 });
      await loseLeader(replicas, loss);
      context.say(`the leader was ${loss} before it received the response to a restart`);
    }
    await context.check(
      `after ${restartable.length} stale workloads were restarted, all their pods are ready and have the new revision`,
      areWholeBy(restartable, 'v2'),
      { timeout: 240_000 },
    );
    const seconds = Math.round((Date.now() - started) / 1000);
    await context.check('negative control: with such a tag, the operator reads workloads and budgets', () =>
      found(reads().join(), 'daemonsets,deployments,poddisruptionbudgets,statefulsets'),
    );
    const most = await checkBounds(stage, window);
    const pods = await checkOnce(stage, window.after, restartable);
    await checkGuarded(stage, guarded, window.after);
    await context.check('the status names each workload that cannot be restarted, with its reason', async () => {
      const { untouched } = await restartsOf(context, tag);
      return found(untouched.map(describeLeft).sort().join('; '), left.reasons.join('; '));
    });
    await context.check('workloads that must not be restarted keep their pods and templates', async () => {
      found((await left.pods()).join('; '), initial.pods.join('; '));
      return found((await generations(context, left.namespaces)).join('; '), initial.generations.join('; '));
    });
    await checkEvents(context, restartable);
    await context.check('the tag becomes Idle', async () => (await restartsOf(context, tag)).phase === 'Idle');

    const refused = await checkOwnToken(context, replicas, oneOfEachKind(fixtures));
    const failed = await checkWorsening(stage, areWholeBy(all, 'v2'));
    const withoutSidecar = await checkWithoutSidecar(stage, replicas, 'v4');
    const naive = await checkNegativeControl(stage, 'v4');
    context.measured({
      workloads: restartable.length,
      pods,
      leadersLost: losses.length,
      seconds,
      ...bounds,
      instants: most.instants,
      mostInCluster: most.cluster.count,
      mostInNamespace: most.namespace.count,
      naiveMostInCluster: naive.cluster.count,
      naiveMostInNamespace: naive.namespace.count,
      attemptsRefused: refused,
      restartedBeforeStop: failed,
      withoutSidecarBeforeStop: withoutSidecar,
    });
    return `each of ${restartable.length} workloads restarted once, in ${seconds} s with ${losses.length} lost leaders; at ${most.instants} instants, at most ${most.cluster.count} workloads were unavailable, and at most ${most.namespace.count} in a namespace (after a restart of all workloads at the same time: ${naive.cluster.count} and ${naive.namespace.count})`;
  },
};

/** Moves the tag outside its windows: nothing restarts, and the status says when one begins. */
async function checkWindows({ context, observer }: Stage): Promise<void> {
  const after = observer.latest();
  // 12 and 13 hours from now, in a zone whose offset is not a whole number of hours.
  const [from, to] = [12, 13].map((hours) => {
    const date = new Date(Date.now() + hours * 3_600_000);
    return date.toLocaleTimeString('en-GB', { timeZone: 'Asia/Kathmandu', hour: '2-digit', minute: '2-digit' });
  });
  const windows = [{ from, to, timeZone: 'Asia/Kathmandu' }];
  await applyObject(context.client, revisionTag(tag, 'v2', { strategy: { restart: bounds, windows } }));
  await context.check('outside the windows of the tag, the status says when the next one begins', async () => {
    const { phase, waiting } = await restartsOf(context, tag);
    const [first] = waiting;
    const begins = Date.parse(/: the next one begins at (.*)$/.exec(first?.message ?? '')?.[1] ?? '');
    const hours = Math.round((begins - Date.now()) / 360_000) / 10;
    return found(`${phase} ${first?.reason ?? ''} ${hours}`, 'Waiting Window 12');
  });
  await sleep(1500);
  await context.checkNow('outside the windows, the operator restarts no workload', () =>
    found([...edits(observer.sightings(), after).keys()].join(), ''),
  );
}

/** Returns the resources of the groups apps and policy that the operator read, sorted. */
function readsOfWorkloads(audit: AuditLog, { installation }: Replicas): string[] {
  const read = audit.events().flatMap(({ user, verb, objectRef }) => {
    const isOfWorkloads = objectRef?.apiGroup === 'apps' || objectRef?.apiGroup === 'policy';
    const isRead = ['get', 'list', 'watch'].includes(verb) && installation.usernames.includes(user.username);
    return isOfWorkloads && isRead ? [objectRef.resource ?? ''] : [];
  });
  return [...new Set(read)].sort();
}

async function checkOnce({ context, observer }: Stage, after: number, workloads: readonly string[]): Promise<number> {
  const counts = edits(observer.sightings(), after);
  const made = podsMade(observer.sightings(), after);
  const twice = workloads.filter((each) => counts.get(each) !== 1);
  await context.checkNow('the operator changed each pod template exactly once', () => found(twice.join(), ''));
  const counted = workloads.map((name) => {
    const { desired = 0 } = observer.standing(name)?.object ?? {};
    return { name, desired, ...(made.get(name) ?? { made: 0, lost: 0 }) };
  });
  const others = counted.filter((each) => each.made < each.desired || each.made - each.lost > each.desired);
  const lost = counted.reduce((sum, each) => sum + each.lost, 0);
  await context.checkNow(`each pod was recreated once, except ${lost} pods that the fake kubelets ended early`, () =>
    found(others.map((each) => `${each.name}: ${each.made} for ${each.desired}`).join(), ''),
  );
  return counted.reduce((sum, each) => sum + each.made, 0);
}

async function checkEvents(context: ScenarioContext, workloads: readonly string[]): Promise<void> {
  const [first = ''] = workloads;
  const namespace = first.split('/')[0] ?? '';
  await context.check('an Event about a workload names the tag, the old revision and the new revision', async () => {
    const events = resourceKind('events.k8s.io/v1', 'Event');
    const { items } = await context.client.listAll<EventObject>(events, { namespace });
    return items.some(
      ({ reason, note = '', type }) =>
        reason === 'Restarted' && type === 'Normal' && /RevisionTag prod .*had v1\..*get v2\./.test(note),
    );
  });
}

interface EventObject {
  reason?: string;
  type?: string;
  note?: string;
}

/** Returns the first workload of each kind. */
function oneOfEachKind(fixtures: readonly string[]): KubernetesObject[] {
  return Object.entries({ Deployment: 0, StatefulSet: 1, DaemonSet: 3 }).map(([kind, index]) => {
    const [namespace = '', workload = ''] = (fixtures[index] ?? '').split('/');
    return objectOf('apps/v1', kind, workload, namespace);
  });
}

const resources = ['deployments', 'statefulsets', 'daemonsets'];

/** How a leader is lost: it is killed, or it is suspended until another controller leads. */
type Loss = 'killed' | 'suspended';

/** Stops the leader after its next restart of a workload, before it receives the response. */
async function loseLeader(replicas: Replicas, loss: Loss): Promise<void> {
  const { proxy } = replicas;
  const leader = await replicas.waitForLeader();
  const match = { client: leader.name, verbs: ['patch'], resources };
  const held = await proxy.holdFirst(match, () => true);
  let reached = false;
  void held.reached.then(() => (reached = true));
  await waitFor('the leader to restart another workload', () => reached, { interval: 5 });
  if (loss === 'killed') {
    await replicas.kill(leader);
    await held.release();
    await leader.operator.restart();
    return;
  }
  leader.operator.process.freeze();
  await held.release();
  try {
    await waitFor('another leader', () => replicas.leaderOtherThan(leader));
  } finally {
    leader.operator.process.unfreeze();
  }
}

const strategy = { restart: bounds };

/** Rolls out crashing pods, which stop the restarts, and then a fix. Returns the restarts. */
async function checkWorsening({ context, observer, all }: Stage, areAllReady: () => boolean): Promise<number> {
  const { client } = context;
  const after = observer.latest();
  await applyObject(client, revisionTag(tag, 'v3', { strategy }));
  await context.check('the operator stops restarts when pods crash, and the status names a workload', async () => {
    const { phase, message } = await restartsOf(context, tag);
    if (phase === 'Stopped' && /restart-stale-\S+/.test(message)) return true;
    throw new Error(`the phase is ${phase}: ${message}`);
  });
  await sleep(2000);
  const restarted = [...edits(observer.sightings(), after).keys()];
  await context.checkNow(
    `before the operator stopped, it restarted ${restarted.length} of ${all.length} workloads, at least 1 and at most ${bounds.maxUnavailableWorkloads}`,
    () => restarted.length > 0 && restarted.length <= bounds.maxUnavailableWorkloads,
  );
  const healing = observer.latest();
  await applyObject(client, revisionTag(tag, 'v2', { strategy }));
  await context.check('with a working revision, these workloads restart and all pods become ready', areAllReady);
  await context.checkNow('no other workload was restarted', () =>
    found([...edits(observer.sightings(), healing).keys()].sort().join(), restarted.sort().join()),
  );
  await context.check('the tag becomes Idle again', async () => (await restartsOf(context, tag)).phase === 'Idle');
  return restarted.length;
}

/**
 * Kills all webhook replicas during restarts with failurePolicy Ignore, so that pods become ready
 * without a sidecar. The operator must stop early. Restarts the replicas, and returns how many
 * workloads lost their sidecar.
 */
async function checkWithoutSidecar({ context, observer, all }: Stage, replicas: Replicas, revision: string) {
  const { client } = context;
  await applyUntilReady(client, markedConfig(revision, 'four', { webhook: { failurePolicy: 'Ignore' } }));
  const after = observer.latest();
  await applyObject(client, revisionTag(tag, revision, { strategy }));
  await waitFor('the first workloads to be restarted', () => all.some((each) => observer.isWholeBy(each, revision)));
  await Promise.all(replicas.webhooks.map((each) => replicas.kill(each)));
  const withoutSidecar = () =>
    all.filter((each) => [...(observer.standing(each)?.pods.values() ?? [])].some(({ maker }) => maker === 'none'));
  await context.check('when no replica runs, the operator stops restarts and the status gives the reason', async () => {
    const { phase, message } = await restartsOf(context, tag);
    if (withoutSidecar().length > 0 && phase === 'Stopped' && /sidecar/.test(message)) return true;
    throw new Error(`the phase is ${phase}: ${message}`);
  });
  await sleep(2000);
  const restarted = edits(observer.sightings(), after).size;
  const lost = withoutSidecar().length;
  await context.checkNow(
    `${lost} of ${all.length} workloads lost their sidecar, at most ${bounds.maxUnavailableWorkloads}; the operator restarted ${restarted} workloads, less than half`,
    () => lost <= bounds.maxUnavailableWorkloads && restarted < all.length / 2,
  );
  await Promise.all(replicas.webhooks.map(({ operator }) => operator.restart()));
  await replicas.waitUntilServing();
  return lost;
}

/** Merge patches that the operator's token must not apply to a workload. */
const attempts: Record<string, object> = {
  'another image': { spec: { template: { spec: { containers: [{ name: 'sleep', image: 'example.com/mine:1' }] } } } },
  'another ServiceAccount': { spec: { template: { spec: { serviceAccountName: 'other' } } } },
  'a label of the pod template': { spec: { template: { metadata: { labels: { mine: 'x' } } } } },
  'another annotation of the pod template': { spec: { template: { metadata: { annotations: { mine: 'x' } } } } },
  'the removal of an annotation of the pod template': {
    spec: { template: { metadata: { annotations: { 'e2e.sidecar-injector.io/ready-after': null } } } },
  },
  'all annotations of the pod template': { spec: { template: { metadata: { annotations: null } } } },
  'our annotation and a label with it': {
    metadata: { labels: { mine: 'x' } },
    spec: { template: { metadata: { annotations: { 'sidecar-injector.io/restarted': 'prod v2.00000000 x' } } } },
  },
  minReadySeconds: { spec: { minReadySeconds: 5 } },
  'a label of the workload': { metadata: { labels: { mine: 'x' } } },
  'an annotation of the workload': { metadata: { annotations: { 'sidecar-injector.io/restarted': 'x' } } },
  'a finalizer': { metadata: { finalizers: ['example.com/mine'] } },
  'an owner': {
    metadata: {
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'x', uid: '00000000-0000-0000-0000-000000000000' }],
    },
  },
};

/** Another forbidden patch, for kinds that have replicas. */
const scaling = { spec: { replicas: 0 } };

/** Checks with dry runs that a leader's token may write only one annotation of a pod template. */
async function checkOwnToken(
  context: ScenarioContext,
  { installation, controllers }: Replicas,
  workloads: readonly KubernetesObject[],
): Promise<number> {
  const [controller] = controllers;
  if (controller === undefined) throw new Error('no controller is running');
  const kubeconfig = join(context.cluster.run.path, `${installation.namespace}-${controller.name}.kubeconfig`);
  const client = new ApiClient(loadKubeConfig({ kubeconfig }), { userAgent: 'e2e-with-the-operators-token' });
  let refused = 0;
  try {
    for (const target of workloads) {
      const { kind } = target;
      const annotations = { 'sidecar-injector.io/restarted': `prod v2.00000000 ${new Date().toISOString()}` };
      const ours = { ...target, spec: { template: { metadata: { annotations } } } };
      await context.check(`the operator's token may write its annotation on the pod template of a ${kind}`, () =>
        client.apply(ours, { fieldManager: 'sidecar-injector-restarts', dryRun: true }),
      );
      const all = kind === 'DaemonSet' ? attempts : { ...attempts, 'its replicas': scaling };
      const allowed: string[] = [];
      for (const [what, patch] of Object.entries(all)) {
        const refusal = await refusalOf(() => client.patch(target, 'merge', patch, { dryRun: true }));
        if (refusal?.includes('the operator may change nothing but') === true) refused++;
        else allowed.push(`${what} (${refusal ?? 'it was allowed'})`);
      }
      await context.checkNow(`the policy denies ${Object.keys(all).length} other changes of the ${kind}`, () =>
        found(allowed.join('; '), ''),
      );
    }
  } finally {
    client.close();
  }
  await checkRoles(context, installation.username, workloads[0]?.metadata.namespace ?? '');
  return refused;
}

/** Checks what RBAC forbids, with access reviews that cause no refusals in the audit log. */
async function checkRoles(context: ScenarioContext, user: string, namespace: string): Promise<void> {
  const forbidden: Access[] = resources.flatMap((resource) => [
    ...['create', 'update', 'delete', 'deletecollection', 'get'].map((verb) => ({ verb, resource, group: 'apps' })),
    ...['status', 'scale'].map((subresource) => ({ verb: 'patch', resource, subresource, group: 'apps' })),
  ]);
  forbidden.push(
    { verb: 'patch', resource: 'replicasets', group: 'apps' },
    { verb: 'delete', resource: 'pods' },
    { verb: 'create', resource: 'pods', subresource: 'eviction' },
    { verb: 'patch', resource: 'poddisruptionbudgets', group: 'policy' },
    { verb: 'patch', resource: 'jobs', group: 'batch' },
  );
  const allowed: string[] = [];
  for (const access of forbidden) {
    if (await isAllowed(context.client, user, namespace, access)) allowed.push(JSON.stringify(access));
  }
  await context.checkNow(`the operator's roles allow none of ${forbidden.length} other requests`, () =>
    found(allowed.join('; '), ''),
  );
}
