import type { ExecutionLimits } from '../../template/execution.ts';
import { TemplateError } from '../../template/template-error.ts';
import type { Template } from '../../template/template.ts';
import { InjectionFailure } from '../injection-failure.ts';
import type { JsonObject } from '../patch/json-value.ts';
import {
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
 * @throws InjectionFailure
 */
export function runTemplates(templates: TemplateSet, names: readonly string[], data: unknown, pod: Pod): RenderedPod {
  let result: RenderedPod = { pod, templatePod: emptyPod, rewriteProbes: false, texts: [], contents: [] };
  for (const name of names) {
    const text = render(templates, name, data);
    const output = readOutput(templates.outputs, text);
    const added = templates.legacy ? addLegacyOutput(result, output) : addOutput(result, output);
    result = { ...added, texts: [...result.texts, text], contents: [...result.contents, output.content] };
  }
  return result;
}

/** What templates render for other data, as texts. @throws InjectionFailure */
export function renderTexts(templates: TemplateSet, names: readonly string[], data: unknown): string[] {
  return names.map((name) => render(templates, name, data));
}

/** Such texts, read but not merged; a text that was rendered for a pod lately is the same object. @throws InjectionFailure */
export function readContents({ outputs }: TemplateSet, texts: readonly string[]): JsonObject[] {
  return texts.map((text) => (outputs.known(text) ?? readOutput(new TemplateOutputs(), text)).content);
}

type MergedPod = Omit<RenderedPod, 'texts' | 'contents'>;

function addOutput({ pod, templatePod, rewriteProbes }: RenderedPod, output: TemplateOutput): MergedPod {
  const { content, onEmptyPod, items } = output;
  const added = failingAs(onTemplatePod, () =>
    templatePod === emptyPod ? onEmptyPod() : overlayPod(templatePod, content, items),
  );
  return {
    pod: failingAs(onPod, () => overlayPod(moveProxy(pod, added), content, items)),
    templatePod: added,
    rewriteProbes,
  };
}

function addLegacyOutput({ pod, templatePod, rewriteProbes }: RenderedPod, { content }: TemplateOutput): MergedPod {
  const legacy = readLegacyOutput(content);
  const added = failingAs(onTemplatePod, () => overlayPod(templatePod, legacy.part));
  const merged = failingAs(onPod, () => overlayPod(pod, legacy.part));
  return {
    pod: placeBehind(pod, merged),
    templatePod: added,
    rewriteProbes: rewriteProbes || legacy.rewriteProbes,
  };
}

function render(templates: TemplateSet, name: string, data: unknown): string {
  const template = templates.byName.get(name);
  if (template === undefined) {
    const known = [...templates.byName.keys()].sort().join(', ');
    throw new InjectionFailure(
      'UnknownTemplate',
      `failed to run injection template: requested template ${JSON.stringify(name)} not found; have ${known}`,
    );
  }
  try {
    return template.execute(data, templates.limits);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    const reason = error.kind === 'limit' ? 'TemplateLimit' : 'TemplateFailed';
    throw new InjectionFailure(reason, `failed to run injection template: ${error.message}`, {
      cause: error,
    });
  }
}

const onTemplatePod = 'failed applying injection overlay';
const onPod = 'failed parsing generated injected YAML (check Istio sidecar injector configuration)';

/** Istio's words; what is wrong with the YAML follows on lines of its own. */
function readOutput(outputs: TemplateOutputs, text: string): TemplateOutput {
  let output: TemplateOutput | undefined;
  let detail = '';
  let cause: unknown;
  try {
    output = outputs.read(text);
  } catch (error) {
    cause = error;
    detail = error instanceof Error ? `\n${error.message}` : '';
  }
  if (output !== undefined) return output;
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

/** The user's own proxy container goes where the template's is: containers, or init containers for a native sidecar. */
function moveProxy(pod: Pod, templatePod: Pod): Pod {
  const isProxy = ({ name }: Container): boolean => name === proxyContainer;
  if (!initContainersOf(templatePod).some(isProxy)) return pod;
  const moved = containersOf(pod).find(isProxy);
  if (moved === undefined) return pod;
  const remaining = withContainers(
    pod,
    containersOf(pod).filter((container) => container !== moved),
  );
  return withInitContainers(remaining, [...initContainersOf(pod), moved]);
}
