import type { JsonObject } from '../patch/json-value.ts';
import type { AuthorGuard } from './author-guard.ts';
import { withInputs, type AuthorInput, type AuthorView, type Replacement } from './author-inputs.ts';
import { useOf, type AuthorReads } from './author-reads.ts';
import { benignTwin, harmlessPiece, otherLetters } from './harmless-text.ts';
import { attempt, narrow } from './narrow.ts';
import { areSame, type ComparisonKind } from './passed-comparisons.ts';
import type { Place } from './place.ts';
import { unsafe } from './refusal.ts';
import { forbiddenDifference, structuralDifference, type Difference, type Mode } from './value-places.ts';

/** What templates render for a pod. */
export interface Rendering {
  readonly view: AuthorView;
  /** What was rendered for it, a text for each template. */
  readonly texts: readonly string[];
  /** What these say: the same objects for the same texts. */
  readonly contents: readonly JsonObject[];
  /** What the content of a text is a part of a pod as. */
  readonly part: (content: JsonObject) => JsonObject;
  /** What would be rendered for another pod. @throws InjectionFailure */
  readonly render: (view: AuthorView) => readonly string[];
  /** Reads such texts. @throws InjectionFailure */
  readonly read: (texts: readonly string[]) => readonly JsonObject[];
}

const without: Replacement = () => undefined;
const otherPiece: Replacement = (text) => otherLetters(harmlessPiece(text));

/** Compares what was rendered with something else. */
type Compare = (left: JsonObject, right: JsonObject) => Difference;

/**
 * Holds a pod's author to the rule of docs/annotation-safety.md. What templates rendered is compared with what they would render
 * 1. where texts are not harmless, with twins that mean nothing to YAML: the same, but for leaves that may hold a text;
 * 2. without the annotations and labels that are not allowed: the same, but for what may come and go;
 * 3. where something with a name has come or gone, with other letters in their place: the same again, so names are the template's.
 * @param inputs what the author wrote
 * @param echoes structural annotations that say what the template says anyway: an earlier injection left them
 * @throws InjectionFailure `UnsafeAnnotation`, naming what the author wrote
 */
export function checkAuthorTexts(
  guard: AuthorGuard,
  reads: AuthorReads,
  rendering: Rendering,
  inputs: readonly AuthorInput[],
  echoes: ReadonlySet<AuthorInput>,
): void {
  const isAllowed = ({ kind, name }: AuthorInput): boolean => kind !== 'field' && guard.allows(name);
  const forbidden = inputs.filter((input) => !isAllowed(input));
  const within =
    (mode: Mode): Compare =>
    (left, right) =>
      forbiddenDifference(left, right, mode, guard.ownWords);
  const written = forbidden.filter(({ kind }) => kind !== 'field');
  const own = written.filter((input) => !echoes.has(input));
  const isOdd = (input: AuthorInput): boolean => !input.harmless;
  const twins = [benignTwin, harmlessPiece];
  const odd = forbidden.filter((input) => isOdd(input) && !echoes.has(input));
  check(guard, rendering, 'twin', odd, twins, within('text'));
  // Where an annotation is taken away, a template may show the name of the pod instead: that is no effect of the annotation's.
  const oddNames = odd.filter(({ kind }) => kind === 'field');
  const base = oddNames.length === 0 ? rendering : (twinned(rendering, oddNames) ?? rendering);
  // A template may insist on an annotation, and on what it looks like.
  const absent = [without, otherLetters, otherPiece];
  const named = check(guard, base, 'without', written, absent, within('presence'));
  if (named) check(guard, base, 'other', own, [otherLetters, otherPiece, without], within('presence'));
  // What is allowed may stand anywhere; its text may change the structure only where the template takes it apart.
  const allowed = inputs.filter((input) => isAllowed(input) && isOdd(input) && !isParsed(reads, input));
  check(guard, rendering, 'allowed', allowed, twins, structuralDifference);
}

/** What is rendered for a pod with harmless names; absent where templates refuse it. */
function twinned(rendering: Rendering, names: readonly AuthorInput[]): Rendering | undefined {
  const view = withInputs(rendering.view, names, benignTwin);
  return attempt(() => {
    const texts = rendering.render(view);
    return { ...rendering, view, texts, contents: rendering.read(texts) };
  });
}

/** Whether a template takes the text apart. */
function isParsed({ annotations, labels }: AuthorReads, { kind, name }: AuthorInput): boolean {
  return useOf(kind === 'label' ? labels : annotations, name)?.parsed === true;
}

/**
 * Compares with the first of several renderings that templates do not refuse.
 * @returns whether something with a name has come or gone
 */
function check(
  { passed }: AuthorGuard,
  rendering: Rendering,
  kind: ComparisonKind,
  inputs: readonly AuthorInput[],
  replacements: readonly Replacement[],
  compare: Compare,
): boolean {
  if (inputs.length === 0) return false;
  /** What a rendering makes a difference in; absent where templates refuse it. */
  const differenceWith = (some: readonly AuthorInput[], replace: Replacement): Difference | undefined => {
    const { view, contents, part, render, read } = rendering;
    const texts = attempt(() => render(withInputs(view, some, replace)));
    if (texts === undefined || areSame(texts, rendering.texts)) return texts && { named: false };
    const known = passed.find(kind, contents, texts);
    if (known !== undefined) return known;
    const others = attempt(() => read(texts));
    if (others === undefined) return undefined;
    const found = contents.map((content, index) => compare(part(content), part(others[index] ?? {})));
    const difference = found.find(({ place }) => place !== undefined) ?? { named: found.some(({ named }) => named) };
    if (difference.place === undefined) passed.remember(kind, contents, texts, difference);
    return difference;
  };
  const differenceOf = (some: readonly AuthorInput[]): Difference => {
    for (const replace of replacements) {
      const difference = differenceWith(some, replace);
      if (difference !== undefined) return difference;
    }
    return { place: somewhere, named: false };
  };
  const { place, named } = differenceOf(inputs);
  if (place === undefined) return named;
  const input = narrow(inputs, (some) => differenceOf(some).place !== undefined);
  throw unsafe(input, (inputs.length === 1 ? place : differenceOf([input]).place) ?? place, effects[kind]);
}

/** No more is known of a difference than that there is one. */
const somewhere: Place = [];

const effects: Readonly<Record<ComparisonKind, string>> = {
  without: 'would change what runs, as whom or what it reaches',
  other: 'would change what runs, as whom or what it reaches',
  twin: 'would change more than a value',
  allowed: 'would change more than a value',
};
