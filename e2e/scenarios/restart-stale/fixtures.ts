import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import { isTrue, objectOf } from '../../harness/apply.ts';
import { describeLeft, restartsOf } from '../../harness/revision-tags.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { found, waitFor } from '../../harness/wait-for.ts';
import { createAll, nameOf, workload, type WorkloadKind } from '../../harness/workload-kinds.ts';
import { edits, fewestReady } from '../../harness/workload-observer/history.ts';
import { barePod, labelNamespace, podsOf } from '../../harness/workloads.ts';
import { tag, type Stage } from './bounds.ts';

/** The kinds of the fixtures, in turn. A Deployment with two pods loses a pod in a restart. */
const mixture: readonly [kind: WorkloadKind, options: Parameters<typeof workload>[3]][] = [
  ['Deployment', {}],
  ['StatefulSet', {}],
  ['Deployment', {}],
  ['DaemonSet', {}],
  ['Deployment', { replicas: 2, update: { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } }],
  ['Deployment', {}],
  ['StatefulSet', { replicas: 2 }],
];

/** Creates workloads of three kinds that follow the tag. Returns their names (`namespace/name`). */
export async function createFixtures(context: ScenarioContext, namespaces: number, count: number): Promise<string[]> {
  const names: string[] = [];
  for (let index = 0; index < namespaces; index++) {
    names.push(await context.namespace(`fixtures-${index}`, { 'istio.io/rev': tag }));
  }
  const objects = Array.from({ length: count }, (_, index) => {
    const [kind, options] = mixture[index % mixture.length] ?? ['Deployment', {}];
    const namespace = names[index % names.length] ?? '';
    return workload(kind, namespace, `work-${String(index).padStart(3, '0')}`, options);
  });
  await createAll(context, objects);
  return objects.map(nameOf);
}

/** Deployments that delete the old pod first. Their budget allows only one unavailable pod. */
const shared = ['shared-a', 'shared-b', 'shared-c'];
const oneAway = { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } };

export async function createGuarded(context: ScenarioContext) {
  const { client } = context;
  const namespace = await context.namespace('guarded', { 'istio.io/rev': tag });
  const closed = workload('Deployment', namespace, 'closed', { replicas: 2, labels: { guard: 'closed' } });
  const sick = workload('Deployment', namespace, 'sick');
  const group = shared.map((name) =>
    workload('Deployment', namespace, name, { labels: { guard: 'shared' }, update: oneAway }),
  );
  await createAll(context, [closed, sick, ...group]);
  const closing = budget(namespace, 'closed', { matchLabels: { guard: 'closed' } });
  const sharing = budget(namespace, 'shared', {
    matchExpressions: [{ key: 'guard', operator: 'In', values: ['shared'] }],
  });
  await createAll(context, [closing, sharing]);
  return {
    namespace,
    closed: nameOf(closed),
    sick: nameOf(sick),
    shared: group.map(nameOf),
    open: () => client.patch(closing, 'merge', { spec: { minAvailable: 1 } }),
    setSick: async (isSick: boolean) => {
      const [pod] = await podsOf(client, namespace, 'sick');
      if (pod === undefined) throw new Error('Deployment sick has no pod');
      const annotations = { 'e2e.sidecar-injector.io/outcome': isSick ? 'unready' : null };
      await client.patch({ ...pod, apiVersion: 'v1', kind: 'Pod' }, 'merge', { metadata: { annotations } });
    },
  };
}

type Guarded = Awaited<ReturnType<typeof createGuarded>>;

/** Checks that budgets always held, and that blocked or unready workloads restart later. */
export async function checkGuarded({ context, observer }: Stage, guarded: Guarded, after: number): Promise<void> {
  const fewest = fewestReady(observer.sightings(), after, guarded.shared);
  await context.checkNow('at every instant, 2 of 3 pods with a budget for 2 were ready', () =>
    found(String(fewest), '2'),
  );
  await context.check('the status reports the blocked and the unready workload as waiting', async () => {
    const { phase, waiting } = await restartsOf(context, tag);
    return found(
      `${phase}: ${waiting.map(describeLeft).sort().join(', ')}`,
      'Waiting: Deployment/closed Budget, Deployment/sick NotComplete',
    );
  });
  const touched = [guarded.closed, guarded.sick].filter((each) => edits(observer.sightings(), after).has(each));
  await context.checkNow('the operator has not changed the two waiting workloads', () => found(touched.join(), ''));
  await guarded.open();
  await context.check('once its budget allows it, the operator restarts the blocked workload', () =>
    observer.isWholeBy(guarded.closed, 'v2'),
  );
  await guarded.setSick(false);
  await context.check('once ready, the unready workload is restarted', () => observer.isWholeBy(guarded.sick, 'v2'));
}

