import { isDeepStrictEqual } from 'node:util';
import type { KubernetesObject, LabelSelector } from '../api/kubernetes/kubernetes.ts';
import { labelNames } from '../api/names.ts';
import { matchConditionNames } from '../api/injector-config/match-condition-names.ts';
import type { WebhookKeys } from '../api/injector-config/webhook-keys.ts';
import { apiServerMatcher, keysOf } from './label-selector.ts';
import { namespaceNameLabel } from '../api/kubernetes/system-namespaces.ts';
import { type ConfigurationRef, type RoutedClientConfig, routeOf } from '../routing/route.ts';

/** The compiled selectors of a webhook. */
export type CompiledSelectors = Readonly<ReturnType<typeof compileSelectors>>;

/** A webhook configuration that selects pods, of an InjectorConfig or of a tag. */
export interface SelectingWebhook {
  /** The name of the webhook configuration. */
  readonly id: string;
  /** metadata.name of the InjectorConfig whose sidecars it injects. */
  readonly injectorConfig: string;
  /** The tag that owns the webhook; absent if the InjectorConfig owns the webhook. */
  readonly tag?: string;
  readonly keys: WebhookKeys;
  /** The published configuration; undefined while nothing is published. */
  readonly hash: string | undefined;
  /** The configuration that some workloads get during a tag's rollout. */
  readonly canary?: PublishedConfiguration['canary'];
  /** The creation time of the webhook, in milliseconds since 1970; NaN if unknown. */
  readonly since: number;
  /** Whether the user has set matchConditions, which may exclude a pod. */
  readonly isConditional: boolean;
  readonly selectors: readonly CompiledSelectors[];
}

/** The selectors of one webhook. */
export interface SelectorPair {
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
}

interface Webhook extends SelectorPair {
  readonly rules?: readonly { readonly resources?: readonly string[] }[];
  readonly clientConfig?: RoutedClientConfig;
  readonly matchConditions?: readonly { readonly name?: string }[];
}

/** The configuration that a webhook configuration publishes. */
export interface PublishedConfiguration extends ConfigurationRef {
  /** The configuration that some workloads get during a tag's rollout; see `src/rollout`. */
  readonly canary?: ConfigurationRef & { readonly threshold: string };
}

/**
 * Returns the configuration that all webhooks of an object publish. Returns undefined if they
 * differ, and for a probe webhook, which selects ConfigMaps.
 */
export function publishedConfiguration(configuration: KubernetesObject): PublishedConfiguration | undefined {
  const webhooks = Array.isArray(configuration.webhooks) ? (configuration.webhooks as Webhook[]) : [];
  if (!webhooks.every(({ rules = [] }) => rules.some(({ resources = [] }) => resources.includes('pods'))))
    return undefined;
  const routes = webhooks.map(({ clientConfig }) => routeOf(clientConfig));
  const [route] = routes;
  if (route === undefined || !routes.every((each) => isDeepStrictEqual(each, route))) return undefined;
  const { stable, canary } = route;
  return {
    ...stable,
    ...(canary === undefined || route.shadow ? {} : { canary: { ...canary, threshold: route.threshold } }),
  };
}

/** Parses a live webhook configuration of ours; undefined if it publishes no configuration. */
export function readSelectingWebhook(
  configuration: KubernetesObject,
  keysOf: (injectorConfig: string) => WebhookKeys | undefined,
): SelectingWebhook | undefined {
  const { name = '', labels = {}, creationTimestamp = '' } = configuration.metadata;
  const published = publishedConfiguration(configuration);
  const keys = published && keysOf(published.injectorConfig);
  if (published === undefined || keys === undefined) return undefined;
  const webhooks = configuration.webhooks as Webhook[];
  const tag = labels[labelNames.tag];
  const generated: readonly string[] = Object.values(matchConditionNames);
  return {
    id: name,
    ...published,
    ...(tag === undefined ? {} : { tag }),
    keys,
    since: Date.parse(creationTimestamp),
    isConditional: webhooks.some(({ matchConditions = [] }) =>
      matchConditions.some((condition) => !generated.includes(condition.name ?? '')),
    ),
    selectors: webhooks.map(compileSelectors),
  };
}

/** Compiles a pair of selectors as the API server does: an empty selector selects everything. */
export function compileSelectors({ namespaceSelector = {}, objectSelector = {} }: SelectorPair) {
  const byNamespace = anchorOf(namespaceSelector);
  const labels = byNamespace ?? anchorOf(objectSelector);
  const side: 'namespace' | 'pod' = byNamespace === undefined ? 'pod' : 'namespace';
  return {
    namespace: apiServerMatcher(namespaceSelector),
    pod: apiServerMatcher(objectSelector),
    /** Whether the namespace must have a label; otherwise the pod's labels decide. */
    isByNamespace: byNamespace !== undefined,
    /** If set, each selected pod or namespace has one of these labels (`key=value` or `key`). */
    anchor: labels && { side, labels },
    /** The label names in the pod selector. */
    podLabels: keysOf(objectSelector),
  };
}

/** Returns labels of which an object must have one, if any; ignores the namespace name. */
function anchorOf({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string[] | undefined {
  const [equal] = Object.entries(matchLabels);
  if (equal !== undefined) return [equal.join('=')];
  const oneOf = matchExpressions.find(({ key, operator }) => operator === 'In' && key !== namespaceNameLabel);
  if (oneOf !== undefined) return (oneOf.values ?? []).map((value) => `${oneOf.key}=${value}`);
  const there = matchExpressions.find(({ operator }) => operator === 'Exists');
  return there && [there.key];
}
