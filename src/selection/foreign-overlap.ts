import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { labelNames, managedBy } from '../api/names.ts';
import { meet, type PodClaim } from './pod-claims.ts';
import { keysOf } from './label-selector.ts';
import type { SelectorPair } from './selecting-webhook.ts';
import type { WebhookSelectors } from './webhook-selectors.ts';
import { takesPodCreations, type WebhookRule } from './webhook-rules.ts';

/** One webhook (admissionregistration.k8s.io/v1), as far as it matters here. */
interface Webhook extends SelectorPair {
  readonly name?: string;
  readonly rules?: readonly WebhookRule[];
}

interface PodWebhook extends WebhookSelectors {
  readonly keys: ReadonlySet<string>;
}

/** Objects of the view never change, so each is read once. */
const podWebhooks = new WeakMap<KubernetesObject, readonly PodWebhook[]>();

/** The webhook configuration of somebody else that takes the same pods, and its webhook. */
export interface ForeignClaim {
  readonly configuration: string;
  readonly webhook: string;
}

/**
 * The first webhook of somebody else that would take pods which a claim wants, chosen by the same labels: another injector of the family, such as
 * Istio's own. Webhooks that look at none of the family's labels are no injectors of it, and may see every pod.
 */
export function foreignOverlap(claim: PodClaim, configurations: readonly KubernetesObject[]): ForeignClaim | undefined {
  const { injection, revision, inject } = claim.keys;
  for (const configuration of configurations) {
    if (configuration.metadata.deletionTimestamp !== undefined) continue;
    const found = podWebhooksOf(configuration).find(
      (webhook) =>
        [injection, revision, inject].some((key) => webhook.keys.has(key)) && meet(claim.selectors, [webhook]),
    );
    if (found !== undefined) return { configuration: configuration.metadata.name ?? '', webhook: found.name };
  }
  return undefined;
}

/** What of a webhook configuration of somebody else decides whether it overlaps; empty for our own. */
export function foreignSelectors(configuration: KubernetesObject | undefined): string {
  if (configuration === undefined || configuration.metadata.deletionTimestamp !== undefined) return '';
  const webhooks = podWebhooksOf(configuration);
  return webhooks.length === 0 ? '' : JSON.stringify(webhooks.map(({ keys, ...selectors }) => [selectors, [...keys]]));
}

function podWebhooksOf(configuration: KubernetesObject): readonly PodWebhook[] {
  const known = podWebhooks.get(configuration);
  if (known !== undefined) return known;
  const isOurs = configuration.metadata.labels?.[labelNames.managedBy] === managedBy;
  const webhooks = isOurs ? [] : ((configuration.webhooks ?? []) as Webhook[]);
  const read = webhooks
    .filter(({ rules = [] }) => rules.some(takesPodCreations))
    .map(({ name = '', namespaceSelector = {}, objectSelector = {} }) => ({
      name,
      namespaceSelector,
      objectSelector,
      keys: new Set([...keysOf(namespaceSelector), ...keysOf(objectSelector)]),
    }));
  podWebhooks.set(configuration, read);
  return read;
}
