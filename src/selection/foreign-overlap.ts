import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { istioKeys } from '../api/injector-config/webhook-keys.ts';
import { labelNames, managedBy } from '../api/names.ts';
import { intersect, type PodClaim } from './pod-claims.ts';
import { keysOf, type Labels } from './label-selector.ts';
import {
  type CompiledSelectors,
  compileSelectors,
  type SelectingWebhook,
  type SelectorPair,
} from './selecting-webhook.ts';
import type { WebhookSelectors } from './webhook-selectors.ts';
import { takesPodCreations, type WebhookRule } from './webhook-rules.ts';

/** The fields of a webhook (admissionregistration.k8s.io/v1) that decide about an overlap. */
interface Webhook extends SelectorPair {
  readonly name?: string;
  readonly rules?: readonly WebhookRule[];
  readonly matchConditions?: readonly unknown[];
}

interface PodWebhook extends WebhookSelectors {
  readonly keys: ReadonlySet<string>;
  readonly isConditional: boolean;
}

/** The webhooks of each object that was parsed. Objects in the watch cache never change. */
const podWebhooks = new WeakMap<KubernetesObject, readonly PodWebhook[]>();

/** A webhook of another product that selects the same pods. */
export interface ForeignClaim {
  readonly configuration: string;
  readonly webhook: string;
}

/**
 * Returns the first webhook of another product, such as Istio, that selects pods of a claim by the
 * labels of the claim's family. A webhook that uses none of these labels is no injector of the
 * family, and may select every pod.
 */
export function foreignOverlap(claim: PodClaim, configurations: readonly KubernetesObject[]): ForeignClaim | undefined {
  const { injection, revision, inject } = claim.keys;
  for (const configuration of configurations) {
    if (configuration.metadata.deletionTimestamp !== undefined) continue;
    const found = podWebhooksOf(configuration).find(
      (webhook) =>
        [injection, revision, inject].some((key) => webhook.keys.has(key)) && intersect(claim.selectors, [webhook]),
    );
    if (found !== undefined) return { configuration: configuration.metadata.name ?? '', webhook: found.name };
  }
  return undefined;
}

/** Reports whether this is the name of a webhook of Istio's injector, of a revision or a tag. */
export function isIstioInjector(webhook: string): boolean {
  return `.${webhook}`.endsWith('.sidecar-injector.istio.io');
}

/**
 * Returns the selectors of the webhooks of Istio's injector.
 * @param isCertain whether to leave out webhooks with matchConditions, which may exclude pods
 */
export function istioWebhookSelectors(
  configurations: readonly KubernetesObject[],
  isCertain = true,
): WebhookSelectors[] {
  return configurations
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .flatMap(podWebhooksOf)
    .filter(({ name, isConditional }) => isIstioInjector(name) && !(isCertain && isConditional))
    .map(({ name, namespaceSelector, objectSelector }) => ({ name, namespaceSelector, objectSelector }));
}

/** As {@link istioWebhookSelectors}, compiled. */
export function istioSelectors(configurations: readonly KubernetesObject[], isCertain = true): CompiledSelectors[] {
  return istioWebhookSelectors(configurations, isCertain).map(compileSelectors);
}

/** Reports whether Istio's injector selects pods by the labels of their namespace. */
export function isIstiosNamespace(labels: Labels, istios: readonly CompiledSelectors[]): boolean {
  return istios.some((each) => each.isByNamespace && each.namespace(labels));
}

/** Reports whether pods that Istio's injector injects have the sidecar of a webhook's family. */
export function isIstioFamily({ keys }: Pick<SelectingWebhook, 'keys'>): boolean {
  return keys.status === istioKeys.status;
}

/** Returns a text that changes when overlaps may change; empty for our own webhooks. */
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
    .map(({ name = '', namespaceSelector = {}, objectSelector = {}, matchConditions = [] }) => ({
      name,
      isConditional: matchConditions.length > 0,
      namespaceSelector,
      objectSelector,
      keys: new Set([...keysOf(namespaceSelector), ...keysOf(objectSelector)]),
    }));
  podWebhooks.set(configuration, read);
  return read;
}
