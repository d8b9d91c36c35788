import { InjectionFailure } from '../injection-failure.ts';
import type { JsonObject } from '../patch/json-value.ts';
import type { OwnWords } from './arguments.ts';
import { type AuthorGuard, areSame, type ComparisonKind } from './author-guard.ts';
import { withInputs, type AuthorInput, type AuthorView, type Replacement } from './author-inputs.ts';
import { useOf, type AuthorReads } from './author-reads.ts';
import { benignCounterpart, harmlessPiece, otherLetters, plainTexts } from './harmless-text.ts';
import { attempt, narrow } from './narrow.ts';
import { unsafe } from './refusal.ts';
import { forbiddenDifference, structuralDifference, type Difference } from './value-paths.ts';

/** A pod and the output of the templates for the pod. */
export interface Rendering {
  readonly view: AuthorView;
  /** The rendered texts, one per template. */
  readonly texts: readonly string[];
  /** The parsed texts; equal texts share one object. */
  readonly contents: readonly JsonObject[];
  /** Converts a content to a part of a pod. */
  readonly part: (content: JsonObject) => JsonObject;
  /** Renders another view. @throws InjectionFailure */
  readonly render: (view: AuthorView) => readonly string[];
  /** Parses rendered texts. @throws InjectionFailure */
  readonly read: (texts: readonly string[]) => readonly JsonObject[];
}

const removeText: Replacement = () => undefined;
const otherPiece: Replacement = (text) => otherLetters(harmlessPiece(text));

/** Returns a counterpart without slashes, which is usable as a name. */
const asWord: Replacement = (text) => benignCounterpart(text).replaceAll('/', '_');

function compare(kind: ComparisonKind, left: JsonObject, right: JsonObject, own: OwnWords): Difference {
  if (kind === 'allowed') return structuralDifference(left, right);
  return forbiddenDifference(left, right, kind === 'counterpart' ? 'text' : 'presence', own);
}

/**
 * Enforces docs/annotation-safety.md. Compares the pod's rendering with the renderings of variants:
 * 1. with harmless counterparts of texts that are not harmless; only text leaves may differ;
 * 2. without the annotations and labels that are not allowed; only optional parts may differ;
 * 3. with other texts, then other keys, if a named element appeared or vanished; the same rules
 *    prove that the name comes from the template.
 * @param inputs the author's texts
 * @param echoes structural annotations from an earlier injection that equal the template's output
 * @throws InjectionFailure `UnsafeAnnotation`, which names the author's text
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
  const counterparts = firstOf(benignCounterpart, harmlessPiece);
  check(guard, rendering, 'counterpart', odd, counterparts);
  const oddNames = odd.filter(({ kind }) => kind === 'field');
  withHarmlessNames(rendering, oddNames, (base) => {
    if (!check(guard, base, 'without', written, withoutInputs)) return;
    check(guard, base, 'other', own, reworded);
    check(guard, base, 'other', own, renamed);
  });
  // Allowed texts may appear anywhere, but may change structure only if the template parses them.
  const allowed = inputs.filter((input) => isAllowed(input) && !input.harmless && !isParsed(reads, input));
  check(guard, rendering, 'allowed', allowed, counterparts);
}

/**
 * Repeats a failed check for a pod with harmless names. If an annotation is absent, a template may
 * print the pod's name instead; odd characters in the name are not the annotation's effect.
 */
function withHarmlessNames(
  rendering: Rendering,
  names: readonly AuthorInput[],
  runCheck: (rendering: Rendering) => void,
): void {
  try {
    runCheck(rendering);
  } catch (error) {
    if (!(error instanceof InjectionFailure) || names.length === 0) throw error;
    const view = withInputs(rendering.view, names, asWord);
    const texts = attempt(() => rendering.render(view));
    const contents = texts && attempt(() => rendering.read(texts));
    if (texts === undefined || contents === undefined) throw error;
    runCheck({ ...rendering, view, texts, contents });
  }
}

/** Reports whether a template parses the text. */
function isParsed({ annotations, labels }: AuthorReads, { kind, name }: AuthorInput): boolean {
  return useOf(kind === 'label' ? labels : annotations, name)?.parsed === true;
}

/** Compares the pod with variants. Returns `undefined` if the templates refuse all variants. */
type Comparer = (
  view: AuthorView,
  inputs: readonly AuthorInput[],
  differenceTo: (view: AuthorView) => Difference | undefined,
  /** Reports whether a template refuses a pod by calling `fail`. */
  callsFail: (view: AuthorView) => boolean,
) => Difference | undefined;

