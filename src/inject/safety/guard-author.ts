import { cost, LimitError, type Meter } from '../../template/exec/meter.ts';
import { TemplateError } from '../../template/template-error.ts';
import { InjectionFailure } from '../injection-failure.ts';
import type { Injector } from '../injector.ts';
import { annotationOf, noStrings, withAnnotations, type Pod } from '../pod/pod.ts';
import { selectTemplates } from '../pod/select-templates.ts';
import type { JsonObject } from '../patch/json-value.ts';
import { readLegacyOutput } from '../render/legacy-template.ts';
import { readContents, renderTexts, type RenderedPod } from '../render/run-templates.ts';
import type { AuthorGuard } from './author-guard.ts';
import { authorInputs, type AuthorView, withInputs, type AuthorInput, type Replacement } from './author-inputs.ts';
import { checkAuthorTexts, isDeliberate, type Rendering } from './check-author-texts.ts';
import { benignCounterpart, harmlessTexts } from './harmless-text.ts';
import { attempt, narrow } from './narrow.ts';
import { failing, unusable, notAllowed } from './refusal.ts';
import { useOf, type AuthorReads } from './author-reads.ts';

/** A pod during injection. */
export interface GuardedPod extends AuthorView {
  /** The pod as received; `pod` is the pod that templates see. */
  readonly original: Pod;
  /** The names of the pod's templates. */
  readonly names: readonly string[];
  readonly meter: Meter;
  /** Returns the templates' data for a view. */
  readonly dataFor: (view: AuthorView) => unknown;
  /** Renders the templates for a view and merges them onto the pod. @throws InjectionFailure */
  readonly run: (view: AuthorView) => RenderedPod;
}

/**
 * Runs the templates. Refuses a pod whose author changes more than values.
 * @throws InjectionFailure
 */
export function guardAuthor(guard: AuthorGuard, injector: Injector, guarded: GuardedPod): RenderedPod {
  checkTemplateChoice(guard, injector, guarded);
  const { templates } = injector;
  const { names, meter, pod, workload, dataFor, run } = guarded;
  const view: AuthorView = { pod, workload };
  const reads = guard.readsOf(names);
  const inputs = authorInputs(view, reads.fields);
  // The cost of a view, whose construction copies all inputs.
  const viewCost = inputs
    .map(({ name, value }) => cost.entry + name.length + value.length)
    .reduce((sum, one) => sum + one, cost.container);
  const render: Rendering['render'] = (other) => {
    meter.spend(viewCost);
    return renderTexts(templates, names, dataFor(other), meter);
  };
  const part = templates.legacy ? legacyPart : (content: JsonObject): JsonObject => content;
  const read: Rendering['read'] = (texts) => readContents(templates, texts, meter);
  const partsWithout = (some: readonly AuthorInput[]): readonly JsonObject[] =>
    read(render(withInputs(view, some, () => undefined))).map(part);
  const echoes = refuseStructural(guard, reads, inputs, partsWithout);
  let rendered: RenderedPod | undefined;
  try {
    rendered = run(view);
    const { texts, contents } = rendered;
    checkAuthorTexts(guard, reads, { view, texts, contents, part, render, read }, inputs, echoes);
    return rendered;
  } catch (error) {
    // With higher limits, the pod might pass, so no input is blamed for a limit error.
    if (!isTemplateFailure(error)) throw error;
    throw (rendered === undefined && unfitWithinLimits(error, inputs, reads, guarded)) || failing(error, names);
  }
}

/** Refuses a forbidden choice of templates. @throws InjectionFailure `AnnotationNotAllowed` */
function checkTemplateChoice(
  guard: AuthorGuard,
  { family: { templatesKey }, defaultTemplates, aliases }: Injector,
  { original, names }: GuardedPod,
): void {
  if (guard.allows(templatesKey)) return;
  const usual = selectTemplates(withAnnotations(original, noStrings), templatesKey, defaultTemplates, aliases);
  if (names.join('\0') === usual.join('\0')) return;
  throw notAllowed(templatesKey, annotationOf(original, templatesKey) ?? '', 'it chooses the templates');
}

function legacyPart(content: JsonObject): JsonObject {
  const { part, rewriteProbes } = readLegacyOutput(content);
  return { ...part, rewriteAppHTTPProbe: rewriteProbes };
}

function isTemplateFailure(error: unknown): error is InjectionFailure {
  return error instanceof InjectionFailure && ['TemplateFailed', 'InvalidTemplateOutput'].includes(error.reason);
}

