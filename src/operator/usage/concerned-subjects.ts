import type { Claimant } from './claimant.ts';
import type { PodJudgement, PodState } from './judge-pod.ts';
import { subjectOf } from './usage-subject.ts';

/** The state that counts. */
export function stateOf({ state }: PodJudgement): PodState | undefined {
  return state === 'none' || state === 'undecided' ? undefined : state;
}

/** Whom a judgement concerns: the InjectorConfig at which the pod counts, the one and the tag that it follows. */
export function subjectsOf(judgement: PodJudgement): [subject: string, state: PodState | undefined][] {
  const { injectorConfig, taker, isUser } = judgement;
  if (!isUser) return [];
  const state = stateOf(judgement);
  const subjects: [string, PodState | undefined][] = [[subjectOf('InjectorConfig', injectorConfig), state]];
  if (taker !== undefined && taker.injectorConfig !== injectorConfig) {
    subjects.push([subjectOf('InjectorConfig', taker.injectorConfig), undefined]);
  }
  if (taker?.tag !== undefined) subjects.push([subjectOf('RevisionTag', taker.tag), state]);
  return subjects;
}

/** Whom the labels of a namespace name that lead to a claimant. */
export function namedBy({ injectorConfig, tag, canary }: Claimant): string[] {
  const configs = new Set([injectorConfig, ...(canary === undefined ? [] : [canary.injectorConfig])]);
  const subjects = [...configs].map((name) => subjectOf('InjectorConfig', name));
  return tag === undefined ? subjects : [...subjects, subjectOf('RevisionTag', tag)];
}
