import { InjectionFailure } from '../injection-failure.ts';
import type { JsonObject } from '../patch/json-value.ts';
import type { OwnWords } from './arguments.ts';
import { type AuthorGuard, areSame, type ComparisonKind } from './author-guard.ts';
import { withInputs, type AuthorInput, type AuthorView, type Replacement } from './author-inputs.ts';
import { useOf, type AuthorReads } from './author-reads.ts';
import { benignTwin, harmlessPiece, otherLetters } from './harmless-text.ts';
import { attempt, narrow } from './narrow.ts';
import type { Place } from './place.ts';
import { unsafe } from './refusal.ts';
import { forbiddenDifference, structuralDifference, type Difference } from './value-places.ts';

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

/** A twin that is no path either: names are words. */
const asWord: Replacement = (text) => benignTwin(text).replaceAll('/', '_');

/** Compares what was rendered for the pod with what was rendered for another. */
function compare(kind: ComparisonKind, left: JsonObject, right: JsonObject, own: OwnWords): Difference {
  if (kind === 'allowed') return structuralDifference(left, right);
  return forbiddenDifference(left, right, kind === 'twin' ? 'text' : 'presence', own);
}

/**
 * Holds a pod's author to the rule of docs/annotation-safety.md. What templates rendered is compared with what they would render
 * 1. where texts are not harmless, with twins that mean nothing to YAML: the same, but for leaves that may hold a text;
 * 2. without the annotations and labels that are not allowed: the same, but for what may come and go;
 * 3. where something with a name has come or gone, with other letters in their texts, and then in their names: the same again, so names are the
 *    template's.
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
  const written = forbidden.filter(({ kind }) => kind !== 'field');
  const own = written.filter((input) => !echoes.has(input));
  const odd = forbidden.filter((input) => !input.harmless && !echoes.has(input));
  const twins = firstOf(benignTwin, harmlessPiece);
  check(guard, rendering, 'twin', odd, twins);
  const oddNames = odd.filter(({ kind }) => kind === 'field');
  withHarmlessNames(rendering, oddNames, (base) => {
    if (!check(guard, base, 'without', written, withoutInputs)) return;
    check(guard, base, 'other', own, reworded);
    check(guard, base, 'other', own, renamed);
  });
  // What is allowed may stand anywhere; its text may change the structure only where the template takes it apart.
  const allowed = inputs.filter((input) => isAllowed(input) && !input.harmless && !isParsed(reads, input));
  check(guard, rendering, 'allowed', allowed, twins);
}

/**
 * Where an annotation is taken away, a template may show a name of the pod instead. That the name is odd is no effect of the annotation's, so what is
 * refused is looked at again for a pod with harmless names.
 */
function withHarmlessNames(
  rendering: Rendering,
  names: readonly AuthorInput[],
  look: (rendering: Rendering) => void,
): void {
  try {
    look(rendering);
  } catch (error) {
    if (!(error instanceof InjectionFailure) || names.length === 0) throw error;
    const view = withInputs(rendering.view, names, asWord);
    const texts = attempt(() => rendering.render(view));
    const contents = texts && attempt(() => rendering.read(texts));
    if (texts === undefined || contents === undefined) throw error;
    look({ ...rendering, view, texts, contents });
  }
}

/** Whether a template takes the text apart. */
function isParsed({ annotations, labels }: AuthorReads, { kind, name }: AuthorInput): boolean {
  return useOf(kind === 'label' ? labels : annotations, name)?.parsed === true;
}

/** What other pods make a difference in; absent where templates refuse all of them. */
type Look = (
  view: AuthorView,
  inputs: readonly AuthorInput[],
  differenceTo: (view: AuthorView) => Difference | undefined,
  /** Whether a template refuses a pod by calling `fail`, and not for want of something. */
  insists: (view: AuthorView) => boolean,
) => Difference | undefined;

/** The pod with other texts: by the first of several ways that templates do not refuse. */
function firstOf(...replacements: readonly Replacement[]): Look {
  return (view, inputs, differenceTo) => {
    for (const replace of replacements) {
      const difference = differenceTo(withInputs(view, inputs, replace));
      if (difference !== undefined) return difference;
    }
    return undefined;
  };
}

