import { compareStrings } from '../../template/go-string.ts';
import { compileLabelSelector, type LabelMatcher } from '../../selection/label-selector.ts';
import type { ProxyConfigResource } from '../injection-request.ts';
import { isJsonObject } from '../patch/json-value.ts';
import { MessageError, type Message } from './decode-message.ts';
import { decodeProxyConfig, defaultProxyConfig, overlayProxyConfig } from './proxy-config.ts';

/** The ProxyConfig layers of one mesh, lowest first: defaults, mesh, the root namespace's resources, the namespace's, the annotation, the workload's. */
export interface ProxyConfigLayers {
  /** Defaults and mesh, merged. */
  readonly mesh: Message;
  /** No text where the mesh has none. */
  readonly rootNamespace: unknown;
}

/** The part of the effective ProxyConfig that no pod changes. */
export function proxyConfigLayers(meshConfig: Message): ProxyConfigLayers {
  return {
    mesh: overlayProxyConfig(defaultProxyConfig, meshConfig.defaultConfig as Message),
    rootNamespace: meshConfig.rootNamespace,
  };
}

/**
 * The ProxyConfig of a pod as Istio's webhook merges it: defaults < mesh < resources of the root namespace < of the pod's namespace <
 * the pod's annotation < resources with a selector that matches. Among resources of one kind the oldest counts.
 */
export function effectiveProxyConfig(
  layers: ProxyConfigLayers,
  pod: { readonly namespace: string; readonly labels: Readonly<Record<string, string>> },
  annotation: Message | undefined,
  resources: readonly ProxyConfigResource[] = [],
): Message {
  let config = layers.mesh;
  const ordered = [...resources].sort(byAge);
  const inNamespace = (namespace: unknown): ProxyConfigResource[] =>
    ordered.filter((resource) => resource.metadata.namespace === namespace);
  config = overlayFirst(config, inNamespace(layers.rootNamespace).filter(withoutSelector));
  const own = inNamespace(pod.namespace);
  if (pod.namespace !== layers.rootNamespace) config = overlayFirst(config, own.filter(withoutSelector));
  if (annotation !== undefined) config = overlayProxyConfig(config, annotation);
  return overlayFirst(
    config,
    own.filter((resource) => read(resource).selector?.(pod.labels) === true),
  );
}

/** The earlier of two resources has the higher precedence, so they are laid on from the last. */
function overlayFirst(base: Message, resources: readonly ProxyConfigResource[]): Message {
  return resources.reduceRight((config, resource) => overlayProxyConfig(config, read(resource).message), base);
}

function byAge(left: ProxyConfigResource, right: ProxyConfigResource): number {
  return (
    compareStrings(left.metadata.creationTimestamp ?? '', right.metadata.creationTimestamp ?? '') ||
    compareStrings(left.metadata.name, right.metadata.name)
  );
}

function withoutSelector(resource: ProxyConfigResource): boolean {
  return read(resource).selector === undefined;
}

/** What a resource says. */
interface ReadResource {
  /** `undefined` when it has no selector or an empty one and so speaks for the whole namespace. */
  readonly selector: LabelMatcher | undefined;
  /** Its spec in the words of MeshConfig's ProxyConfig; one that does not decode has no say. */
  readonly message: Message;
}

const known = new WeakMap<object, ReadResource>();

/** Reads a resource, each once. */
function read({ spec }: ProxyConfigResource): ReadResource {
  const before = known.get(spec);
  if (before !== undefined) return before;
  const { selector, concurrency, environmentVariables: proxyMetadata, image } = spec;
  const message = decodeOrNothing({ concurrency, proxyMetadata, image });
  const resource = { selector: compileSelector(selector), message };
  known.set(spec, resource);
  return resource;
}

function compileSelector(selector: unknown): LabelMatcher | undefined {
  const matchLabels = isJsonObject(selector) && isJsonObject(selector.matchLabels) ? selector.matchLabels : {};
  if (Object.keys(matchLabels).length === 0) return undefined;
  const compiled = compileLabelSelector({ matchLabels: matchLabels as Record<string, string> }, 'nothing');
  return 'matches' in compiled ? compiled.matches : () => false;
}

function decodeOrNothing(config: object): Message {
  try {
    return decodeProxyConfig(config);
  } catch (error) {
    if (!(error instanceof MessageError)) throw error;
    return {};
  }
}
