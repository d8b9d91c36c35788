import { InjectionFailure } from '../injection-failure.ts';
import type { Injector } from '../injector.ts';
import type { Overrides } from '../pod/overrides.ts';
import type { Pod } from '../pod/pod.ts';
import { selectTemplates } from '../pod/select-templates.ts';
import type { JsonObject } from '../patch/json-value.ts';
import { readLegacyOutput } from '../render/legacy-template.ts';
import { readContents, renderTexts, type RenderedPod } from '../render/run-templates.ts';
import type { AuthorGuard } from './author-guard.ts';
import { authorInputs, type AuthorView } from './author-inputs.ts';
import { checkAuthorChoices } from './check-author-choices.ts';
import { checkAuthorTexts, type Rendering } from './check-author-texts.ts';
import { explainFailure } from './explain-failure.ts';
import { refuseStructural } from './refuse-structural.ts';

/** One pod on its way through an injector. */
export interface GuardedPod extends AuthorView {
  /** As it came; `pod` is what templates see. */
  readonly original: Pod;
  readonly saved: Overrides;
  /** The names of its templates. */
  readonly names: readonly string[];
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
  { original, saved, names, ...view }: GuardedPod,
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
  const render: Rendering['render'] = (other) => renderTexts(templates, names, dataFor(other));
  const part = templates.legacy ? legacyPart : (content: JsonObject): JsonObject => content;
  const read: Rendering['read'] = (texts) => readContents(templates, texts);
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
