import type { JsonObject } from '../patch/json-value.ts';
import type { AuthorGuard } from './author-guard.ts';
import type { AuthorInput } from './author-inputs.ts';
import { presenceEffect, textEffect, type TextEffect } from './compare-trees.ts';
import { benignTwin, harmlessPiece, lettersOf, otherLetters } from './harmless-text.ts';
import { suspiciousTexts } from './suspicious-texts.ts';
import { attempt, narrow } from './narrow.ts';
import { notAllowed, unsafe } from './refusal.ts';
import type { Place } from './scalar-places.ts';

/** No more is known of the difference than that there is one. */
const somewhere: Place = [];

/** What templates render for one pod, and would render for another. */
export interface Rendering {
  /** What the templates read and this pod has. */
  readonly inputs: readonly AuthorInput[];
  /**
   * What they render for the pod with the texts of some inputs replaced: parts of a pod.
   * @param replace `undefined` takes an annotation or label away. A function of the text alone, for it may be called again for other pods; and one that
   * closes over nothing, for it is remembered longer than this pod (see passed-checks.ts).
   * @throws InjectionFailure
   */
  readonly renderWith: (inputs: readonly AuthorInput[], replace: Replacement) => readonly JsonObject[];
}

export type Replacement = (text: string) => string | undefined;

const without: Replacement = () => undefined;
const otherTwin = (text: string): string => otherLetters(benignTwin(text));
const otherPiece = (text: string): string => otherLetters(harmlessPiece(text));

interface RenderedView extends Rendering {
  /** What they rendered for this pod. */
  readonly parts: readonly JsonObject[];
}

type Parts = readonly JsonObject[];

/**
 * Sees to it that what a pod's author wrote changes nothing but values. Costs a look at the annotations and labels that the templates read;
 * what was rendered is compared with another rendering only where
 * - a text is not harmless: the same but for leaves that hold it, when rendered with a harmless text in its place;
 * - an annotation or label decides on what is rendered: the same but for what may come and go, when rendered without it;
 * - a text, which may be harmless, stands where none may: the same, when rendered with other letters.
 * @param echoes What {@link refuseStructural} has found: it may stand where the template's own text would.
 * @throws InjectionFailure `UnsafeAnnotation`, naming what the author wrote
 */
export function checkAuthorInputs(
  guard: AuthorGuard,
  rendering: Rendering,
  parts: readonly JsonObject[],
  echoes: ReadonlySet<AuthorInput>,
): void {
  const { inputs } = rendering;
  if (inputs.length === 0) return;
  const rendered = { ...rendering, parts };
  const forbidden = inputs.filter((input) => !isAllowed(guard, input));
  const texts = forbidden.filter((input) => !echoes.has(input));
  checkTexts(
    rendered,
    texts.filter(({ harmless }) => !harmless),
    false,
  );
  // What is allowed may stand anywhere; its text may change the structure only where the template takes it apart.
  checkTexts(
    rendered,
    inputs.filter((input) => isAllowed(guard, input) && !input.harmless && !input.parsed),
    true,
  );
  const steering = forbidden.filter((input) => input.steers || echoes.has(input));
  checkEffect(rendered, steering, without);
  const written = texts.filter(({ kind, value }) => kind !== 'field' && lettersOf(value) !== '');
  if (written.length === 0) return;
  const letters = new Map(written.map((input) => [input, lettersOf(input.value)]));
  const found = parts.map((part) => suspiciousTexts(part, [...letters.values()]));
  const suspicious = written.filter((input) => found.some((texts) => texts.has(letters.get(input) ?? '')));
  checkEffect(rendered, suspicious, otherTwin);
}

function isAllowed(guard: AuthorGuard, { kind, name }: AuthorInput): boolean {
  return kind !== 'field' && guard.allows(name);
}

/**
 * Refuses annotations that are known to change more than values. One that says what the templates say anyway was left by an earlier injection;
 * those are returned.
 * @throws InjectionFailure `AnnotationNotAllowed`
 */
