import { apiServerMatcher } from '../api-server-matcher.ts';
import type { KubernetesObject, LabelSelector } from '../../api/kubernetes.ts';
import { labelNames } from '../../api/labels.ts';
import { matchConditionNames } from '../../api/match-condition-names.ts';
import type { WebhookKeys } from '../../api/webhook-keys.ts';
import type { LabelMatcher } from '../../inject/decision/label-selector.ts';
import { namespaceNameLabel } from '../../api/system-namespaces.ts';
import { publishedConfiguration, type PublishedConfiguration } from './published-configuration.ts';

/** A webhook's two selectors, ready for use. */
export interface ClaimedPods {
  readonly namespace: LabelMatcher;
  readonly pod: LabelMatcher;
  /** Whether it is the namespace's own label that leads here, not only what it does not say. */
  readonly isByNamespace: boolean;
  /** Labels (`key=value`, or `key` alone) one of which whatever it takes must have; undefined when nothing is required. */
  readonly anchor: { readonly side: 'namespace' | 'pod'; readonly labels: readonly string[] } | undefined;
  /** The label names that the pod's selector asks for. */
  readonly podLabels: readonly string[];
}

/** Who takes pods: an InjectorConfig's webhooks, or a tag's. */
export interface Claimant {
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
  readonly claims: readonly ClaimedPods[];
}

/** One webhook's selectors as objects have them. */
export interface SelectorPair {
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
}

interface Webhook extends SelectorPair {
  readonly matchConditions?: readonly { readonly name?: string }[];
}

/** Who takes pods by a webhook configuration of ours as it is in force; undefined for one that leads nowhere (a probe's twin, an owner). */
export function claimantInForce(
  configuration: KubernetesObject,
  keysOf: (injectorConfig: string) => WebhookKeys | undefined,
): Claimant | undefined {
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
    claims: webhooks.map(claimedPods),
  };
}

/** Compiles a pair of selectors as the API server reads them: an empty one takes everything. */
export function claimedPods({ namespaceSelector = {}, objectSelector = {} }: SelectorPair): ClaimedPods {
  const byNamespace = anchorOf(namespaceSelector);
  const anchor = byNamespace ?? anchorOf(objectSelector);
  return {
    namespace: apiServerMatcher(namespaceSelector),
    pod: apiServerMatcher(objectSelector),
    isByNamespace: byNamespace !== undefined,
    anchor: anchor && { side: byNamespace === undefined ? 'pod' : 'namespace', labels: anchor },
    podLabels: [
      ...Object.keys(objectSelector.matchLabels ?? {}),
      ...(objectSelector.matchExpressions ?? []).map(({ key }) => key),
    ],
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
