import { listOf } from '../inject/kubernetes/admission-pod.ts';
import { objectAt } from '../inject/objects/workload-kinds.ts';
import type { JsonObject } from '../inject/patch/json-value.ts';

const containerLists = ['initContainers', 'containers'] as const;

/** Returns the containers of a pod by `<list>/<name>`. */
export function containersByKey(pod: JsonObject): Record<string, JsonObject> {
  const spec = objectAt(pod, ['spec']);
  const entries = containerLists.flatMap((list) =>
    listOf(spec[list]).map((each) => [`${list}/${String(each.name)}`, each] as const),
  );
  return Object.fromEntries(entries);
}

/**
 * Returns the lists of a pod's containers that change. A merge patch replaces whole lists.
 * @param change returns what changes in a container by its `<list>/<name>`, or undefined
 */
export function changedContainers(
  pod: JsonObject,
  change: (key: string, container: JsonObject) => JsonObject | undefined,
): JsonObject {
  const spec = objectAt(pod, ['spec']);
  return Object.fromEntries(
    containerLists.flatMap((list) => {
      const before = listOf(spec[list]);
      const changes = before.map((each) => change(`${list}/${String(each.name)}`, each));
      const after = before.map((each, index) => ({ ...each, ...changes[index] }));
      return changes.some((each) => each !== undefined) ? [[list, after]] : [];
    }),
  );
}

/** Reports whether all containers of a pod have ended for good, for example those of a Job. */
export function hasFinalPhase(pod: JsonObject): boolean {
  const { phase } = objectAt(pod, ['status']);
  return phase === 'Succeeded' || phase === 'Failed';
}

/** Reports whether a pod waits for a node, so that no kubelet has seen its containers. */
export function isUnschedulable(pod: JsonObject): boolean {
  const conditions = listOf(objectAt(pod, ['status']).conditions);
  return conditions.some(({ type, status }) => type === 'PodScheduled' && status === 'False');
}

/** Returns the name in `<list>/<name>`. */
export function nameIn(key: string): string {
  return key.slice(key.indexOf('/') + 1);
}

/** Returns the status of a container by its `<list>/<name>`; empty if there is none. */
export function statusOf(pod: JsonObject, key: string): JsonObject {
  const list = key.startsWith('init') ? 'initContainerStatuses' : 'containerStatuses';
  return listOf(objectAt(pod, ['status'])[list]).find(({ name }) => name === nameIn(key)) ?? {};
}
