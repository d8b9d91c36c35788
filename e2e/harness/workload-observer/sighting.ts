import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { isTrue } from '../apply.ts';
import { makerOf } from '../load/marked-config.ts';
import type { Pod } from '../pod.ts';

export interface WorkloadSeen {
  readonly what: 'workload';
  readonly generation: number;
  readonly desired: number;
  /** Its controller has seen this very generation, and says that so many pods are there, all of this template and available, and no others. */
  readonly settled: boolean;
}

export interface PodSeen {
  readonly what: 'pod';
  readonly uid: string;
  readonly gone: boolean;
  /** Ready, and nobody has asked for its end. */
  readonly ready: boolean;
  /** Somebody has asked for its end: not its kubelet, which ends it without grace. */
  readonly leaving: boolean;
  readonly maker: string;
}

export interface Sighting {
  /** etcd's revision, which orders what was stored, of all kinds. */
  readonly revision: number;
  /** When it was seen: milliseconds since 1970. */
  readonly at: number;
  readonly namespace: string;
  /** `namespace/name`: names are different among the kinds of a namespace here. */
  readonly workload: string;
  readonly seen: WorkloadSeen | PodSeen;
}

interface WorkloadObject extends KubernetesObject {
  spec?: { replicas?: number };
  status?: Partial<Record<string, number>>;
}

/** Which figures of `status` count the pods that are there, those of the present template, and the available ones. */
const countsOf: Record<string, readonly string[]> = {
  Deployment: ['replicas', 'updatedReplicas', 'availableReplicas'],
  StatefulSet: ['replicas', 'updatedReplicas', 'availableReplicas'],
  DaemonSet: ['currentNumberScheduled', 'updatedNumberScheduled', 'numberAvailable'],
};

/** Reads one stored object; undefined for a pod that is of no workload of ours (label `app`). */
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
