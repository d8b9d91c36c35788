import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { updateAnnotation } from '../../../src/api/revision-tag/update-annotation.ts';
import { containersIn, isReady, type Pod } from '../../harness/pod.ts';

/** A stored version of a pod. Its order is that of the watch. */
export interface PodVersion {
  /** The time of observation, in milliseconds since 1970. */
  readonly at: number;
  readonly namespace: string;
  /** `namespace/name` of the workload. */
  readonly workload: string;
  readonly uid: string;
  readonly gone: boolean;
  /** The images of the containers that run beside each other. */
  readonly images: string;
  readonly restarts: number;
  /** Whether the pod is Ready, and all its containers run with the images of the spec. */
  readonly isWhole: boolean;
  /** Whether the pod records an update that is under way. */
  readonly isUpdating: boolean;
}

/** Returns a version of a pod, as stored by the API server and not as the operator reports it. */
export function podVersion(object: KubernetesObject, gone: boolean, at: number): PodVersion {
  const pod = object as KubernetesObject & Pod;
  const { namespace = '', uid = '', labels = {}, annotations = {} } = pod.metadata;
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  const containers = containersIn(pod);
  const isRunning = containers.every(({ name, image }) =>
    statuses.some((each) => each.name === name && each.image === image && each.state?.running !== undefined),
  );
  return {
    at,
    namespace,
    workload: `${namespace}/${labels['app']}`,
    uid,
    gone,
    images: containers.map(({ image }) => image).join(),
    restarts: statuses.reduce((sum, { restartCount }) => sum + restartCount, 0),
    isWhole: isRunning && isReady(pod) && pod.metadata.deletionTimestamp === undefined,
    isUpdating: annotations[updateAnnotation]?.includes('"failed"') === false,
  };
}

/** The largest numbers at any version after the first `after`, and when an update began. */
export interface Peaks {
  readonly versions: number;
  /** How often the images of a pod have changed. */
  readonly updates: number;
  /** Workloads with a pod that was away: not whole, or still recorded as being updated. */
  readonly cluster: number;
  readonly namespace: number;
  /** Pods of one workload that were away. */
  readonly inWorkload: number;
  /** Workloads with a pod that was not whole, or for less than `wholeMs`, when an update began. */
  readonly slots: number;
  /** Pods of one group of workloads that were away. */
  readonly ofGroup: number;
}

/**
 * Replays the versions, and counts after each one.
 * @param wholeMs how long an updated pod must be whole, in milliseconds of observer time
 * @param group workloads that share a PodDisruptionBudget
 */
export function peaksOf(
  versions: readonly PodVersion[],
  after: number,
  wholeMs: number,
  group: readonly string[],
): Peaks {
  const pods = new Map<string, PodVersion & { since: number }>();
  const peaks = { updates: 0, cluster: 0, namespace: 0, inWorkload: 0, slots: 0, ofGroup: 0 };
  const raise = (peak: keyof typeof peaks, value: number): void => {
    peaks[peak] = Math.max(peaks[peak], value);
  };
  for (const [index, version] of versions.entries()) {
    const before = pods.get(version.uid);
    const since = before === undefined ? 0 : before.isWhole === version.isWhole ? before.since : version.at;
    if (version.gone) pods.delete(version.uid);
    else pods.set(version.uid, { ...version, since });
    if (index < after) continue;
    const away = [...pods.values()].filter(({ isWhole, isUpdating }) => !isWhole || isUpdating);
    const workloads = new Map(away.map(({ workload, namespace }) => [workload, namespace]));
    raise('cluster', workloads.size);
    raise('namespace', most([...workloads.values()]));
    raise('inWorkload', most(away.map(({ workload }) => workload)));
    raise('ofGroup', away.filter(({ workload }) => group.includes(workload)).length);
    if (before === undefined || before.images === version.images) continue;
    peaks.updates += 1;
    const taken = [...pods.values()].filter((pod) => !pod.isWhole || version.at - pod.since < wholeMs);
    raise('slots', new Set([...taken.map(({ workload }) => workload), version.workload]).size);
  }
  return { versions: versions.length - after, ...peaks };
}

/** Returns how often the most frequent value occurs. */
function most(values: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return Math.max(0, ...counts.values());
}
