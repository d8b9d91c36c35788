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
import { placeBehind, readLegacyOutput } from './legacy-template.ts';
import { emptyPod, overlayPod, OverlayError } from './overlay.ts';
import { TemplateOutputs, type TemplateOutput } from './template-outputs.ts';

/** The compiled templates of a configuration. */
export interface TemplateSet {
  readonly byName: ReadonlyMap<string, Template>;
  /** Whether they render SidecarInjectionSpecs. */
  readonly legacy: boolean;
  /** Of each execution. */
  readonly limits: ExecutionLimits;
  readonly outputs: TemplateOutputs;
  /** Whether a template may change the values that it is given: then each pod gets its own. */
  readonly changesData: boolean;
}

export interface RenderedPod {
  /** The pod with everything that the templates brought. */
  readonly pod: Pod;
  /** What the templates brought, on an empty pod. */
  readonly templatePod: Pod;
  /** Whether a template of the 1.x kind asked for it. */
  readonly rewriteProbes: boolean;
  /** What each template rendered, and what that says. */
  readonly texts: readonly string[];
  readonly contents: readonly JsonObject[];
}

/**
 * Renders templates one after the other and merges each onto the pod.
 * @param data What templates see (see template-data.ts).
 * @param nativeSidecars Whether the proxy is to be an init container, where the pod has no say.
 * @param meter Counts what it costs, reading and merging included.
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
  // A pod's author chooses templates, and may name one a thousand times.
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

/** What templates render for other data, as texts. @throws InjectionFailure */
export function renderTexts(templates: TemplateSet, names: readonly string[], data: unknown, meter: Meter): string[] {
  return names.map((name) => render(templates, name, data, meter));
}

/** Such texts, read but not merged; a text that was rendered for a pod lately is the same object. @throws InjectionFailure */
export function readContents({ outputs }: TemplateSet, texts: readonly string[], meter: Meter): JsonObject[] {
  return texts.map((text) => {
    // It costs the same whether it is known: what is refused must not depend on what was rendered before.
    meter.spend(text.length * readingCost);
    return (outputs.known(text) ?? readOutput(new TemplateOutputs(), text)).content;
  });
}

/** What each character of a template's output costs: it is read as YAML, typed, and merged twice. */
const readingCost = 8;
/** What merging costs besides: the pod is gone through. */
const mergeCost = 10_000;
/** Merging so many costs little even where the pod is large. */
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
  return { pod: placeBehind(pod, merged), templatePod: added, rewriteProbes: rewrites };
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
    throw new InjectionFailure(reason, `failed to run injection template: ${error.message}`, { cause: error });
  }
}

const onTemplatePod = 'failed applying injection overlay';
const onPod = 'failed parsing generated injected YAML (check Istio sidecar injector configuration)';

/** Istio's words; what is wrong with the YAML follows on lines of its own. */
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

/** The user's own proxy container becomes an init container where the template's is a native sidecar (in Istio's RunTemplate). */
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
