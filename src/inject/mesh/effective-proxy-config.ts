import { compileLabelSelector, type LabelMatcher } from '../../selection/label-selector.ts';
import type { ProxyConfigResource } from '../injection-request.ts';
import { isJsonObject, type JsonObject } from '../patch/json-value.ts';
import { MessageError, type Message } from './decode-message.ts';
import { decodeProxyConfig, defaultProxyConfig, overlayProxyConfig } from './proxy-config.ts';

/** The ProxyConfig layers of one mesh, lowest first: defaults, mesh, the root namespace's resources, the namespace's, the annotation, the workload's. */
export interface ProxyConfigLayers {
  /** Defaults and mesh, merged. */
  readonly mesh: Message;
  readonly rootNamespace: string;
}

/** The part of the effective ProxyConfig that no pod changes. */
export function proxyConfigLayers(meshConfig: Message): ProxyConfigLayers {
  return {
    mesh: overlayProxyConfig(defaultProxyConfig, meshConfig.defaultConfig as Message),
    rootNamespace: typeof meshConfig.rootNamespace === 'string' ? meshConfig.rootNamespace : '',
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
  if (resources.length === 0) return annotation === undefined ? config : overlayProxyConfig(config, annotation);
  const ordered = [...resources].sort(byAge);
  const inNamespace = (namespace: string): ProxyConfigResource[] =>
    ordered.filter((resource) => resource.metadata.namespace === namespace);
  if (layers.rootNamespace !== '')
    config = overlayFirst(config, inNamespace(layers.rootNamespace).filter(withoutSelector));
  const own = inNamespace(pod.namespace);
  if (pod.namespace !== layers.rootNamespace) config = overlayFirst(config, own.filter(withoutSelector));
  if (annotation !== undefined) config = overlayProxyConfig(config, annotation);
  return overlayFirst(
    config,
    own.filter((resource) => selectorOf(resource)?.(pod.labels) === true),
  );
}

/** The earlier of two resources has the higher precedence, so they are laid on from the last. */
function overlayFirst(base: Message, resources: readonly ProxyConfigResource[]): Message {
  return resources.reduceRight((config, resource) => overlayProxyConfig(config, resourceMessage(resource)), base);
}

function byAge(left: ProxyConfigResource, right: ProxyConfigResource): number {
  return (
    compare(left.metadata.creationTimestamp ?? '', right.metadata.creationTimestamp ?? '') ||
    compare(left.metadata.name, right.metadata.name)
  );
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function withoutSelector(resource: ProxyConfigResource): boolean {
  return selectorOf(resource) === undefined;
}

const selectors = new WeakMap<object, LabelMatcher>();

/** A resource's selector; `undefined` when it has none or an empty one and so speaks for the whole namespace. */
function selectorOf({ spec }: ProxyConfigResource): LabelMatcher | undefined {
  const matchLabels =
    isJsonObject(spec.selector) && isJsonObject(spec.selector.matchLabels) ? spec.selector.matchLabels : {};
  if (Object.keys(matchLabels).length === 0) return undefined;
  const known = selectors.get(spec);
  if (known !== undefined) return known;
  const compiled = compileLabelSelector({ matchLabels: matchLabels as Record<string, string> }, 'nothing');
  const matcher: LabelMatcher = 'matches' in compiled ? compiled.matches : () => false;
  selectors.set(spec, matcher);
  return matcher;
}

const messages = new WeakMap<object, Message>();

/** A resource's spec in the words of MeshConfig's ProxyConfig; one that does not decode has no say. */
function resourceMessage({ spec }: ProxyConfigResource): Message {
  const known = messages.get(spec);
  if (known !== undefined) return known;
  const config: JsonObject = {};
  if (spec.concurrency !== undefined) config.concurrency = spec.concurrency;
  if (spec.environmentVariables !== undefined) config.proxyMetadata = spec.environmentVariables;
  if (spec.image !== undefined) config.image = spec.image;
  let message: Message = {};
  try {
    message = decodeProxyConfig(config);
  } catch (error) {
    if (!(error instanceof MessageError)) throw error;
  }
  messages.set(spec, message);
  return message;
}
