import type { ApiClient } from '../../kube/api-client.ts';
import { pods } from '../../operator/cluster-view.ts';
import { type RolloutWorkload, workloadKey, workloadOfPod } from '../../routing/workload-key.ts';
import { hasEnded } from '../diff/read-workloads.ts';
import { forEachItem } from '../usage/installation.ts';

/** A workload, and the name of its newest pod. */
export interface NewestPod extends RolloutWorkload {
  readonly pod: string;
  readonly created: string;
  /** The number of its live pods. */
  readonly pods: number;
}

/**
 * Finds the newest pod of each workload. Keeps only names, because all pods of a large cluster need
 * too much memory.
 * @param progress receives what was read so far, in words
 */
export async function newestPods(
  client: Pick<ApiClient, 'list'>,
  namespace: string | undefined,
  progress: (text: string) => void,
): Promise<NewestPod[]> {
  const found = new Map<string, NewestPod>();
  let count = 0;
  await forEachItem(client, pods, { namespace, limit: 100 }, (pod) => {
    count += 1;
    if (count % 500 === 0) progress(`${count} pods read`);
    if (hasEnded(pod)) return;
    const { namespace: own = '', name = '', creationTimestamp: created = '' } = pod.metadata;
    const workload = workloadOfPod(pod, own);
    const key = workloadKey(workload);
    const before = found.get(key);
    const newest = before !== undefined && before.created > created ? before : { ...workload, pod: name, created };
    found.set(key, { ...newest, pods: (before?.pods ?? 0) + 1 });
  });
  return [...found.values()];
}