/** The pod with each of several other texts that templates do not refuse; what any of them makes a difference in. */
function eachOf(...replacements: readonly Replacement[]): Look {
  return (view, inputs, differenceTo) => {
    const found = replacements
      .map((replace) => differenceTo(withInputs(view, inputs, replace)))
      .filter((one) => one !== undefined);
    return found.length === 0 ? undefined : joined(found);
  };
}

function joined(differences: readonly Difference[]): Difference {
  return differences.find(({ place }) => place !== undefined) ?? { named: differences.some(({ named }) => named) };
}

/** No template has this word. */
const strangeWord = 'zq7x4k';

/** The pod with other words in its texts; with a piece of each where templates refuse those. */
const reworded: Look = (...given) => eachOf(otherLetters, () => strangeWord)(...given) ?? firstOf(otherPiece)(...given);

/** The pod with other names of annotations and labels: a template that goes over all of them may show these. */
const renamed: Look = (view, inputs, differenceTo) => {
  const rename: Replacement = (name) => `${strangeWord}${otherLetters(name)}`;
  return differenceTo(withInputs(view, inputs, (text) => text, rename)) ?? { named: false };
};

/** Texts of many kinds, for templates that insist on one. */
const probes: readonly Replacement[] = [
  otherLetters,
  otherPiece,
  ...['', 'x', '0', '8', 'true', 'false', 'a.b', '1.2.3', 'x=y', '{}', '[]'].map((text) => (): string => text),
];
/** Inputs that are taken away one by one. */
const mostTried = 64;

/**
 * The pod without what its author wrote. A template may insist on an annotation, and on what it looks like, by calling `fail`: such a one stays, with
 * each of many other texts that the template does not refuse. A template that fails in another way has nothing to compare with.
 */
const withoutInputs: Look = (view, inputs, differenceTo, insists) => {
  const nothing = withInputs(view, inputs, without);
  const difference = differenceTo(nothing);
  if (difference !== undefined || !insists(nothing)) return difference;
  let bare = view;
  let staying = inputs;
  if (inputs.length <= mostTried) {
    staying = inputs.filter((input) => {
      const next = withInputs(bare, [input], without);
      if (differenceTo(next) === undefined) return true;
      bare = next;
      return false;
    });
  }
  const probed = eachOf(...probes)(bare, staying, differenceTo, insists);
  const plain = differenceTo(bare);
  if (probed === undefined || plain === undefined) return undefined;
  return plain.place === undefined && !plain.named ? probed : { ...probed, ...plain };
};

/**
 * Compares what was rendered for a pod with what would be rendered for others.
 * @returns whether something with a name has come or gone
 * @throws InjectionFailure `UnsafeAnnotation`
 */
function check(
  { passed, ownWords }: AuthorGuard,
  rendering: Rendering,
  kind: ComparisonKind,
  inputs: readonly AuthorInput[],
  look: Look,
): boolean {
  if (inputs.length === 0) return false;
  const { contents, part, render, read } = rendering;
  const differenceTo = (view: AuthorView): Difference | undefined => {
    const texts = attempt(() => render(view));
    if (texts === undefined || areSame(texts, rendering.texts)) return texts && { named: false };
    const known = passed.find(kind, contents, texts);
    if (known !== undefined) return known;
    const others = attempt(() => read(texts));
    if (others === undefined) return undefined;
    const difference = joined(
      contents.map((content, index) => compare(kind, part(content), part(others[index] ?? {}), ownWords)),
    );
    if (difference.place === undefined) passed.remember({ kind, contents, texts, difference });
    return difference;
  };
  const insists = (view: AuthorView): boolean => {
    try {
      render(view);
      return false;
    } catch (error) {
      if (error instanceof InjectionFailure) return error.message.includes(': error calling fail: ');
      throw error;
    }
  };
  const differenceOf = (some: readonly AuthorInput[]): Difference =>
    look(rendering.view, some, differenceTo, insists) ?? { place: somewhere, named: false };
  const { place, named } = differenceOf(inputs);
  if (place === undefined) return named;
  const effect =
    kind === 'twin' || kind === 'allowed'
      ? 'would change more than a value'
      : 'would change what runs, as whom or what it reaches';
  const input = narrow(inputs, (some) => differenceOf(some).place !== undefined);
  throw unsafe(input, (inputs.length === 1 ? place : differenceOf([input]).place) ?? place, effect);
}

/** No more is known of a difference than that there is one. */
const somewhere: Place = [];
