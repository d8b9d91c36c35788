import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import type { ManifestContext } from './manifest-context.ts';
import { base64 } from './secrets.ts';

/** The port of the Service: what the API server assumes when a clientConfig names none. */
export const servicePort = 443;

/**
 * The Service through which the API server calls a webhook. Its name is the SNI and the name in the certificate, so every webhook
 * has its own although all of them lead to the same pods.
 */
export function webhookService(
  name: string,
  labels: Readonly<Record<string, string>>,
  { namespace, podSelector, targetPort, advertise }: ManifestContext,
): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace, labels: { ...labels } },
    spec:
      advertise === undefined
        ? {
            type: 'ClusterIP',
            selector: { ...podSelector },
            ports: [{ name: 'https', port: servicePort, protocol: 'TCP', targetPort }],
          }
        : { type: 'ExternalName', externalName: advertise.host },
  };
}

interface ClientConfigInput {
  readonly service: string;
  readonly path: string;
  readonly caBundlePem: string;
  /** Instead of the Service: https://HOST[:PORT][/PATH], to which `path` is appended. */
  readonly url?: string;
}

/** WebhookClientConfig of admissionregistration.k8s.io/v1, with every default written out so that comparing finds no difference. */
export function clientConfig(
  { service, path, caBundlePem, url }: ClientConfigInput,
  { namespace, advertise }: ManifestContext,
): Record<string, unknown> {
  const caBundle = base64(caBundlePem);
  if (url !== undefined) return { caBundle, url: withoutTrailingSlashes(url) + path };
  return { caBundle, service: { namespace, name: service, path, port: advertise?.port ?? servicePort } };
}

function withoutTrailingSlashes(url: string): string {
  let end = url.length;
  while (url[end - 1] === '/') end -= 1;
  return url.slice(0, end);
}
