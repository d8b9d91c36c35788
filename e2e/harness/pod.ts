import type { Condition, ObjectMeta } from '../../src/api/kubernetes/kubernetes.ts';

/** The parts of a Pod that scenarios look at. */
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
  ready: boolean;
  restartCount: number;
  started?: boolean;
  state?: Partial<Record<'waiting' | 'terminated' | 'running', { reason?: string }>>;
}

/** Names of a pod's containers: those that run beside each other, native sidecars included. */
export function runningContainers(pod: Pod): string[] {
  const native = (pod.spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  return [...native, ...pod.spec.containers].map(({ name }) => name);
}

/** An annotation tells. */
export function isInjected(pod: Pod): boolean {
  return pod.metadata.annotations?.['sidecar.istio.io/status'] !== undefined;
}
