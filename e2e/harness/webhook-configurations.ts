import type { KubernetesObject, LabelSelectorRequirement } from '../../src/api/kubernetes/kubernetes.ts';
import { objectNames, serviceHostName } from '../../src/api/names.ts';
import type { ApiClient } from '../../src/kube/api-client.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { objectOf } from './apply.ts';
import type { ReviewTarget } from './post-review.ts';

export const webhooks = resourceKind('admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration');
export const validatingWebhooks = resourceKind('admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration');

/** The fields of a webhook that scenarios read. */
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

/** Builds a webhook configuration that has only a name, as a target for requests. */
export function webhookNamed(name: string): KubernetesObject {
  return objectOf('admissionregistration.k8s.io/v1', webhooks.kind, name);
}

/** Reads an InjectorConfig's webhook configuration. */
export async function webhookOf(client: ApiClient, injectorConfig: string): Promise<WebhookConfiguration> {
  return client.get<WebhookConfiguration>(webhooks, objectNames(injectorConfig).webhookConfiguration);
}

/** Returns the webhooks of a webhook configuration, with replaced parts of `clientConfig`. */
export function redirected({ webhooks: all }: WebhookConfiguration, parts: object): Webhook[] {
  return all.map((each) => ({ ...each, clientConfig: { ...each.clientConfig, ...parts } }));
}

/**
 * Returns how to call a process on this machine as the API server does, with the webhook's current
 * path, CA bundle and server name.
 *
 * @param namespace the operator's namespace
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