/** Compares with the first replacement that the templates accept. */
function firstOf(...replacements: readonly Replacement[]): Comparer {
  return (view, inputs, differenceTo) => {
    for (const replace of replacements) {
      const difference = differenceTo(withInputs(view, inputs, replace));
      if (difference !== undefined) return difference;
    }
    return undefined;
  };
}

/** Compares with all replacements that the templates accept. */
function eachOf(...replacements: readonly Replacement[]): Comparer {
  return (view, inputs, differenceTo) => {
    const found = replacements
      .map((replace) => differenceTo(withInputs(view, inputs, replace)))
      .filter((one) => one !== undefined);
    return found.length === 0 ? undefined : joined(found);
  };
}

function joined(differences: readonly Difference[]): Difference {
  return differences.find(({ path }) => path !== undefined) ?? { named: differences.some(({ named }) => named) };
}

/** Reports whether a template refused the pod itself, by calling `fail`. */
export function isDeliberate({ message }: InjectionFailure): boolean {
  return message.includes(': error calling fail: ');
}

/** A word that no template contains. */
const uniqueWord = 'zq7x4k';

/** Compares with other words, or with other substrings if the templates refuse the words. */
const reworded: Comparer = (...args) => eachOf(otherLetters, () => uniqueWord)(...args) ?? firstOf(otherPiece)(...args);

/** Compares with other annotation and label keys, which a template may print. */
const renamed: Comparer = (view, inputs, differenceTo) => {
  const rename: Replacement = (name) => `${uniqueWord}${otherLetters(name)}`;
  return differenceTo(withInputs(view, inputs, (text) => text, rename)) ?? { named: false };
};

const probes: readonly Replacement[] = [otherLetters, otherPiece, ...['', ...plainTexts].map((text) => () => text)];
/** The maximum number of inputs to remove one by one. */
const maxRemovals = 64;

/**
 * Compares with the pod without the inputs. If a template calls `fail` without an input, tries
 * other texts of this input. After other failures, no comparison is possible.
 */
const withoutInputs: Comparer = (view, inputs, differenceTo, callsFail) => {
  const stripped = withInputs(view, inputs, removeText);
  const difference = differenceTo(stripped);
  if (difference !== undefined || !callsFail(stripped)) return difference;
  let bare = view;
  let required = inputs;
  if (inputs.length <= maxRemovals) {
    required = inputs.filter((input) => {
      const next = withInputs(bare, [input], removeText);
      if (differenceTo(next) === undefined) return true;
      bare = next;
      return false;
    });
  }
  const probed = eachOf(...probes)(bare, required, differenceTo, callsFail);
  const plain = differenceTo(bare);
  if (probed === undefined || plain === undefined) return undefined;
  return plain.path === undefined && !plain.named ? probed : { ...probed, ...plain };
};

/**
 * Compares the rendering of a pod with the renderings of variants.
 * @returns whether a named element appeared or vanished
 * @throws InjectionFailure `UnsafeAnnotation`, or that of the templates if they require the texts
 */
function check(
  { passed, ownWords }: AuthorGuard,
  rendering: Rendering,
  kind: ComparisonKind,
  inputs: readonly AuthorInput[],
  comparer: Comparer,
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
    if (difference.path === undefined) passed.remember({ kind, contents, texts, difference });
    return difference;
  };
  const callsFail = (view: AuthorView): boolean => {
    try {
      render(view);
      return false;
    } catch (error) {
      if (error instanceof InjectionFailure) return isDeliberate(error);
      throw error;
    }
  };
  const differenceOf = (some: readonly AuthorInput[]): Difference =>
    comparer(rendering.view, some, differenceTo, callsFail) ?? unknownDifference;
  const found = comparer(rendering.view, inputs, differenceTo, callsFail);
  // Every text would be refused, because the templates fail for the pod without it.
  if (found === undefined && kind === 'without') read(render(withInputs(rendering.view, inputs, removeText)));
  const { path, named } = found ?? unknownDifference;
  if (path === undefined) return named;
  const effect =
    kind === 'counterpart' || kind === 'allowed'
      ? 'would change more than a value'
      : 'would change what runs, as which user, or what it can access';
  const input = narrow(inputs, (some) => differenceOf(some).path !== undefined);
  throw unsafe(input, (inputs.length === 1 ? path : differenceOf([input]).path) ?? path, effect);
}

const unknownDifference: Difference = { path: [], named: false };
