import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { resourceKind, type ResourceKind } from '../../kube/resource-kinds.ts';

/** The kinds whose controllers create pods, and write an Event if the API server refuses one. */
export const podCreators: ReadonlyMap<unknown, ResourceKind> = new Map(
  [
    resourceKind('apps/v1', 'ReplicaSet'),
    resourceKind('apps/v1', 'StatefulSet'),
    resourceKind('apps/v1', 'DaemonSet'),
    resourceKind('batch/v1', 'Job'),
  ].map((resource) => [resource.kind, resource]),
);

type Numbers = Readonly<Record<string, number | undefined>>;

/** Returns the number of pods that a spec asks for; a CronJob counts as one of its Jobs. */
export function replicasOf({ kind, spec, status }: KubernetesObject): number {
  if (kind === 'Pod') return 1;
  if (kind === 'DaemonSet') return ((status ?? {}) as Numbers).desiredNumberScheduled ?? 0;
  const { jobTemplate } = (spec ?? {}) as { readonly jobTemplate?: { readonly spec?: Numbers } };
  const { replicas, parallelism } = (kind === 'CronJob' ? (jobTemplate?.spec ?? {}) : (spec ?? {})) as Numbers;
  return (kind.endsWith('Job') ? parallelism : replicas) ?? 1;
}

/** Reports whether an object is a Job that has succeeded or given up. */
export function isFinished({ kind, status }: KubernetesObject): boolean {
  const { conditions = [] } = (status ?? {}) as { readonly conditions?: readonly Record<string, unknown>[] };
  const isEnd = ({ type, status: is }: Record<string, unknown>): boolean =>
    (type === 'Complete' || type === 'Failed') && is === 'True';
  return kind === 'Job' && conditions.some(isEnd);
}

/** Reports whether an object of {@link podCreators} has fewer pods than its spec asks for. */
export function lacksPods(object: KubernetesObject): boolean {
  const { replicas, currentNumberScheduled, active = 0, succeeded = 0 } = (object.status ?? {}) as Numbers;
  const { suspend } = (object.spec ?? {}) as { readonly suspend?: boolean };
  if (suspend === true || isFinished(object)) return false;
  return (replicas ?? currentNumberScheduled ?? active + succeeded) < replicasOf(object);
}
