import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { isTrue } from '../apply.ts';
import { makerOf } from '../load/marked-config.ts';
import type { Pod } from '../pod.ts';

export interface WorkloadSeen {
  readonly what: 'workload';
  readonly generation: number;
  readonly desired: number;
  /** Whether the status is current, and the desired number of pods is updated and available. */
  readonly settled: boolean;
}

export interface PodSeen {
  readonly what: 'pod';
  readonly uid: string;
  readonly gone: boolean;
  /** Whether the pod is ready and not being deleted. */
  readonly ready: boolean;
  /** Whether a client requested the deletion. A deletion by the kubelet has no grace period. */
  readonly leaving: boolean;
  readonly maker: string;
}

export interface Sighting {
  /** The etcd revision, which orders the stored versions of all kinds. */
  readonly revision: number;
  /** The time of observation, in milliseconds since 1970. */
  readonly at: number;
  readonly namespace: string;
  /** `namespace/name`. In scenarios, the names are unique across kinds. */
  readonly workload: string;
  readonly seen: WorkloadSeen | PodSeen;
}

interface WorkloadObject extends KubernetesObject {
  spec?: { replicas?: number };
  status?: Partial<Record<string, number>>;
}

/** The fields of `status` that count current, updated and available pods. */
const countsOf: Record<string, readonly string[]> = {
  Deployment: ['replicas', 'updatedReplicas', 'availableReplicas'],
  StatefulSet: ['replicas', 'updatedReplicas', 'availableReplicas'],
  DaemonSet: ['currentNumberScheduled', 'updatedNumberScheduled', 'numberAvailable'],
};

/** Parses a stored object. Returns undefined for a pod that has no label `app`. */
export function readSighting(object: KubernetesObject, gone: boolean, at: number): Sighting | undefined {
  const { namespace = '', name = '', resourceVersion = '' } = object.metadata;
  const isPod = object.kind === 'Pod';
  const workload = isPod ? object.metadata.labels?.['app'] : name;
  if (workload === undefined) return undefined;
  return {
    revision: Number(resourceVersion),
    at,
    namespace,
    workload: `${namespace}/${workload}`,
    seen: isPod ? podSeen(object as KubernetesObject & Pod, gone) : workloadSeen(object, gone),
  };
}

function workloadSeen(object: WorkloadObject, gone: boolean): WorkloadSeen {
  const { kind, metadata, spec, status = {} } = object;
  const { generation = 0 } = metadata;
  const desired = gone ? 0 : ((kind === 'DaemonSet' ? status['desiredNumberScheduled'] : spec?.replicas) ?? 0);
  const counts = (countsOf[kind] ?? []).map((field) => status[field] ?? 0);
  const settled = status['observedGeneration'] === generation && counts.every((count) => count === desired);
  return { what: 'workload', generation, desired, settled: gone || settled };
}

function podSeen(pod: Pod, gone: boolean): PodSeen {
  const metadata: Pod['metadata'] & { deletionGracePeriodSeconds?: number } = pod.metadata;
  const { uid = '', deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  return {
    what: 'pod',
    uid,
    gone,
    ready: isTrue(pod, 'Ready') && deletionTimestamp === undefined && !gone,
    leaving: deletionTimestamp !== undefined && deletionGracePeriodSeconds !== 0,
    maker: makerOf(pod),
  };
}
