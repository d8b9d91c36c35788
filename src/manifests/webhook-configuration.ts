import { timeoutSecondsOf } from '../api/injector-config/webhook-timeout.ts';
import { group, type InjectorConfig } from '../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { labelNames, objectNames } from '../api/names.ts';
import { formatRoute, type PathFormat, type RolloutRoute } from '../routing/route.ts';
import { selectorsFor, webhookName, type WebhookOwner } from '../selection/webhook-selectors.ts';
import { type ManifestContext, revisionLabels } from './manifest-context.ts';
import { heldPrefix, irreplaceable, podCreations, replaceable } from './replaceable-pods.ts';
import { base64, clientConfig } from './desired-objects.ts';
import { matchConditionNames } from '../api/injector-config/match-condition-names.ts';
import type { WebhookKeys } from '../api/injector-config/webhook-keys.ts';

/** A MutatingWebhookConfiguration. The type ensures that only `operator/webhooks` writes it. */
export interface WebhookConfiguration extends KubernetesObject {
  readonly kind: 'MutatingWebhookConfiguration';
}

export interface WebhookInput extends WebhookOwner {
  /** The hash of the configuration to publish; every replica must have loaded it. */
  readonly hash: string;
  readonly caBundlePem: string;
  /** The tag's rollout, whose stable hash is `hash`. If unset, all workloads use `hash`. */
  readonly rollout?: RolloutRoute | undefined;
  /** The format of the path; format 1 by default. */
  readonly format?: PathFormat;
  /**
   * For failurePolicy Hold: whether the admission policy adds the gate, so that a failed call for a
   * replaceable pod may be ignored. Otherwise `spec.webhook.fallback` applies to all pods.
   */
  readonly isHolding?: boolean;
}

/**
 * Returns the MutatingWebhookConfiguration of an InjectorConfig or tag. A tag determines only the
 * selectors, so a tag moves with one write. Apply this object last, and delete it first.
 */
export function webhookConfiguration(input: WebhookInput, context: ManifestContext): WebhookConfiguration {
  const { webhook } = input.config.spec;
  const shared = {
    admissionReviewVersions: ['v1', 'v1beta1'],
    clientConfig: webhookClient(input, context),
    failurePolicy: webhook.failurePolicy === 'Hold' ? webhook.fallback : webhook.failurePolicy,
    matchConditions: matchConditionsOf(webhook),
    matchPolicy: webhook.matchPolicy,
    reinvocationPolicy: webhook.reinvocationPolicy,
    rules: [podCreations],
    sideEffects: 'None',
    timeoutSeconds: timeoutSecondsOf(webhook),
  };
  // For each pair of selectors, one webhook for the pods that the policy holds, and one for others.
  const variants = input.isHolding
    ? [
        { prefix: '', matchConditions: [...shared.matchConditions, irreplaceable] },
        { prefix: heldPrefix, matchConditions: [...shared.matchConditions, replaceable], failurePolicy: 'Ignore' },
      ]
    : [{ prefix: '' }];
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: webhookMetadata(webhookName(input), input, context),
    webhooks: selectorsFor(input, context.namespace).flatMap(({ name: short, namespaceSelector, objectSelector }) =>
      variants.map(({ prefix, ...variant }) => ({
        ...shared,
        ...variant,
        // The API server requires three parts. The suffix is not Istio's, because istiod would
        // rewrite a webhook with Istio's suffix.
        name: `${prefix}${short}.${group}`,
        namespaceSelector,
        objectSelector,
      })),
    ),
  };
}

/** Returns all matchConditions of an InjectorConfig: the generated conditions, then its own. */
export function matchConditionsOf(webhook: InjectorConfig['spec']['webhook']): MatchCondition[] {
  return [...generatedMatchConditions(webhook.keys), ...webhook.matchConditions];
}

/** Returns the metadata of a webhook configuration or its probe webhook. */
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

/** Returns the clientConfig: the endpoint that the API server calls, and its CA bundle. */
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

/** Returns a live webhook configuration in which only the caBundle is replaced. */
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

/** Returns a webhook configuration in which no webhook ignores failed calls because of a policy. */
export function withFallback(configuration: WebhookConfiguration): WebhookConfiguration {
  const webhooks = configuration.webhooks as { readonly name: string; readonly failurePolicy?: string }[];
  const fallbacks = new Map(webhooks.map(({ name, failurePolicy }) => [heldPrefix + name, failurePolicy]));
  return {
    ...configuration,
    webhooks: webhooks.map((each) => ({ ...each, failurePolicy: fallbacks.get(each.name) ?? each.failurePolicy })),
  };
}

/** A matchCondition of admissionregistration.k8s.io/v1. */
export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

/**
 * Returns conditions that exclude pods from the webhook, so that they start even if no replica
 * runs. Guard each field with has(): with failurePolicy Fail, an evaluation error would refuse the
 * pod.
 */
export function generatedMatchConditions(keys: Pick<WebhookKeys, 'inject'>): MatchCondition[] {
  const labels = 'has(object.metadata.labels)';
  const annotations = 'has(object.metadata.annotations)';
  const key = `'${keys.inject}'`;
  return [
    {
      // The pod uses the node's network: redirecting its traffic would redirect the node's traffic.
      name: matchConditionNames.hostNetwork,
      expression: '!(has(object.spec) && has(object.spec.hostNetwork) && object.spec.hostNetwork == true)',
    },
    {
      // As in Istio, the label has precedence: the annotation decides only if there is no label.
      name: matchConditionNames.optedOut,
      expression:
        `!(!(${labels} && ${key} in object.metadata.labels)` +
        ` && ${annotations} && ${key} in object.metadata.annotations && object.metadata.annotations[${key}] == 'false')`,
    },
    {
      // A mirror pod reflects a static pod that the kubelet already runs. Changing the mirror pod
      // has no effect.
      name: matchConditionNames.mirrorPod,
      expression: `!(${annotations} && 'kubernetes.io/config.mirror' in object.metadata.annotations)`,
    },
  ];
}