function budget(namespace: string, name: string, selector: object): KubernetesObject {
  const spec = { minAvailable: 2, selector };
  return { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name, namespace }, spec };
}

/** Creates objects that must not be restarted. The objects in `others` follow no tag. */
export async function createLeftAlone(context: ScenarioContext) {
  const { client } = context;
  const namespace = await context.namespace('left', { 'istio.io/rev': tag });
  const late = await context.namespace('late');
  const others = await context.namespace('others', { 'istio.io/rev': 'v1' });
  const denying = await context.namespace('denying', { 'istio.io/rev': tag });
  const onDelete = { type: 'OnDelete' };
  const partition = { type: 'RollingUpdate', rollingUpdate: { partition: 1 } };
  const paused = workload('Deployment', namespace, 'paused');
  const excluded = workload('Deployment', namespace, 'excluded');
  excluded.metadata.annotations = { 'sidecar-injector.io/restart': 'false' };
  await createAll(context, [
    excluded,
    workload('StatefulSet', namespace, 'by-hand', { update: onDelete }),
    workload('DaemonSet', namespace, 'by-hand-too', { update: onDelete }),
    workload('StatefulSet', namespace, 'parted', { replicas: 2, update: partition }),
    paused,
    job(namespace),
    replicaSet(namespace),
    barePod(namespace, 'bare'),
    workload('Deployment', late, 'never-injected'),
    workload('Deployment', others, 'of-a-revision'),
    workload('Deployment', denying, 'denied'),
  ]);
  const namespaces = [namespace, late, others, denying];
  const all = async () => (await Promise.all(namespaces.map((each) => podsOf(client, each)))).flat();
  await waitFor('13 pods that must not restart', async () => (await all()).length === 13);
  // The Job's pod must stay unready, because a ready pod would complete.
  await waitFor('12 ready pods', async () => (await all()).filter((pod) => isTrue(pod, 'Ready')).length === 12);
  await client.patch(paused, 'merge', { spec: { paused: true } });
  await labelNamespace(client, late, { 'istio.io/rev': tag });
  await labelNamespace(client, others, { 'istio.io/rev': 'v2' });
  const annotations = { 'sidecar-injector.io/updates': 'deny' };
  await client.patch(objectOf('v1', 'Namespace', denying), 'merge', { metadata: { annotations } });
  return {
    namespaces,
    reasons: [
      'DaemonSet/by-hand-too OnDelete',
      'Deployment/denied Denied',
      'Deployment/excluded Excluded',
      'Deployment/paused Paused',
      'Job/once Job',
      'Pod/bare NoController',
      'ReplicaSet/alone UnknownKind',
      'StatefulSet/by-hand OnDelete',
      'StatefulSet/parted Partitioned',
    ],
    pods: async () =>
      (await all()).map(({ metadata }) => `${metadata.namespace}/${metadata.name} ${metadata.uid}`).sort(),
  };
}

/** Returns a Job whose pod never becomes ready: the fake kubelets complete ready pods of Jobs. */
function job(namespace: string): KubernetesObject {
  const annotations = { 'e2e.sidecar-injector.io/outcome': 'unready' };
  const { spec } = barePod(namespace, 'once', { spec: { restartPolicy: 'Never' } });
  const template = { metadata: { annotations }, spec };
  return { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'once', namespace }, spec: { template } };
}

function replicaSet(namespace: string): KubernetesObject {
  const { metadata, spec } = barePod(namespace, 'alone');
  const template = { metadata: { labels: metadata.labels }, spec };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: 'alone', namespace },
    spec: { replicas: 1, selector: { matchLabels: { app: 'alone' } }, template },
  };
}

/** Returns the generations of workloads as `Kind namespace/name generation`, sorted. */
export async function generations({ client }: ScenarioContext, namespaces: readonly string[]): Promise<string[]> {
  const lines: string[] = [];
  for (const kind of ['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet']) {
    for (const namespace of namespaces) {
      const { items } = await client.listAll(resourceKind('apps/v1', kind), { namespace });
      for (const { metadata } of items) lines.push(`${kind} ${namespace}/${metadata.name} ${metadata.generation}`);
    }
  }
  return lines.sort();
}
