import { group } from '../api/injector-config/injector-config.ts';
import type { KubernetesObject, LabelSelector } from '../api/kubernetes/kubernetes.ts';
import { type ConfigurationRef, routeOf } from '../routing/route.ts';
import { takesPodCreations, type WebhookRule } from '../selection/webhook-rules.ts';

/** A webhook of admissionregistration.k8s.io/v1 as far as the API server's choice depends on it. Absent fields have the API server's defaults. */
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

/** The configuration of ours that a webhook sends pods to. */
export interface WebhookTarget extends ConfigurationRef {
  /** The RevisionTag whose webhook it is; absent for the InjectorConfig's own. */
  readonly tag?: string;
  /** The namespace of its Service, which is the operator's; undefined for a webhook by URL. */
  readonly namespace: string | undefined;
}

/** One webhook that is asked about the creation of pods. */
export interface PodWebhook {
  /** metadata.name of its MutatingWebhookConfiguration. */
  readonly configuration: string;
  /** When that was made, RFC 3339; undefined for one that is not in a cluster. */
  readonly createdAt: string | undefined;
  readonly webhook: MutatingWebhook;
  /** Undefined for other injectors' webhooks, whose answer nobody here knows. */
  readonly target: WebhookTarget | undefined;
  /** In the rollout of a tag: where it sends the pods of some workloads instead. */
  readonly canary?: RolloutCanary;
}

/** Who gets the canary of a rollout, and where that is. */
export interface RolloutCanary {
  readonly tag: string;
  /** 16 hex digits, see `src/rollout`. */
  readonly threshold: string;
  readonly target: WebhookTarget;
}

/**
 * The webhooks that concern the creation of pods, in the order in which the API server asks them: configurations by name, then as they stand
 * (k8s.io/apiserver/pkg/admission/configuration/mutating_webhook_manager.go).
 */
export function podWebhooks(configurations: readonly KubernetesObject[]): PodWebhook[] {
  return [...configurations]
    .sort((one, other) => ((one.metadata.name ?? '') < (other.metadata.name ?? '') ? -1 : 1))
    .flatMap(({ metadata: { name = '', creationTimestamp }, webhooks }) =>
      (Array.isArray(webhooks) ? (webhooks as MutatingWebhook[]) : [])
        .filter(({ rules = [] }) => rules.some(takesPodCreations))
        .map((webhook) => ({ configuration: name, createdAt: creationTimestamp, webhook, ...targetsOf(webhook) })),
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
