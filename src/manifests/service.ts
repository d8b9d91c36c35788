import type { KubernetesObject } from '../api/kubernetes.ts';
import type { ManifestContext } from './manifest-context.ts';

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
