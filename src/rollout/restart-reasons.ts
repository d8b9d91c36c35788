import { injectedByAnnotation } from '../api/names.ts';
import { restartChoiceAnnotation, updatesAnnotation } from '../api/revision-tag/restart-annotation.ts';
import type { RestartStatus } from '../api/revision-tag/revision-tag.ts';
import { isCurrent, type RestartCandidate } from './restart-candidate.ts';
import type { RolloutWorkload } from '../routing/workload-key.ts';

/** A reason for programs and a message for users. */
export type Why = Pick<RestartStatus['waiting'][number], 'reason' | 'message'>;

/** A workload and why it is not restarted. */
export type NotRestarted = RestartStatus['waiting'][number];

/** The limit of the status schema, in characters; the API server rejects a longer message. */
export const longestMessage = 2048;

/** The kinds (apps/v1) whose controller recreates pods after a change of the pod template. */
export const restartableKinds = ['Deployment', 'StatefulSet', 'DaemonSet'] as const;

const restartable: ReadonlySet<string> = new Set(restartableKinds);

/** Reports whether controllers of this kind recreate pods after a change of the pod template. */
export function isRestartable(kind: string): boolean {
  return restartable.has(kind);
}

const excluded = `annotation ${restartChoiceAnnotation} excludes it: recreate its pods yourself`;

/** Returns why the operator never restarts a workload; undefined if a restart is possible. */
export function whyNever(candidate: RestartCandidate): Why | undefined {
  const { kind, updateType, partition = 0, restarted, target } = candidate;
  const because = (reason: string, message: string): Why => ({ reason, message });
  // An update of the pods themselves needs no controller.
  if (candidate.isInPlace === true && candidate.leftOut === undefined)
    return candidate.isExcluded === true ? because('Excluded', excluded) : candidate.denied;
  if (kind === 'Pod') return because('NoController', 'no controller recreates this pod: recreate it yourself');
  if (kind === 'Job' || kind === 'CronJob')
    return because('Job', 'the pods of a Job run to completion; its next pods get the current configuration');
  if (!isRestartable(kind)) return because('UnknownKind', `the operator cannot restart a ${kind}: use its own tools`);
  if (candidate.leftOut !== undefined) return candidate.leftOut;
  if (candidate.isExcluded === true) return because('Excluded', excluded);
  if (candidate.denied !== undefined) return candidate.denied;
  if (candidate.isInjectedByHand === true) {
    const injected = `its pod template is already injected (annotation ${injectedByAnnotation})`;
    return because('InjectedByHand', `${injected}: remove the sidecar from the template`);
  }
  if (candidate.paused) return because('Paused', 'it is paused (spec.paused): resume it, and the operator restarts it');
  if (updateType === 'OnDelete')
    return because('OnDelete', 'its pods are replaced only when they are deleted (OnDelete): delete them');
  if (partition > 0) {
    const below = `its pods below ordinal ${partition} are not replaced (spec.updateStrategy.rollingUpdate.partition)`;
    return because('Partitioned', `${below}: set it to 0, and the operator restarts it`);
  }
  if (!isCurrent(candidate)) return undefined;
  const done = `it was restarted for ${target}`;
  return restarted?.isLost === true
    ? because('Reverted', `${done}, but another client reverted that: recreate its pods with the tool that owns it`)
    : because('StillStale', `${done} but still has stale pods: find out why`);
}

/** Returns why a namespace denies restarts. @param value its annotation `updatesAnnotation` */
export function whyDenied(value: string | undefined): Why | undefined {
  if (value === undefined || value === 'allow') return undefined;
  const annotation = `annotation ${updatesAnnotation} of its namespace`;
  if (value === 'deny') return { reason: 'Denied', message: `${annotation} is deny: recreate its pods yourself` };
  const found = JSON.stringify(value.slice(0, 32));
  return { reason: 'Denied', message: `${annotation} must be allow or deny, and is ${found}: correct it` };
}

/** Returns the status entry of a workload that is not restarted. */
export function notRestarted({ namespace, kind, name }: RolloutWorkload, { reason, message }: Why): NotRestarted {
  return { namespace, kind, name, reason, message: message.slice(0, longestMessage) };
}
