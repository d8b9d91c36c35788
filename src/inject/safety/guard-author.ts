import { cost, type Meter } from '../../template/exec/meter.ts';
import { InjectionFailure } from '../injection-failure.ts';
import type { Injector } from '../injector.ts';
import type { Overrides } from '../finish/overrides.ts';
import {
  annotationOf,
  containersOf,
  initContainersOf,
  noStrings,
  withAnnotations,
  type Container,
  type Pod,
} from '../pod/pod.ts';
import { selectTemplates } from '../pod/select-templates.ts';
import type { JsonObject } from '../patch/json-value.ts';
import { readLegacyOutput } from '../render/legacy-template.ts';
import { emptyPod, overlayPod } from '../render/overlay.ts';
import { readContents, renderTexts, type RenderedPod } from '../render/run-templates.ts';
import type { AuthorGuard } from './author-guard.ts';
import { authorInputs, type AuthorView, withInputs, type AuthorInput } from './author-inputs.ts';
import { checkAuthorTexts, type Rendering } from './check-author-texts.ts';
import { benignTwin } from './harmless-text.ts';
import { attempt, narrow } from './narrow.ts';
import { unusable, notAllowed } from './refusal.ts';
import { useOf, type AuthorReads } from './author-reads.ts';
import { forbiddenDifference } from './value-places.ts';

/** One pod on its way through an injector. */
export interface GuardedPod extends AuthorView {
  /** As it came; `pod` is what templates see. */
  readonly original: Pod;
  readonly saved: Overrides;
  /** The names of its templates. */
  readonly names: readonly string[];
  readonly meter: Meter;
  /** The data of the templates for a view. */
  readonly dataFor: (view: AuthorView) => unknown;
  /** Renders the templates for a view and merges them onto the pod. @throws InjectionFailure */
  readonly run: (view: AuthorView) => RenderedPod;
}

/**
 * Runs the templates for a pod, and refuses one whose author uses annotations, labels or names to change more than values.
 * @throws InjectionFailure
 */
export function guardAuthor(guard: AuthorGuard, injector: Injector, guarded: GuardedPod): RenderedPod {
  checkTemplateChoice(guard, injector, guarded);
  checkOverrides(guard, injector, guarded);
  const { templates } = injector;
  const { names, meter, pod, workload, dataFor, run } = guarded;
  const view: AuthorView = { pod, workload };
  const reads = guard.readsOf(names);
  const inputs = authorInputs(view, reads.fields);
  // What makes another view goes over all of them.
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
    // What exceeds a bound here may pass where more is allowed.
    if (!(error instanceof InjectionFailure) || error.reason === 'TemplateLimit') throw error;
    throw explainFailure(error, view, inputs, run);
  }
  const { texts, contents } = rendered;
  checkAuthorTexts(guard, reads, { view, texts, contents, part, render, read }, inputs, echoes);
  return rendered;
}

/** A pod chooses other templates only where that is allowed. @throws InjectionFailure `AnnotationNotAllowed` */
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

/**
 * The containers that an earlier injection has saved in its annotation bring nothing that the pod does not have.
 * @throws InjectionFailure `AnnotationNotAllowed`
 */
function checkOverrides(
  guard: AuthorGuard,
  { family: { overridesKey } }: Injector,
  { original, saved }: GuardedPod,
): void {
  if (guard.allows(overridesKey)) return;
  const present = [...containersOf(original), ...initContainersOf(original)];
  for (const container of [...saved.containers, ...saved.initContainers]) {
    const own = present.find(({ name }) => name === container.name);
    if (own !== undefined && bringsNothing(container, own)) continue;
    const reason = `it changes container ${JSON.stringify(container.name.slice(0, 63))} beyond what the pod itself says of it`;
    throw notAllowed(overridesKey, annotationOf(original, overridesKey) ?? '', reason);
  }
}

/** An injection saves what the user's container says and then lets it have the last word, so merging it again changes nothing. */
function bringsNothing(saved: Container, own: Container): boolean {
  const before = overlayPod(emptyPod, { spec: { containers: [own] } });
  const after = overlayPod(before, { spec: { containers: [saved] } });
  const variables = new Set(own.env?.map(({ name }) => name));
  return forbiddenDifference({ ...after }, { ...before }, 'presence', variables).place === undefined;
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
 * @param partsWithout What the templates render without some inputs. @throws InjectionFailure
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
  const own = structural.find(({ name, value }) => !plain.some((part) => annotationIn(part, name) === value));
  if (own !== undefined) throw notAllowed(own.name, own.value, guard.structural(own.name) ?? '');
  return new Set(structural);
}

function annotationIn({ metadata }: JsonObject, name: string): unknown {
  const annotations = ((metadata ?? {}) as JsonObject).annotations;
  return ((annotations ?? {}) as JsonObject)[name];
}
