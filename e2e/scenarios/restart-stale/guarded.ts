import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { found } from '../../harness/wait-for.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { podsOf } from '../../harness/workloads.ts';
import { createAll, nameOf, workload } from '../../harness/workload-kinds.ts';
import { tag } from './fixtures.ts';
import { edits, fewestReady } from '../../harness/workload-observer/history.ts';
import { describeLeft, restartsOf } from '../../harness/restart-status.ts';
import type { WorkloadObserver } from '../../harness/workload-observer/workload-observer.ts';

/** Three Deployments whose pod goes before the next one comes, and of which one may be without at a time. */
const shared = ['shared-a', 'shared-b', 'shared-c'];
const oneAway = { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } };

/** Workloads that may not be restarted now, or not together. */
export interface Guarded {
  readonly namespace: string;
  /** Its PodDisruptionBudget allows nothing. `namespace/name`, as the others. */
  readonly closed: string;
  /** Its pod is not ready, by itself. */
  readonly sick: string;
  /** Under one PodDisruptionBudget that wants two ready pods of them. */
  readonly shared: readonly string[];
  /** The budget allows one now. */
  readonly open: () => Promise<void>;
  /** The pod is ready, or not. */
  readonly setSick: (isSick: boolean) => Promise<void>;
}

export async function createGuarded(context: ScenarioContext): Promise<Guarded> {
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
    open: async () => {
      await client.patch(closing, 'merge', { spec: { minAvailable: 1 } });
    },
    setSick: async (isSick) => {
      const [pod] = await podsOf(client, namespace, 'sick');
      if (pod === undefined) throw new Error('the sick Deployment has no pod');
      const annotations = { 'e2e.sidecar-injector.io/outcome': isSick ? 'unready' : null };
      await client.patch({ ...pod, apiVersion: 'v1', kind: 'Pod' }, 'merge', { metadata: { annotations } });
    },
  };
}

/** Two ready pods of three, at every instant; what its budget forbids waits, and what is not ready. Both are restarted when that is over. */
export async function checkGuarded(
  context: ScenarioContext,
  observer: WorkloadObserver,
  guarded: Guarded,
  after: number,
): Promise<void> {
  const fewest = fewestReady(observer.sightings(), after, guarded.shared);
  await context.checkNow(
    'of the three workloads of a budget that wants two ready pods, two were ready at every instant',
    () => found(String(fewest), '2'),
  );
  await context.check('what its budget forbids waits, what is not ready as well, and the status says so', async () => {
    const { phase, waiting } = await restartsOf(context, tag);
    return found(
      `${phase}: ${waiting.map(describeLeft).sort().join(', ')}`,
      'Waiting: Deployment/closed Budget, Deployment/sick NotComplete',
    );
  });
  const touched = [guarded.closed, guarded.sick].filter((each) => edits(observer.sightings(), after).has(each));
  await context.checkNow('neither has been touched', () => found(touched.join(), ''));
  await guarded.open();
  await context.check('it is restarted as soon as its budget allows one', () =>
    observer.isWholeBy(guarded.closed, 'v2'),
  );
  await guarded.setSick(false);
  await context.check('and the other one as soon as it is ready', () => observer.isWholeBy(guarded.sick, 'v2'));
}

function budget(namespace: string, name: string, selector: object): KubernetesObject {
  const spec = { minAvailable: 2, selector };
  return { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name, namespace }, spec };
}
