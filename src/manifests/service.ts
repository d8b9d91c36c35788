import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import type { ManifestContext } from './manifest-context.ts';
import { base64 } from './secrets.ts';

/** The port of each Service, and the default port of a clientConfig. */
export const servicePort = 443;

/**
 * Returns the Service at which the API server calls a webhook. All Services select the same pods,
 * but each webhook needs its own Service, because the Service's name is the SNI.
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
  /** Replaces the Service: https://HOST[:PORT][/PATH]; {@link clientConfig} appends `path`. */
  readonly url?: string;
}

/** Returns a WebhookClientConfig with all defaults, so that it equals the live object. */
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
