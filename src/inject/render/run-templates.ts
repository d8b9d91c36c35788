import type { ExecutionLimits } from '../../template/exec/execution.ts';
import type { Meter } from '../../template/exec/meter.ts';
import { quoteString } from '../../template/quote.ts';
import { TemplateError } from '../../template/template-error.ts';
import type { Template } from '../../template/template.ts';
import { InjectionFailure } from '../injection-failure.ts';
import type { JsonObject } from '../patch/json-value.ts';
import {
  annotationOf,
  containersOf,
  initContainersOf,
  withContainers,
  withInitContainers,
  type Container,
  type Pod,
} from '../pod/pod.ts';
import { proxyContainer } from '../pod/proxy-container.ts';
import { moveAddedLast, readLegacyOutput } from './legacy-template.ts';
import { emptyPod, overlayPod, OverlayError } from './overlay.ts';
import { TemplateOutputs, type TemplateOutput } from './template-outputs.ts';

/** The compiled templates of a configuration. */
export interface TemplateSet {
  readonly byName: ReadonlyMap<string, Template>;
  /** Whether the templates render SidecarInjectionSpecs. */
  readonly legacy: boolean;
  /** The limits of each execution. */
  readonly limits: ExecutionLimits;
  readonly outputs: TemplateOutputs;
  /** Whether a template may change its data; if so, each pod gets a copy of the values. */
  readonly changesData: boolean;
}

export interface RenderedPod {
  /** The pod with everything that the templates added. */
  readonly pod: Pod;
  /** An empty pod with everything that the templates added. */
  readonly templatePod: Pod;
  /** Whether a 1.x template set `rewriteAppHTTPProbe`. */
  readonly rewriteProbes: boolean;
  /** The output of each template as text; `contents` has the parsed output. */
  readonly texts: readonly string[];
  readonly contents: readonly JsonObject[];
}

/**
 * Renders templates in order and merges each onto the pod.
 * @param data the templates' data (see template-data.ts)
 * @param nativeSidecars whether the proxy is an init container if the pod's annotation is absent
 * @param meter counts all work, including parsing and merging
 * @throws InjectionFailure
 */
export function runTemplates(
  templates: TemplateSet,
  names: readonly string[],
  data: unknown,
  pod: Pod,
  nativeSidecars: boolean,
  meter: Meter,
): RenderedPod {
  let result: MergedPod = { pod, templatePod: emptyPod, rewriteProbes: false };
  const texts: string[] = [];
  const contents: JsonObject[] = [];
  // An author who may choose templates can name a template many times.
  const mergingCost = mergeCost + (names.length > usualTemplates ? JSON.stringify(pod).length : 0);
  for (const name of names) {
    const text = render(templates, name, data, meter);
    meter.spend(text.length * readingCost);
    const output = readOutput(templates.outputs, text);
    meter.spend(mergingCost);
    result = templates.legacy ? addLegacyOutput(result, output) : addOutput(result, output, nativeSidecars);
    texts.push(text);
    contents.push(output.content);
  }
  return { ...result, texts, contents };
}

/** Renders templates for other data, without merging. @throws InjectionFailure */
export function renderTexts(templates: TemplateSet, names: readonly string[], data: unknown, meter: Meter): string[] {
  return names.map((name) => render(templates, name, data, meter));
}

/** Parses rendered texts; recent texts share one object. @throws InjectionFailure */
export function readContents({ outputs }: TemplateSet, texts: readonly string[], meter: Meter): JsonObject[] {
  return texts.map((text) => {
    // Cached texts cost the same, so that a limit error does not depend on earlier requests.
    meter.spend(text.length * readingCost);
    return (outputs.known(text) ?? readOutput(new TemplateOutputs(), text)).content;
  });
}

/** The work units per character of output, which is parsed, typed and merged twice. */
const readingCost = 8;
/** The work units per merge, which visits the whole pod. */
const mergeCost = 10_000;
/** The number of templates up to which the size of the pod does not affect the cost. */
const usualTemplates = 4;

type MergedPod = Omit<RenderedPod, 'texts' | 'contents'>;

function addOutput({ pod, templatePod, rewriteProbes }: MergedPod, output: TemplateOutput, native: boolean): MergedPod {
  const { content, onEmptyPod, items } = output;
  const added = failingAs(onTemplatePod, () =>
    templatePod === emptyPod ? onEmptyPod() : overlayPod(templatePod, content, items),
  );
  const merged = failingAs(onPod, () => overlayPod(moveProxy(pod, added, native), content, items));
  return { pod: merged, templatePod: added, rewriteProbes };
}

function addLegacyOutput({ pod, templatePod, rewriteProbes }: MergedPod, { content }: TemplateOutput): MergedPod {
  const legacy = readLegacyOutput(content);
  const added = failingAs(onTemplatePod, () => overlayPod(templatePod, legacy.part));
  const merged = failingAs(onPod, () => overlayPod(pod, legacy.part));
  const rewrites = rewriteProbes || legacy.rewriteProbes;
  return { pod: moveAddedLast(pod, merged), templatePod: added, rewriteProbes: rewrites };
}

function render(templates: TemplateSet, name: string, data: unknown, meter: Meter): string {
  const template = templates.byName.get(name);
  if (template === undefined) {
    const known = [...templates.byName.keys()].sort().join(', ');
    throw new InjectionFailure(
      'UnknownTemplate',
      `failed to run injection template: requested template ${quoteString(name)} not found; have ${known}`,
    );
  }
  try {
    return template.execute(data, { ...templates.limits, meter });
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    const reason = error.kind === 'limit' ? 'TemplateLimit' : 'TemplateFailed';
    const message = `failed to run injection template: ${error.message}`;
    throw new InjectionFailure(reason, message, { cause: error, template: name });
  }
}

const onTemplatePod = 'failed applying injection overlay';
const onPod = 'failed parsing generated injected YAML (check Istio sidecar injector configuration)';

/** Parses an output. Errors start with Istio's text; YAML details follow on further lines. */
function readOutput(outputs: TemplateOutputs, text: string): TemplateOutput {
  let detail = '';
  let cause: unknown;
  try {
    const output = outputs.read(text);
    if (output !== undefined) return output;
  } catch (error) {
    cause = error;
    detail = `\n${(error as Error).message}`;
  }
  throw new InjectionFailure(
    'InvalidTemplateOutput',
    `failed to run injection template: ${onTemplatePod}: strategic merge: invalid JSON document${detail}`,
    { cause },
  );
}

function failingAs(what: string, merge: () => Pod): Pod {
  try {
    return merge();
  } catch (error) {
    if (!(error instanceof OverlayError)) throw error;
    throw new InjectionFailure('InvalidTemplateOutput', `failed to run injection template: ${what}: ${error.message}`, {
      cause: error,
    });
  }
}

/** Moves the user's proxy to the init containers if it becomes native (Istio's RunTemplate). */
function moveProxy(pod: Pod, templatePod: Pod, native: boolean): Pod {
  const isProxy = ({ name }: Container): boolean => name === proxyContainer;
  const own = annotationOf(pod, 'sidecar.istio.io/nativeSidecar');
  const isNative = own === 'true' || (own !== 'false' && native);
  if (!isNative || !initContainersOf(templatePod).some(isProxy)) return pod;
  const moved = containersOf(pod).find(isProxy);
  if (moved === undefined) return pod;
  const others = containersOf(pod).filter((container) => container !== moved);
  return withInitContainers(withContainers(pod, others), [...initContainersOf(pod), moved]);
}
