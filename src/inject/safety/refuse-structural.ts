import type { JsonObject } from '../patch/json-value.ts';
import type { AuthorGuard } from './author-guard.ts';
import { withInputs, type AuthorInput } from './author-inputs.ts';
import { useOf, type AuthorReads } from './author-reads.ts';
import type { Rendering } from './check-author-texts.ts';
import { attempt } from './narrow.ts';
import { notAllowed } from './refusal.ts';

/**
 * Refuses annotations that are known to change more than values, where something reads them. One that says what the templates say anyway was left by
 * an earlier injection; those are returned.
 * @throws InjectionFailure `AnnotationNotAllowed`
 */
export function refuseStructural(
  guard: AuthorGuard,
  reads: AuthorReads,
  { view, render, read }: Pick<Rendering, 'view' | 'render' | 'read'>,
  inputs: readonly AuthorInput[],
): ReadonlySet<AuthorInput> {
  const structural = inputs.filter(
    ({ kind, name }) =>
      kind === 'annotation' && guard.structural(name) !== undefined && useOf(reads.annotations, name) !== undefined,
  );
  if (structural.length === 0) return new Set();
  const plain = attempt(() => read(render(withInputs(view, structural, () => undefined)))) ?? [];
  const own = structural.find(({ name, value }) => !plain.some((content) => annotationIn(content, name) === value));
  if (own !== undefined) throw notAllowed(own.name, own.value, guard.structural(own.name) ?? '');
  return new Set(structural);
}

function annotationIn({ metadata }: JsonObject, name: string): unknown {
  const annotations = ((metadata ?? {}) as JsonObject).annotations;
  return ((annotations ?? {}) as JsonObject)[name];
}
