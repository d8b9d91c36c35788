import type { KubernetesObject, LabelSelectorRequirement } from '../../src/api/kubernetes/kubernetes.ts';
import { objectNames, serviceHostName } from '../../src/api/names.ts';
import type { ApiClient } from '../../src/kube/api-client.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { objectOf } from './apply.ts';
import type { ReviewTarget } from './post-review.ts';

export const webhooks = resourceKind('admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration');
export const validatingWebhooks = resourceKind('admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration');

/** A webhook as far as scenarios read it. */
export interface Webhook {
  name: string;
  clientConfig: {
    caBundle?: string;
    url?: string;
    service?: { path: string; name?: string; namespace?: string };
    [field: string]: unknown;
  };
  namespaceSelector: { matchExpressions: LabelSelectorRequirement[] };
  [field: string]: unknown;
}

export type WebhookConfiguration = KubernetesObject & { webhooks: Webhook[] };

/** What names a configuration, to be created, patched or deleted. */
export function webhookNamed(name: string): KubernetesObject {
  return objectOf('admissionregistration.k8s.io/v1', webhooks.kind, name);
}

/** The webhook configuration of an InjectorConfig as it is stored. */
export async function webhookOf(client: ApiClient, injectorConfig: string): Promise<WebhookConfiguration> {
  return client.get<WebhookConfiguration>(webhooks, objectNames(injectorConfig).webhookConfiguration);
}

/** The webhooks of a configuration with other parts of their `clientConfig`. */
export function redirected({ webhooks: all }: WebhookConfiguration, parts: object): Webhook[] {
  return all.map((each) => ({ ...each, clientConfig: { ...each.clientConfig, ...parts } }));
}

/**
 * How to ask a process on this machine as the API server asks: what the webhook configuration says now, by TLS, by name.
 *
 * @param namespace the operator's own
 */
export async function reviewTarget(
  client: ApiClient,
  injectorConfig: string,
  namespace: string,
  port = 0,
): Promise<ReviewTarget> {
  const [webhook] = (await webhookOf(client, injectorConfig)).webhooks;
  const { caBundle = '', service } = webhook?.clientConfig ?? {};
  return {
    port,
    path: service?.path ?? '',
    serverName: serviceHostName(objectNames(injectorConfig).service, namespace),
    authority: Buffer.from(caBundle, 'base64').toString('utf8'),
  };
}
