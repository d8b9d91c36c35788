import { cost, type Meter } from '../../template/exec/meter.ts';
import { InjectionFailure } from '../injection-failure.ts';
import type { Injector } from '../injector.ts';
import type { Overrides } from '../pod/overrides.ts';
import type { Pod } from '../pod/pod.ts';
import { selectTemplates } from '../pod/select-templates.ts';
import type { JsonObject } from '../patch/json-value.ts';
import { readLegacyOutput } from '../render/legacy-template.ts';
import { readContents, renderTexts, type RenderedPod } from '../render/run-templates.ts';
import type { AuthorGuard } from './author-guard.ts';
import { authorInputs, type AuthorView, withInputs, type AuthorInput } from './author-inputs.ts';
import { checkAuthorChoices } from './check-author-choices.ts';
import { checkAuthorTexts, type Rendering } from './check-author-texts.ts';
import { benignTwin } from './harmless-text.ts';
import { attempt, narrow } from './narrow.ts';
import { unusable, notAllowed } from './refusal.ts';
import { useOf, type AuthorReads } from './author-reads.ts';

/** One pod on its way through an injector. */
export interface GuardedPod extends AuthorView {
  /** As it came; `pod` is what templates see. */
  readonly original: Pod;
  readonly saved: Overrides;
  /** The names of its templates. */
  readonly names: readonly string[];
  readonly meter: Meter;
}

/** What guarding calls back. */
export interface GuardedSteps {
  /** The data of the templates for a view. */
  readonly dataFor: (view: AuthorView) => unknown;
  /** Renders the templates over such data and merges them onto the pod. @throws InjectionFailure */
  readonly run: (data: unknown) => RenderedPod;
}

/**
 * Runs the templates for a pod, and refuses one whose author uses annotations, labels or names to change more than values.
 * @throws InjectionFailure
 */
export function guardAuthor(
  guard: AuthorGuard,
  { templates, defaultTemplates, aliases, family }: Injector,
  { original, saved, names, meter, ...view }: GuardedPod,
  { dataFor, run }: GuardedSteps,
): RenderedPod {
  checkAuthorChoices(guard, {
    pod: original,
    family,
    templates: names,
    defaultTemplates: selectTemplates(withoutAnnotations(original), family.templatesKey, defaultTemplates, aliases),
    overrides: saved,
  });
  const reads = guard.readsOf(names);
  const inputs = authorInputs(view, reads.fields);
  const viewCost = inputs.reduce<number>(
    (sum, { name, value }) => sum + cost.entry + name.length + value.length,
    cost.container,
  );
  const render: Rendering['render'] = (other) => {
    // What makes another view goes over all of them.
    meter.spend(viewCost);
    return renderTexts(templates, names, dataFor(other), meter);
  };
  const part = templates.legacy ? legacyPart : (content: JsonObject): JsonObject => content;
  const read: Rendering['read'] = (texts) => readContents(templates, texts, meter);
  const echoes = refuseStructural(guard, reads, { view, render, read: (texts) => read(texts).map(part) }, inputs);
  let rendered: RenderedPod;
  try {
    rendered = run(dataFor(view));
  } catch (error) {
    if (!(error instanceof InjectionFailure)) throw error;
    // What exceeds a bound here may pass where more is allowed.
    if (error.reason === 'TemplateLimit') throw error;
    throw explainFailure(error, view, inputs, (other) => run(dataFor(other)));
  }
  const { texts, contents } = rendered;
  checkAuthorTexts(guard, reads, { view, texts, contents, part, render, read }, inputs, echoes);
  return rendered;
}

function withoutAnnotations(pod: Pod): Pod {
  return { ...pod, metadata: { ...pod.metadata, annotations: {} } };
}

function legacyPart(content: JsonObject): JsonObject {
  const { part, rewriteProbes } = readLegacyOutput(content);
  return { ...part, rewriteAppHTTPProbe: rewriteProbes };
}

/**
 * Names the text of the author's because of which the templates fail: without it, or with a benign one in its place, they do not.
 * @param run Renders and merges for another view. @throws InjectionFailure
 * @returns The failure itself where it is nobody's text.
 */
function explainFailure(
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

/**
 * Refuses annotations that are known to change more than values, where something reads them. One that says what the templates say anyway was left by
 * an earlier injection; those are returned.
 * @throws InjectionFailure `AnnotationNotAllowed`
 */
function refuseStructural(
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