/** Returns what `unfit` returns; `undefined` if the limits of the pod end the search. */
function unfitWithinLimits(...search: Parameters<typeof unfit>): InjectionFailure | undefined {
  try {
    return unfit(...search);
  } catch (error) {
    if (error instanceof LimitError) return undefined;
    throw error;
  }
}

/**
 * Returns the failure that names the text at fault: the templates succeed with harmless texts in
 * its place and in that of others at fault. Returns `undefined` if no text is at fault. The meter
 * of the pod limits all renderings together.
 */
function unfit(
  failure: InjectionFailure,
  inputs: readonly AuthorInput[],
  reads: AuthorReads,
  guarded: GuardedPod,
): InjectionFailure | undefined {
  const begun = reach(guarded, guarded);
  const odd = inputs.filter(({ harmless }) => !harmless);
  const texts = inputs.filter(({ kind }) => kind !== 'field');
  const fields = inputs.filter(({ kind }) => kind === 'field');
  const named = withInputs(guarded, fields, benignCounterpart);
  const variants: (readonly [readonly AuthorInput[], AuthorView, Replacement])[] = [
    [odd, guarded, benignCounterpart],
    ...harmlessTexts.map((text) => [texts, named, () => text] as const),
    // A template that calls `fail` may accept only words that are not known here.
    ...(isDeliberate(failure) ? [[texts, named, () => undefined] as const] : []),
  ];
  let isMoving = false; // Whether the place of the failure depends on the texts.
  for (const [candidates, view, replace] of variants.filter(([some]) => some.length > 0)) {
    const reached = (some: readonly AuthorInput[]): number => reach(guarded, withInputs(view, some, replace));
    const place = reached(candidates);
    const cures = (some: readonly AuthorInput[]): boolean => reached(some) === Infinity;
    if (place === Infinity) return unusable(narrow(candidates, cures), failure);
    isMoving ||= place !== begun;
  }
  // Texts of several formats: replace one after the other while the templates get further.
  const used = texts.filter(({ kind, name }) => useOf(kind === 'label' ? reads.labels : reads.annotations, name));
  let [view, at, first]: [AuthorView, number, AuthorInput?] = [named, begun];
  while (isMoving) {
    isMoving = false;
    for (const [input, text] of used.flatMap((each) => harmlessTexts.map((text) => [each, text] as const))) {
      const next = withInputs(view, [input], () => text);
      const place = reach(guarded, next);
      if (place <= at) continue;
      first ??= input;
      if (place === Infinity) return unusable(first, failure);
      [view, at, isMoving] = [next, place, true];
    }
  }
  return undefined;
}

/**
 * Returns how far the templates get for a view: the place of the failure as a number that grows, or
 * Infinity without one. An invalid output comes last.
 */
function reach({ names, run }: GuardedPod, view: AuthorView): number {
  try {
    run(view);
    return Infinity;
  } catch (error) {
    if (!isTemplateFailure(error)) throw error;
    const { cause, template = '' } = error;
    if (!(cause instanceof TemplateError)) return names.length * 1e12;
    return names.indexOf(template) * 1e12 + cause.position.line * 1e6 + cause.position.column;
  }
}

/**
 * Refuses structural annotations that templates read. Returns the annotations that equal the
 * template's output; an earlier injection added them.
 * @param partsWithout renders without some inputs; throws InjectionFailure
 * @throws InjectionFailure `AnnotationNotAllowed`
 */
function refuseStructural(
  guard: AuthorGuard,
  { annotations }: AuthorReads,
  inputs: readonly AuthorInput[],
  partsWithout: (inputs: readonly AuthorInput[]) => readonly JsonObject[],
): ReadonlySet<AuthorInput> {
  const isRead = ({ kind, name }: AuthorInput): boolean =>
    kind === 'annotation' && useOf(annotations, name) !== undefined;
  const structural = inputs.filter((input) => isRead(input) && guard.structural(input.name) !== undefined);
  if (structural.length === 0) return new Set();
  const plain = attempt(() => partsWithout(structural)) ?? [];
  const refused = structural.find(({ name, value }) => !plain.some((part) => annotationIn(part, name) === value));
  if (refused !== undefined) throw notAllowed(refused.name, refused.value, guard.structural(refused.name) ?? '');
  return new Set(structural);
}

function annotationIn({ metadata }: JsonObject, name: string): unknown {
  const annotations = ((metadata ?? {}) as JsonObject).annotations;
  return ((annotations ?? {}) as JsonObject)[name];
}
