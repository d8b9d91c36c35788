import { TemplateError } from '../../template/template-error.ts';
import type { Template } from '../../template/template.ts';
import { InjectionFailure } from '../injection-failure.ts';
import { isJsonObject, type JsonObject } from '../patch/json-value.ts';
import {
  containersOf,
  initContainersOf,
  withContainers,
  withInitContainers,
  type Container,
  type Pod,
} from '../pod/pod.ts';
import { proxyContainer } from '../pod/proxy-container.ts';
import { parseYaml } from '../yaml/parse-yaml.ts';
import { placeBehind, readLegacyOutput } from './legacy-template.ts';
import { emptyPod, overlayPod, OverlayError } from './overlay.ts';

/** The compiled templates of a configuration. */
export interface TemplateSet {
  readonly byName: ReadonlyMap<string, Template>;
  /** Whether they render SidecarInjectionSpecs. */
  readonly legacy: boolean;
}

export interface RenderedPod {
  /** The pod with everything that the templates brought. */
  readonly pod: Pod;
  /** What the templates brought, on an empty pod. */
  readonly templatePod: Pod;
  /** Whether a template of the 1.x kind asked for it. */
  readonly rewriteProbes: boolean;
}

/**
 * Renders templates one after the other and merges each onto the pod.
 * @param data What templates see (see template-data.ts).
 * @throws InjectionFailure
 */
export function runTemplates(templates: TemplateSet, names: readonly string[], data: unknown, pod: Pod): RenderedPod {
  let result = pod;
  let templatePod = emptyPod;
  let rewriteProbes = false;
  for (const name of names) {
    const output = parseOutput(render(templates, name, data));
    const legacy = templates.legacy ? readLegacyOutput(output) : undefined;
    const part = legacy?.part ?? output;
    rewriteProbes ||= legacy?.rewriteProbes === true;
    templatePod = merge(templatePod, part, 'failed applying injection overlay');
    const moved = moveProxy(result, templatePod);
    const merged = merge(
      moved,
      part,
      'failed parsing generated injected YAML (check Istio sidecar injector configuration)',
    );
    result = legacy === undefined ? merged : placeBehind(moved, merged);
  }
  return { pod: result, templatePod, rewriteProbes };
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
    return template.execute(data);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    throw new InjectionFailure('TemplateFailed', `failed to run injection template: ${error.message}`, {
      cause: error,
    });
  }
}

/** Nothing but comments and space changes nothing. */
function parseOutput(text: string): JsonObject {
  let output: unknown;
  try {
    output = parseYaml(text) ?? {};
  } catch (error) {
    throw invalidOutput(error);
  }
  if (!isJsonObject(output)) throw invalidOutput(undefined);
  return output;
}

function invalidOutput(cause: unknown): InjectionFailure {
  // Istio's words; what is wrong with the YAML follows on lines of its own.
  const detail = cause instanceof Error ? `\n${cause.message}` : '';
  return new InjectionFailure(
    'InvalidTemplateOutput',
    `failed to run injection template: failed applying injection overlay: strategic merge: invalid JSON document${detail}`,
    { cause },
  );
}

function merge(pod: Pod, part: JsonObject, what: string): Pod {
  try {
    return overlayPod(pod, part);
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
