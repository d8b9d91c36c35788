import type { Meter } from '../../template/meter.ts';
import { InjectionFailure } from '../injection-failure.ts';
import type { Injector } from '../injector.ts';
import type { Overrides } from '../pod/overrides.ts';
import type { Pod } from '../pod/pod.ts';
import { selectTemplates } from '../pod/select-templates.ts';
import type { JsonObject } from '../patch/json-value.ts';
import { readLegacyOutput } from '../render/legacy-template.ts';
import { readContents, renderTexts, type RenderedPod } from '../render/run-templates.ts';
import type { AuthorGuard } from './author-guard.ts';
import { authorInputs, withInputs, type AuthorView } from './author-inputs.ts';
import { checkAuthorChoices } from './check-author-choices.ts';
import { checkAuthorInputs, refuseStructural, type Rendering } from './check-author-inputs.ts';
import { explainFailure } from './explain-failure.ts';
import type { RenderTexts } from './passed-checks.ts';

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
  const inputs = authorInputs(view, guard.readsOf(names));
  const part = templates.legacy ? legacyPart : (content: JsonObject): JsonObject => content;
  const textsWith: RenderTexts = (some, replace) =>
    renderTexts(templates, names, dataFor(withInputs(view, some, replace)), meter);
  const renderingBy = (render: RenderTexts): Rendering => ({
    inputs,
    renderWith: (some, replace) => readContents(templates, render(some, replace), meter).map(part),
  });
  const echoes = refuseStructural(guard, renderingBy(textsWith));
  let rendered: RenderedPod;
  try {
    rendered = run(dataFor(view));
  } catch (error) {
    if (!(error instanceof InjectionFailure)) throw error;
    throw explainFailure(error, view, inputs, (other) => run(dataFor(other)));
  }
  const check = (render: RenderTexts): void => {
    checkAuthorInputs(guard, renderingBy(render), rendered.contents.map(part), echoes);
  };
  if (inputs.length === 0) return rendered;
  // What an earlier injection left is rare, and compared with more than this pod's own rendering.
  if (echoes.size > 0) check(textsWith);
  else guard.passedChecks.checkOnce(rendered.contents, inputs, textsWith, check);
  return rendered;
}

function withoutAnnotations(pod: Pod): Pod {
  return { ...pod, metadata: { ...pod.metadata, annotations: {} } };
}

function legacyPart(content: JsonObject): JsonObject {
  const { part, rewriteProbes } = readLegacyOutput(content);
  return { ...part, rewriteAppHTTPProbe: rewriteProbes };
}
