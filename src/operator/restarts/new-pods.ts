import type { RestartCandidate } from '../../rollout/restart-candidate.ts';
import type { PodRecord } from '../usage/pod-group.ts';
import type { PodJudgement } from '../usage/judge-pod.ts';
import type { PodGroup } from '../usage/pod-group.ts';

/** Pods that are alike, and how they are judged for the tag. */
export interface JudgedGroup {
  readonly group: PodGroup;
  readonly state: PodJudgement['state'];
}

/** A pod that has restarted more often counts as crashing: between two crashes it looks as if nothing was wrong. */
const restartsAllowed = 2;
/** One that crashes all the time restarts more often: the kubelet waits five minutes at most. */
const restartsAnHour = 4;
const hourMs = 3_600_000;

/**
 * Of the pods that a restart has made, how many crash, and how many have no sidecar.
 * @param from when the workload was restarted; milliseconds since 1970, as the others
 * @param to pods that were made later are somebody else's
 */
export function newPods(
  groups: readonly JudgedGroup[],
  from: number,
  to: number,
  now: number,
): Pick<RestartCandidate, 'crashing' | 'uninjected'> {
  const since = Math.floor(from / 1000);
  let [crashing, uninjected] = [0, 0];
  for (const { group, state } of groups) {
    for (const pod of group.pods.values()) {
      const { createdAt = 0 } = pod;
      // Times of pods are whole seconds: what is stale and was made in the same second was there before.
      const isNew = (createdAt > since || (createdAt === since && state !== 'stale')) && createdAt * 1000 <= to;
      if (isNew && isCrashing(pod, now < to, now)) crashing += 1;
      if (isNew && state === 'missing') uninjected += 1;
    }
  }
  return { crashing, uninjected };
}

/** @param isFresh whether it is not long since the restart; later on only what has crashed ever since is the restart's fault */
function isCrashing({ createdAt = 0, health }: PodRecord, isFresh: boolean, now: number): boolean {
  if (health === undefined) return false;
  const { crashing, restarts } = health;
  if (isFresh) return crashing || restarts > restartsAllowed;
  return restarts > Math.max(restartsAllowed, ((now - createdAt * 1000) / hourMs) * restartsAnHour);
}
