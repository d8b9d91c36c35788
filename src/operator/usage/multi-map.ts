import type { SelectingWebhook } from '../../selection/selecting-webhook.ts';
import type { PodJudgement, PodState } from './judge-pod.ts';
import { subjectOf } from './usage-subject.ts';

/** Several values to a key. */
export class MultiMap<K, V> {
  readonly #values = new Map<K, Set<V>>();

  get(key: K): Iterable<V> {
    return this.#values.get(key) ?? [];
  }

  has(key: K): boolean {
    return this.#values.has(key);
  }

  add(key: K, value: V): void {
    const values = this.#values.get(key);
    if (values === undefined) this.#values.set(key, new Set([value]));
    else values.add(value);
  }

  delete(key: K, value: V): void {
    const values = this.#values.get(key);
    values?.delete(value);
    if (values?.size === 0) this.#values.delete(key);
  }
}

/** The state that counts. */
export function stateOf({ state }: PodJudgement): PodState | undefined {
  return state === 'none' || state === 'undecided' ? undefined : state;
}

/** Whom a judgement concerns: the InjectorConfig at which the pod counts, the one and the tag that it follows. */
export function subjectsOf(judgement: PodJudgement): [subject: string, state: PodState | undefined][] {
  const { injectorConfig, selectedBy, isUser } = judgement;
  if (!isUser) return [];
  const state = stateOf(judgement);
  const subjects: [string, PodState | undefined][] = [[subjectOf('InjectorConfig', injectorConfig), state]];
  if (selectedBy !== undefined && selectedBy.injectorConfig !== injectorConfig) {
    subjects.push([subjectOf('InjectorConfig', selectedBy.injectorConfig), undefined]);
  }
  if (selectedBy?.tag !== undefined) subjects.push([subjectOf('RevisionTag', selectedBy.tag), state]);
  return subjects;
}

/** The InjectorConfigs and the tag that a namespace names when its labels select a webhook. */
export function namedBy({ injectorConfig, tag, canary }: SelectingWebhook): string[] {
  const configs = new Set([injectorConfig, ...(canary === undefined ? [] : [canary.injectorConfig])]);
  const subjects = [...configs].map((name) => subjectOf('InjectorConfig', name));
  return tag === undefined ? subjects : [...subjects, subjectOf('RevisionTag', tag)];
}
