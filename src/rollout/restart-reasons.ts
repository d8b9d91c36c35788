import { injectedByAnnotation } from '../api/names.ts';
import { restartChoiceAnnotation } from '../api/revision-tag/restart-annotation.ts';
import type { RestartStatus } from '../api/revision-tag/revision-tag.ts';
import { isCurrent, type RestartCandidate } from './restart-candidate.ts';
import type { RolloutWorkload } from '../routing/workload-key.ts';

/** One word for programs, and a sentence for people. */
export type Why = Pick<RestartStatus['waiting'][number], 'reason' | 'message'>;

/** A workload, and why nothing is done about it. */
export type Left = RestartStatus['waiting'][number];

/** As the schema of the status has it: a longer text would make the API server refuse all of the status. */
export const longestMessage = 2048;

/** The kinds (apps/v1) whose pods a patch of the pod template makes anew. */
export const restartableKinds = ['Deployment', 'StatefulSet', 'DaemonSet'] as const;

const restartable: ReadonlySet<string> = new Set(restartableKinds);

/** Whether a patch of the pod template of such a workload makes its pods anew. */
export function isRestartable(kind: string): boolean {
  return restartable.has(kind);
}

/** Why somebody else has to make the pods of a workload anew; undefined when we can. */
export function whyNever(candidate: RestartCandidate): Why | undefined {
  const { kind, updateType, partition = 0, restarted, target } = candidate;
  const because = (reason: string, message: string): Why => ({ reason, message });
  if (kind === 'Pod') return because('NoController', 'nothing makes this pod again: make it anew yourself');
  if (kind === 'Job' || kind === 'CronJob')
    return because('Job', 'pods of Jobs end by themselves; the next ones get what is current');
  if (!isRestartable(kind)) return because('UnknownKind', `a ${kind} is restarted by its own tools`);
  if (candidate.leftOut !== undefined) return candidate.leftOut;
  if (candidate.isExcluded === true)
    return because('Excluded', `its annotation ${restartChoiceAnnotation} says so: make its pods anew yourself`);
  if (candidate.isInjectedByHand === true) {
    const injected = `its pod template has been injected already (annotation ${injectedByAnnotation})`;
    return because('InjectedByHand', `${injected}: take the sidecar out of the template`);
  }
  if (candidate.paused) return because('Paused', 'it is paused (spec.paused): resume it, and it is restarted');
  if (updateType === 'OnDelete')
    return because('OnDelete', 'its pods are replaced only when somebody deletes them (OnDelete)');
  if (partition > 0) {
    const below = `its pods below ordinal ${partition} are not replaced (spec.updateStrategy.rollingUpdate.partition)`;
    return because('Partitioned', `${below}: set it to 0, and it is restarted`);
  }
  if (!isCurrent(candidate)) return undefined;
  const done = `it was restarted for ${target}`;
  return restarted?.isLost === true
    ? because('Reverted', `${done}, and somebody has taken that back: make its pods anew with the tool that owns it`)
    : because('StillStale', `${done} and still has stale pods: see why`);
}

/** A workload and why nothing is done about it, as the status may hold it. */
export function left({ namespace, kind, name }: RolloutWorkload, { reason, message }: Why): Left {
  return { namespace, kind, name, reason, message: message.slice(0, longestMessage) };
}
