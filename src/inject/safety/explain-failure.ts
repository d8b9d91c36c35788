import type { InjectionFailure } from '../injection-failure.ts';
import { withInputs, type AuthorInput, type AuthorView } from './author-inputs.ts';
import { benignTwin } from './harmless-text.ts';
import { attempt, narrow } from './narrow.ts';
import { unusable } from './refusal.ts';

/**
 * Names the text of the author's because of which the templates fail: without it, or with a benign one in its place, they do not.
 * @param run Renders and merges for another view. @throws InjectionFailure
 * @returns The failure itself where it is nobody's text.
 */
export function explainFailure(
  failure: InjectionFailure,
  view: AuthorView,
  inputs: readonly AuthorInput[],
  run: (view: AuthorView) => unknown,
): InjectionFailure {
  const hostile = inputs.filter(({ harmless }) => !harmless);
  const twinned = (some: readonly AuthorInput[]): AuthorView => withInputs(view, some, benignTwin);
  const removed = (some: readonly AuthorInput[]): AuthorView => {
    const others = some.filter(({ kind }) => kind !== 'field');
    return withInputs(twinned(some.filter(({ kind }) => kind === 'field')), others, () => undefined);
  };
  for (const [candidates, neutral] of [
    [hostile, twinned],
    [inputs, removed],
  ] as const) {
    const cures = (some: readonly AuthorInput[]): boolean => attempt(() => run(neutral(some))) !== undefined;
    if (candidates.length > 0 && cures(candidates)) return unusable(narrow(candidates, cures), failure);
  }
  return failure;
}
