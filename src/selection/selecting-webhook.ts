import { isDeepStrictEqual } from 'node:util';
import type { KubernetesObject, LabelSelector } from '../api/kubernetes/kubernetes.ts';
import { labelNames } from '../api/names.ts';
import { matchConditionNames } from '../api/injector-config/match-condition-names.ts';
import type { WebhookKeys } from '../api/injector-config/webhook-keys.ts';
import { apiServerMatcher, keysOf } from './label-selector.ts';
import { namespaceNameLabel } from '../api/kubernetes/system-namespaces.ts';
import { type ConfigurationRef, type RoutedClientConfig, routeOf } from '../routing/route.ts';

/** A webhook's two selectors, ready for use. */
export type CompiledSelectors = Readonly<ReturnType<typeof compileSelectors>>;

/** Who takes pods: an InjectorConfig's webhooks, or a tag's. */
export interface SelectingWebhook {
  /** The name of the webhook configuration. */
  readonly id: string;
  /** metadata.name of the InjectorConfig that it leads to. */
  readonly injectorConfig: string;
  /** Absent: it is the InjectorConfig's own. */
  readonly tag?: string;
  readonly keys: WebhookKeys;
  /** What it injects now; undefined while nothing is published, so that nobody is injected. */
  readonly hash: string | undefined;
  /** What some workloads get instead, in the middle of a tag's rollout. */
  readonly canary?: PublishedConfiguration['canary'];
  /** When its webhooks came, in milliseconds since 1970; NaN when nobody knows. */
  readonly since: number;
  /** Whether somebody's own matchConditions decide, too: of pods that have no sidecar nothing can be said. */
  readonly isConditional: boolean;
  readonly selectors: readonly CompiledSelectors[];
}

/** One webhook's selectors as objects have them. */
export interface SelectorPair {
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
}

interface Webhook extends SelectorPair {
  readonly rules?: readonly { readonly resources?: readonly string[] }[];
  readonly clientConfig?: RoutedClientConfig;
  readonly matchConditions?: readonly { readonly name?: string }[];
}

/** What a webhook configuration injects. */
export interface PublishedConfiguration extends ConfigurationRef {
  /** What some of the workloads get instead, in the middle of a tag's rollout; see `src/rollout`. */
  readonly canary?: ConfigurationRef & { readonly threshold: string };
}

/**
 * The InjectorConfig and the hash to which all webhooks of a configuration send pods; undefined unless they agree, and for the twin by which a path
 * is tried out, which asks for ConfigMaps.
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

/** Who takes pods by a webhook configuration of ours as it is in force; undefined for one that leads nowhere (a probe's twin, an owner). */
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

/** Compiles a pair of selectors as the API server reads them: an empty one takes everything. */
export function compileSelectors({ namespaceSelector = {}, objectSelector = {} }: SelectorPair) {
  const byNamespace = anchorOf(namespaceSelector);
  const labels = byNamespace ?? anchorOf(objectSelector);
  const side: 'namespace' | 'pod' = byNamespace === undefined ? 'pod' : 'namespace';
  return {
    namespace: apiServerMatcher(namespaceSelector),
    pod: apiServerMatcher(objectSelector),
    /** Whether it is the namespace's own label that leads here, not only what it does not say. */
    isByNamespace: byNamespace !== undefined,
    /** Labels (`key=value`, or `key` alone) one of which whatever it takes must have; undefined when nothing is required. */
    anchor: labels && { side, labels },
    /** The label names that the pod's selector asks for. */
    podLabels: keysOf(objectSelector),
  };
}

/** What a selector asks to be there: the values of one key, else a key. The name of a namespace is not a label that leads anywhere. */
function anchorOf({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string[] | undefined {
  const [equal] = Object.entries(matchLabels);
  if (equal !== undefined) return [equal.join('=')];
  const oneOf = matchExpressions.find(({ key, operator }) => operator === 'In' && key !== namespaceNameLabel);
  if (oneOf !== undefined) return (oneOf.values ?? []).map((value) => `${oneOf.key}=${value}`);
  const there = matchExpressions.find(({ operator }) => operator === 'Exists');
  return there && [there.key];
}
