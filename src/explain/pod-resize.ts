import { durationMilliseconds } from '../api/duration.ts';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import type { ContainerResources, PodUpdate } from '../api/revision-tag/update-annotation.ts';
import { listOf } from '../inject/kubernetes/admission-pod.ts';
import { amountIn } from '../inject/kubernetes/container-sum.ts';
import { objectAt } from '../inject/objects/workload-kinds.ts';
import type { JsonObject } from '../inject/patch/json-value.ts';
import { changedContainers, containersByKey, isUnschedulable, statusOf } from './pod-containers.ts';
import type { PodChange } from './pod-changes.ts';

/** Whether a resize or an update goes on, is complete, or has failed with this message. */
export type UpdateProgress = 'Updating' | 'Done' | { readonly failed: string };

/** Resources by container, `<list>/<name>`. */
export type Resources = Readonly<Record<string, ContainerResources>>;

/**
 * Returns the resources that a running pod gets by the subresource `resize`, and those that it had.
 * Ordinary init containers have finished, so what they requested has no effect any more.
 */
export function resizeOf(running: JsonObject, wanted: JsonObject, changes: readonly PodChange[]) {
  const [before, after] = [containersByKey(running), containersByKey(wanted)];
  const isResized = (key: string): boolean => {
    const [list = '', name = ''] = key.split('/');
    if (list === 'initContainers' && before[key]?.restartPolicy !== 'Always') return false;
    return changes.some(({ path }) => path.startsWith(`spec.${list}[${name}].resources`));
  };
  const keys = Object.keys(after).filter(isResized);
  const resourcesIn = (containers: Readonly<Record<string, JsonObject>>): Resources =>
    Object.fromEntries(
      keys.map((key) => {
        const { requests, limits } = objectAt(containers[key] ?? {}, ['resources']) as ContainerResources;
        return [key, { ...(requests && { requests }), ...(limits && { limits }) }];
      }),
    );
  return { after: resourcesIn(after), before: resourcesIn(before) };
}

/** Returns the resources that a pod does not have yet. */
export function remainingResize(pod: KubernetesObject, resources: Resources): Resources {
  const containers = containersByKey(pod);
  const differs = ([key, wanted]: [string, ContainerResources]): boolean =>
    containers[key] !== undefined && !sameAmounts(objectAt(containers[key], ['resources']), wanted);
  return Object.fromEntries(Object.entries(resources).filter(differs));
}

/**
 * Returns the merge patch of the subresource `resize`. Its uid and resourceVersion make the API
 * server refuse the patch if the pod is another one, or has changed.
 */
export function resizePatch(stored: KubernetesObject, resources: Resources): JsonObject {
  const { uid, resourceVersion } = stored.metadata;
  const pod = stored as unknown as JsonObject;
  const spec = changedContainers(pod, (key, container) => {
    const found = resources[key];
    return found && { resources: { ...objectAt(container, ['resources']), ...found } };
  });
  return { metadata: { uid, resourceVersion }, spec };
}

/**
 * Returns how far a resize is. The evidence is that the kubelet reports the resources of each
 * container in its status (KEP-1287), and no resize that goes on.
 * @param keys the resized containers, `<list>/<name>`
 * @param now in milliseconds since 1970
 */
export function resizeProgress(
  stored: KubernetesObject,
  { at }: Pick<PodUpdate, 'at'>,
  keys: readonly string[],
  { readyTimeout }: { readonly readyTimeout: string },
  now: number,
): UpdateProgress {
  const pod = stored as unknown as JsonObject;
  const status = objectAt(pod, ['status']);
  const conditions = listOf(status.conditions).filter(({ status: state }) => state === 'True');
  const pending = conditions.find(({ type }) => type === 'PodResizePending');
  const going = conditions.find(({ type }) => type === 'PodResizeInProgress');
  const [said] = [pending, going].flatMap((each) => each?.message ?? []);
  const why = typeof said === 'string' && said !== '' ? `: ${said}` : '';
  if (pending?.reason === 'Infeasible') return { failed: `the node cannot give the pod its resources${why}` };
  if (isUnschedulable(pod)) return 'Done';
  const containers = containersByKey(pod);
  const isInEffect = keys.every((key) =>
    sameAmounts(objectAt(statusOf(pod, key), ['resources']), objectAt(containers[key] ?? {}, ['resources'])),
  );
  if (isInEffect && pending === undefined && going === undefined) return 'Done';
  if (now < at + durationMilliseconds(readyTimeout)) return 'Updating';
  return { failed: `the pod does not have its new resources after ${readyTimeout}${why}` };
}

/** Reports whether requests and limits of CPU and memory are equal, however they are spelled. */
function sameAmounts(one: JsonObject, other: ContainerResources): boolean {
  return (['requests', 'limits'] as const).every((part) =>
    (['cpu', 'memory'] as const).every(
      (name) => amountIn(objectAt(one, [part]), name) === amountIn(other[part] ?? {}, name),
    ),
  );
}
