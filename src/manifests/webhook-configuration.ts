import { group, type InjectorConfig } from '../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { labelNames, objectNames, tagWebhookConfiguration } from '../api/names.ts';
import type { RevisionTag } from '../api/revision-tag/revision-tag.ts';
import { formatRoute, type PathFormat, type RolloutRoute } from '../routing/route.ts';
import { selectorsFor } from '../selection/webhook-selectors.ts';
import { type ManifestContext, revisionLabels } from './manifest-context.ts';
import { base64 } from './secrets.ts';
import { clientConfig } from './service.ts';
import { matchConditionNames } from '../api/injector-config/match-condition-names.ts';
import type { WebhookKeys } from '../api/injector-config/webhook-keys.ts';

/** A MutatingWebhookConfiguration. Only `operator/webhooks` may write one, and this type keeps others from it. */
export interface WebhookConfiguration extends KubernetesObject {
  readonly kind: 'MutatingWebhookConfiguration';
}

export interface WebhookInput {
  readonly config: InjectorConfig;
  /** The configuration that is published: every replica must have it before this object is applied. */
  readonly hash: string;
  readonly caBundlePem: string;
  /** The RevisionTag that leads to the InjectorConfig; absent: the webhook is the InjectorConfig's own. */
  readonly tag?: RevisionTag | undefined;
  /** Absent: the tag is at rest, and everybody gets the InjectorConfig's `hash`. Its stable side is that. */
  readonly rollout?: RolloutRoute | undefined;
  /** How its path is written; format 1 unless told. */
  readonly format?: PathFormat;
}

/** metadata.name of the MutatingWebhookConfiguration. */
export function webhookName({ config, tag }: Pick<WebhookInput, 'config' | 'tag'>): string {
  return tag === undefined
    ? objectNames(config.metadata.name).webhookConfiguration
    : tagWebhookConfiguration(tag.metadata.name);
}

/**
 * The MutatingWebhookConfiguration of an InjectorConfig, or of a RevisionTag that leads to one: the selectors are the tag's, everything else is
 * the InjectorConfig's, so moving a tag is one write of one object. The last object to apply and the first to remove.
 */
export function webhookConfiguration(input: WebhookInput, context: ManifestContext): WebhookConfiguration {
  const { webhook } = input.config.spec;
  const shared = {
    admissionReviewVersions: ['v1', 'v1beta1'],
    clientConfig: webhookClient(input, context),
    failurePolicy: webhook.failurePolicy,
    matchConditions: [...generatedMatchConditions(webhook.keys), ...webhook.matchConditions],
    matchPolicy: webhook.matchPolicy,
    reinvocationPolicy: webhook.reinvocationPolicy,
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'], scope: 'Namespaced' }],
    sideEffects: 'None',
    timeoutSeconds: webhook.timeoutSeconds,
  };
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: webhookMetadata(webhookName(input), input, context),
    webhooks: selectorsFor(input, context.namespace).map(({ name: short, namespaceSelector, objectSelector }) => ({
      ...shared,
      // The API server wants names of three parts at least; ours never end in Istio's suffix, which istiod would rewrite.
      name: `${short}.${group}`,
      namespaceSelector,
      objectSelector,
    })),
  };
}

/** The metadata of a webhook configuration, or of its probe webhook. */
export function webhookMetadata(
  name: string,
  { config, tag }: Pick<WebhookInput, 'config' | 'tag'>,
  { owner }: ManifestContext,
): KubernetesObject['metadata'] {
  return {
    name,
    labels: { ...revisionLabels(config), ...(tag && { [labelNames.tag]: tag.metadata.name }) },
    ...(owner && { ownerReferences: [owner] }),
  };
}

/** Where the API server calls, and what it trusts there. */
export function webhookClient(
  { config, hash, caBundlePem, tag, rollout, format }: WebhookInput,
  context: ManifestContext,
): Record<string, unknown> {
  const stable = { injectorConfig: config.metadata.name, hash };
  const write = format?.write ?? formatRoute;
  const path = write(rollout ?? { ...(tag && { tag: tag.metadata.name }), stable });
  const { url } = config.spec.webhook;
  const { service } = objectNames(config.metadata.name);
  return clientConfig({ service, path, caBundlePem, ...(url !== undefined && { url }) }, context);
}

/**
 * A live webhook configuration as it is, but for its caBundle: for when no other may be written, and the rotation must go on nevertheless.
 */
export function withCaBundle(live: KubernetesObject, caBundlePem: string): WebhookConfiguration {
  const { name, labels, ownerReferences } = live.metadata;
  const webhooks = (live.webhooks ?? []) as { clientConfig?: Record<string, unknown> }[];
  return {
    apiVersion: live.apiVersion,
    kind: 'MutatingWebhookConfiguration',
    metadata: { ...(name && { name }), ...(labels && { labels }), ...(ownerReferences && { ownerReferences }) },
    webhooks: webhooks.map((webhook) => ({
      ...webhook,
      clientConfig: { ...webhook.clientConfig, caBundle: base64(caBundlePem) },
    })),
  };
}

/** A matchCondition of admissionregistration.k8s.io/v1. */
interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

/**
 * Conditions that keep pods away from the webhook altogether, so that they start even when nobody answers. Each field is guarded by has():
 * under failurePolicy Fail an expression that cannot be evaluated would refuse the pod.
 */
export function generatedMatchConditions(keys: Pick<WebhookKeys, 'inject'>): MatchCondition[] {
  const labels = 'has(object.metadata.labels)';
  const annotations = 'has(object.metadata.annotations)';
  const key = `'${keys.inject}'`;
  return [
    {
      // Such a pod has the node's network: redirecting its traffic would redirect the node's.
      name: matchConditionNames.hostNetwork,
      expression: '!(has(object.spec) && has(object.spec.hostNetwork) && object.spec.hostNetwork == true)',
    },
    {
      // The label beats the annotation (Istio), so the annotation decides only where there is no label.
      name: matchConditionNames.optedOut,
      expression:
        `!(!(${labels} && ${key} in object.metadata.labels)` +
        ` && ${annotations} && ${key} in object.metadata.annotations && object.metadata.annotations[${key}] == 'false')`,
    },
    {
      // The mirror of a static pod shows what the kubelet already runs; changing it changes nothing but the picture.
      name: matchConditionNames.mirrorPod,
      expression: `!(${annotations} && 'kubernetes.io/config.mirror' in object.metadata.annotations)`,
    },
  ];
}
