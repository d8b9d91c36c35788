import type { Condition, ObjectMeta } from '../../src/api/kubernetes/kubernetes.ts';

/** The parts of a Pod that scenarios read. */
export interface Pod {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec: {
    containers: Container[];
    initContainers?: Container[];
    hostNetwork?: boolean;
    volumes?: { name: string; [source: string]: unknown }[];
    [field: string]: unknown;
  };
  status?: {
    phase?: string;
    reason?: string;
    conditions?: { type: string; status: Condition['status'] }[];
    containerStatuses?: ContainerStatus[];
    initContainerStatuses?: ContainerStatus[];
  };
  [field: string]: unknown;
}

export interface Container {
  name: string;
  image: string;
  args?: string[];
  restartPolicy?: string;
  [field: string]: unknown;
}

interface ContainerStatus {
  name: string;
  image?: string;
  ready: boolean;
  restartCount: number;
  containerID?: string;
  started?: boolean;
  state?: Partial<Record<'waiting' | 'terminated' | 'running', { reason?: string; startedAt?: string }>>;
  lastState?: { terminated?: { finishedAt: string } };
}

/** Returns a pod's containers, the native sidecars first. */
export function containersIn(pod: Pod): Container[] {
  const native = (pod.spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  return [...native, ...pod.spec.containers];
}

/** Returns the names of a pod's containers, including native sidecars. */
export function runningContainers(pod: Pod): string[] {
  return containersIn(pod).map(({ name }) => name);
}

/** Reports whether a pod has the status annotation of an injection. */
export function isInjected(pod: Pod): boolean {
  return pod.metadata.annotations?.['sidecar.istio.io/status'] !== undefined;
}

/** Reports whether a pod has condition Ready. */
export function isReady({ status }: Pod): boolean {
  return status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True') === true;
}
