import type { KubernetesObject } from '../api/kubernetes.ts';
import { base64 } from '../manifests/secrets.ts';

/**
 * A live webhook configuration as it is, but for its caBundle: for when the spec's webhook cannot be built, and the rotation must go on
 * nevertheless.
 */
export function withCaBundle(live: KubernetesObject, caBundlePem: string): KubernetesObject {
  const { name, labels, ownerReferences } = live.metadata;
  const webhooks = (live.webhooks ?? []) as { clientConfig?: Record<string, unknown> }[];
  return {
    apiVersion: live.apiVersion,
    kind: live.kind,
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(labels === undefined ? {} : { labels }),
      ...(ownerReferences === undefined ? {} : { ownerReferences }),
    },
    webhooks: webhooks.map((webhook) => ({
      ...webhook,
      clientConfig: { ...webhook.clientConfig, caBundle: base64(caBundlePem) },
    })),
  };
}
