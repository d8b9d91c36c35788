import { listOf } from '../kubernetes/admission-pod.ts';
import { objectAt } from '../objects/workload-kinds.ts';
import type { JsonObject } from '../patch/json-value.ts';

/**
 * Returns the containers that an injection adds to a pod of a Job, and that keep the Job from
 * completing: the pod completes only when each container ends, except native sidecars.
 */
export function endlessContainers(before: JsonObject, after: JsonObject): string[] {
  const isOfJob = listOf(objectAt(before, ['metadata']).ownerReferences).some(
    ({ kind, controller }) => kind === 'Job' && controller === true,
  );
  if (!isOfJob) return [];
  const own = new Set(namesIn(before));
  return namesIn(after).filter((name) => !own.has(name));
}

/** Returns a warning for a pod of a Job that may never complete. */
export function endlessJobWarnings(before: JsonObject, after: JsonObject): string[] {
  const names = endlessContainers(before, after);
  const list = names.map((name) => `spec.containers[${name}]`).join(', ');
  return names.length === 0
    ? []
    : [
        `${list}: an injected container that keeps running keeps the Job of this pod from completing; use a native sidecar (nativeSidecars), or let the pods of the Job opt out`,
      ];
}

function namesIn(pod: JsonObject): string[] {
  return listOf(objectAt(pod, ['spec']).containers).map(({ name }) => String(name));
}
