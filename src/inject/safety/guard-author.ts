import { cost, type Meter } from '../../template/exec/meter.ts';
import { InjectionFailure } from '../injection-failure.ts';
import type { Injector } from '../injector.ts';
import { annotationOf, noStrings, withAnnotations, type Pod } from '../pod/pod.ts';
import { selectTemplates } from '../pod/select-templates.ts';
import type { JsonObject } from '../patch/json-value.ts';
import { readLegacyOutput } from '../render/legacy-template.ts';
import { readContents, renderTexts, type RenderedPod } from '../render/run-templates.ts';
import type { AuthorGuard } from './author-guard.ts';
import { authorInputs, type AuthorView, withInputs, type AuthorInput } from './author-inputs.ts';
import { checkAuthorTexts, type Rendering } from './check-author-texts.ts';
import { benignCounterpart } from './harmless-text.ts';
import { attempt, narrow } from './narrow.ts';
import { unusable, notAllowed } from './refusal.ts';
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
  let rendered: RenderedPod;
  try {
    rendered = run(view);
  } catch (error) {
    // With higher limits, the pod might pass, so no input is blamed for a limit error.
    if (!(error instanceof InjectionFailure) || error.reason === 'TemplateLimit') throw error;
    throw explainFailure(error, view, inputs, run);
  }
  const { texts, contents } = rendered;
  checkAuthorTexts(guard, reads, { view, texts, contents, part, render, read }, inputs, echoes);
  return rendered;
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

/**
 * Finds the author's text that makes the templates fail. Without this text, or with a harmless
 * counterpart, the templates succeed. Returns the original failure if no text is the cause.
 * @param run renders and merges another view; throws InjectionFailure
 */
function explainFailure(
  failure: InjectionFailure,
  view: AuthorView,
  inputs: readonly AuthorInput[],
  run: (view: AuthorView) => unknown,
): InjectionFailure {
  const hostile = inputs.filter(({ harmless }) => !harmless);
  const withCounterparts = (some: readonly AuthorInput[]): AuthorView => withInputs(view, some, benignCounterpart);
  const removed = (some: readonly AuthorInput[]): AuthorView => {
    const others = some.filter(({ kind }) => kind !== 'field');
    return withInputs(withCounterparts(some.filter(({ kind }) => kind === 'field')), others, () => undefined);
  };
  for (const [candidates, neutral] of [
    [hostile, withCounterparts],
    [inputs, removed],
  ] as const) {
    const cures = (some: readonly AuthorInput[]): boolean => attempt(() => run(neutral(some))) !== undefined;
    if (candidates.length > 0 && cures(candidates)) return unusable(narrow(candidates, cures), failure);
  }
  return failure;
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
