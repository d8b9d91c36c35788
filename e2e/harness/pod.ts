import type { ObjectMeta } from '../../src/api/kubernetes/kubernetes.ts';

/** The parts of a Pod that scenarios look at. */
export interface Pod {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec: PodSpec;
  status?: PodStatus;
  [field: string]: unknown;
}

export interface PodSpec {
  containers: Container[];
  initContainers?: Container[];
  hostNetwork?: boolean;
  volumes?: { name: string; [source: string]: unknown }[];
  [field: string]: unknown;
}

export interface Container {
  name: string;
  image: string;
  args?: string[];
  restartPolicy?: string;
  [field: string]: unknown;
}

interface PodStatus {
  phase?: string;
  reason?: string;
  conditions?: { type: string; status: string }[];
  containerStatuses?: ContainerStatus[];
  initContainerStatuses?: ContainerStatus[];
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

/** The annotation by which an injected pod is recognised. */
export const statusAnnotation = 'sidecar.istio.io/status';

export function isInjected(pod: Pod): boolean {
  return pod.metadata.annotations?.[statusAnnotation] !== undefined;
}