export function refuseStructural(guard: AuthorGuard, rendering: Rendering): ReadonlySet<AuthorInput> {
  const structural = rendering.inputs.filter(
    ({ kind, name }) => kind === 'annotation' && guard.structural(name) !== undefined,
  );
  if (structural.length === 0) return new Set();
  const plain = attempt(() => rendering.renderWith(structural, without)) ?? [];
  const own = structural.find(({ name, value }) => !plain.some((part) => annotationIn(part, name) === value));
  if (own !== undefined) throw notAllowed(own.name, own.value, guard.structural(own.name) ?? '');
  return new Set(structural);
}

function annotationIn({ metadata }: JsonObject, name: string): unknown {
  const annotations = ((metadata ?? {}) as JsonObject).annotations;
  return ((annotations ?? {}) as JsonObject)[name];
}

/** Texts against their twins, all of them at once, then halved until the one is found that makes the difference. */
function checkTexts(rendered: RenderedView, inputs: readonly AuthorInput[], anyLeaf: boolean): void {
  if (inputs.length === 0) return;
  const found = textPlace(rendered, inputs, anyLeaf);
  if (found === undefined) return;
  const { input, place } = culprit(inputs, found, (some) => textPlace(rendered, some, anyLeaf));
  throw unsafe(input, place, 'would change more than a value');
}

function textPlace(rendered: RenderedView, inputs: readonly AuthorInput[], anyLeaf: boolean): Place | undefined {
  const renderedWith = (replace: (text: string) => string): Parts | undefined =>
    attempt(() => rendered.renderWith(inputs, replace));
  const twin = renderedWith(benignTwin);
  if (twin === undefined) {
    // The template checks the text itself, and a twin does not pass.
    const piece = renderedWith(harmlessPiece);
    if (piece === undefined) return somewhere;
    const effect = partsEffect(rendered.parts, piece, anyLeaf);
    return effect.kind === 'structure' ? effect.place : undefined;
  }
  let effect = partsEffect(rendered.parts, twin, anyLeaf);
  if (effect.kind === 'unclear') {
    const other = renderedWith(otherTwin);
    effect = partsEffect(rendered.parts, twin, anyLeaf, other ?? twin);
  }
  return effect.kind === 'structure' ? effect.place : undefined;
}

/** The effect on the first part that is more than a value; otherwise whether any is unclear. */
function partsEffect(parts: Parts, twins: Parts, anyLeaf: boolean, others?: Parts): TextEffect {
  const effects = parts.map((part, index) => textEffect(part, twins[index], anyLeaf, others?.[index]));
  return (
    effects.find(({ kind }) => kind === 'structure') ??
    effects.find(({ kind }) => kind === 'unclear') ?? { kind: 'none' }
  );
}

/** Annotations and labels against the same pod without them, or with others. */
function checkEffect(rendered: RenderedView, inputs: readonly AuthorInput[], replace: Replacement): void {
  if (inputs.length === 0) return;
  const place = (some: readonly AuthorInput[]): Place | undefined => {
    const foreign = some.map(({ value }) => lettersOf(replace(value) ?? '')).filter((letters) => letters !== '');
    const other =
      attempt(() => rendered.renderWith(some, replace)) ??
      // A template may insist on an annotation, and on what it looks like.
      attempt(() => rendered.renderWith(some, otherTwin)) ??
      attempt(() => rendered.renderWith(some, otherPiece));
    if (other === undefined) return somewhere;
    const places = rendered.parts.map((part, index) => presenceEffect(part, other[index], foreign));
    return places.find((one) => one !== undefined);
  };
  const found = place(inputs);
  if (found === undefined) return;
  const { input, place: where } = culprit(inputs, found, place);
  throw unsafe(input, where, 'would change what runs, as whom or what it reaches');
}

/** Of several inputs that make a difference together, one that makes it alone, or the first where none does. */
function culprit(
  inputs: readonly AuthorInput[],
  found: Place,
  placeFor: (inputs: readonly AuthorInput[]) => Place | undefined,
): { readonly input: AuthorInput; readonly place: Place } {
  const input = narrow(inputs, (some) => placeFor(some) !== undefined);
  return { input, place: (inputs.length === 1 ? found : placeFor([input])) ?? found };
}
