import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { barePod, labelNamespace, podsOf } from '../../harness/workloads.ts';
import { createAll, workload } from '../../harness/workload-kinds.ts';
import { tag } from './fixtures.ts';

/** Pods that stay as they are, and the tag's status says why; or that the tag has nothing to do with. */
export interface LeftAlone {
  readonly namespaces: readonly string[];
  /** What `status.restarts.untouched` must say: `Kind/name reason`, sorted. */
  readonly reasons: readonly string[];
  /** The pods that are there now: `namespace/name uid`, sorted. */
  readonly pods: () => Promise<string[]>;
}

/** @param revision an InjectorConfig that others follow without the tag, and what they follow afterwards */
export async function createLeftAlone(
  context: ScenarioContext,
  revision: { readonly from: string; readonly to: string },
): Promise<LeftAlone> {
  const { client } = context;
  const namespace = await context.namespace('left', { 'istio.io/rev': tag });
  const late = await context.namespace('late');
  const others = await context.namespace('others', { 'istio.io/rev': revision.from });
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
  ]);
  const namespaces = [namespace, late, others];
  const all = async () => (await Promise.all(namespaces.map((each) => podsOf(client, each)))).flat();
  await waitFor('the pods that stay to be there', async () => (await all()).length === 12);
  await waitFor('them to be ready', async () => {
    const ready = (await all()).filter(({ status }) =>
      status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True'),
    );
    // That of the Job is not: it would have ended.
    return ready.length === 11;
  });
  await client.patch(paused, 'merge', { spec: { paused: true } });
  await labelNamespace(client, late, { 'istio.io/rev': tag });
  await labelNamespace(client, others, { 'istio.io/rev': revision.to });
  return {
    namespaces,
    reasons: [
      'DaemonSet/by-hand-too OnDelete',
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

/** Its pod runs and never becomes ready: the fake kubelets end the pods of Jobs that are. */
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

/** The generations of the workloads in some namespaces: `Kind namespace/name generation`, sorted. */
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
