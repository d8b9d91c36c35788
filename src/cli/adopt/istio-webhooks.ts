import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { podWebhooks, type PodWebhook } from '../../explain/pod-webhook.ts';

/** The end of the names of all webhooks of Istio's injector, also those of tags. */
const istioSuffix = 'sidecar-injector.istio.io';

/** Returns the webhooks of Istio's injector, in the API server's call order. */
export function istioWebhooks(configurations: readonly KubernetesObject[]): PodWebhook[] {
  return podWebhooks(configurations).filter(({ webhook }) => webhook.name.endsWith(istioSuffix));
}
