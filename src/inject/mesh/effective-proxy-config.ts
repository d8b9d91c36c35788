import { compareStrings } from '../../template/go-string.ts';
import { compileLabelSelector, type LabelMatcher } from '../../selection/label-selector.ts';
import type { ProxyConfigResource } from '../injection-request.ts';
import { isJsonObject } from '../patch/json-value.ts';
import { MessageError, type Message } from './decode-message.ts';
import { decodeProxyConfig, defaultProxyConfig, overlayProxyConfig } from './proxy-config.ts';

/** The pod-independent ProxyConfig layers. */
export interface ProxyConfigLayers {
  /** The ProxyConfig of the mesh, merged onto the defaults. */
  readonly mesh: Message;
  /** The root namespace; not a string if the mesh config has no root namespace. */
  readonly rootNamespace: unknown;
}

export function proxyConfigLayers(meshConfig: Message): ProxyConfigLayers {
  return {
    mesh: overlayProxyConfig(defaultProxyConfig, meshConfig.defaultConfig as Message),
    rootNamespace: meshConfig.rootNamespace,
  };
}

/**
 * Merges a pod's ProxyConfig like Istio's webhook: defaults < mesh < root namespace < the pod's
 * namespace < annotation < resources with a matching selector. The oldest resource wins.
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

/** Applies resources from last to first, so that earlier resources have precedence. */
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

interface ReadResource {
  /** The selector. If it is undefined, the resource applies to its whole namespace. */
  readonly selector: LabelMatcher | undefined;
  /** The spec as a ProxyConfig; empty if the spec cannot be decoded. */
  readonly message: Message;
}

const known = new WeakMap<object, ReadResource>();

/** Parses a resource and caches the result. */
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
