import { group } from '../api/injector-config/injector-config.ts';
import type { KubernetesObject, LabelSelector } from '../api/kubernetes/kubernetes.ts';
import { type ConfigurationRef, routeOf } from '../routing/route.ts';
import { takesPodCreations, type WebhookRule } from '../selection/webhook-rules.ts';

/** The fields that affect the API server's choice. Absent fields have the API server's defaults. */
export interface MutatingWebhook {
  readonly name: string;
  readonly clientConfig?: {
    readonly url?: string;
    readonly service?: { readonly namespace?: string; readonly name?: string; readonly path?: string };
  };
  readonly rules?: readonly WebhookRule[];
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[];
  readonly failurePolicy?: 'Fail' | 'Ignore';
  readonly reinvocationPolicy?: 'Never' | 'IfNeeded';
}

/** The configuration that one of our webhooks uses. */
export interface WebhookTarget extends ConfigurationRef {
  /** The webhook's RevisionTag; absent if the webhook belongs to an InjectorConfig. */
  readonly tag?: string;
  /** The namespace of the operator's Service; undefined if the webhook has a URL. */
  readonly namespace: string | undefined;
}

/** A webhook for the creation of pods. */
export interface PodWebhook {
  /** The name of the webhook's MutatingWebhookConfiguration. */
  readonly webhookConfiguration: string;
  /** The creation time of that configuration (RFC 3339); undefined if it comes from a file. */
  readonly createdAt: string | undefined;
  readonly webhook: MutatingWebhook;
  /** The target of our webhook; undefined for another product's webhook. */
  readonly target: WebhookTarget | undefined;
  /** The target for some workloads during the rollout of a tag. */
  readonly canary?: RolloutCanary;
}

/** The canary of a rollout, and the threshold that decides which workloads use the canary. */
export interface RolloutCanary {
  readonly tag: string;
  /** The threshold in 16 hex digits (see `src/rollout`). */
  readonly threshold: string;
  readonly target: WebhookTarget;
}

/**
 * Returns the webhooks for pod creation in the API server's call order: by object name, then in
 * list order (k8s.io/apiserver/pkg/admission/configuration/mutating_webhook_manager.go).
 */
export function podWebhooks(configurations: readonly KubernetesObject[]): PodWebhook[] {
  return [...configurations]
    .sort((one, other) => ((one.metadata.name ?? '') < (other.metadata.name ?? '') ? -1 : 1))
    .flatMap(({ metadata: { name = '', creationTimestamp: createdAt }, webhooks }) =>
      (Array.isArray(webhooks) ? (webhooks as MutatingWebhook[]) : [])
        .filter(({ rules = [] }) => rules.some(takesPodCreations))
        .map((webhook) => ({ webhookConfiguration: name, createdAt, webhook, ...targetsOf(webhook) })),
    );
}

function targetsOf({ name, clientConfig = {} }: MutatingWebhook): Pick<PodWebhook, 'target' | 'canary'> {
  if (!name.endsWith(`.${group}`)) return { target: undefined };
  const route = routeOf(clientConfig);
  if (route === undefined) return { target: undefined };
  const { tag } = route;
  const namespace = clientConfig.service?.namespace;
  const to = (ref: ConfigurationRef): WebhookTarget => ({ ...ref, ...(tag === undefined ? {} : { tag }), namespace });
  const target = to(route.stable);
  if (route.canary === undefined || route.shadow) return { target };
  return { target, canary: { tag: route.tag, threshold: route.threshold, target: to(route.canary) } };
}
