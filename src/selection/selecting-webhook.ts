import { isDeepStrictEqual } from 'node:util';
import type { KubernetesObject, LabelSelector, LabelSelectorRequirement } from '../api/kubernetes/kubernetes.ts';
import { labelNames } from '../api/names.ts';
import { matchConditionNames } from '../api/injector-config/match-condition-names.ts';
import type { WebhookKeys } from '../api/injector-config/webhook-keys.ts';
import { apiServerMatcher, keysOf, type Labels } from './label-selector.ts';
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

/** Returns the webhooks that select a pod, usually at most one per family. */
export function webhooksSelecting(
  webhooks: readonly SelectingWebhook[],
  namespaceLabels: Labels,
  podLabels: Labels,
): SelectingWebhook[] {
  return webhooks.filter(({ selectors }) => {
    return selectors.some((each) => each.namespace(namespaceLabels) && each.pod(podLabels));
  });
}

/** Compiles a pair of selectors as the API server does: an empty selector selects everything. */
export function compileSelectors({ namespaceSelector = {}, objectSelector = {} }: SelectorPair) {
  return {
    namespace: apiServerMatcher(namespaceSelector),
    pod: apiServerMatcher(objectSelector),
    /** Whether the namespace must have a label; otherwise the pod's labels decide. */
    isByNamespace: requiresLabel(namespaceSelector),
    /** The label names in the pod selector. */
    podLabels: keysOf(objectSelector),
  };
}

/** Reports whether a namespace must have a label; ignores a requirement for its name. */
function requiresLabel({ matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean {
  const requires = ({ key, operator }: LabelSelectorRequirement): boolean =>
    (operator === 'In' && key !== namespaceNameLabel) || operator === 'Exists';
  return Object.keys(matchLabels).length > 0 || matchExpressions.some(requires);
}
