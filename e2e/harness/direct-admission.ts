import type { KubernetesObject } from '../../src/api/kubernetes.ts';
import { objectNames, serviceHostName } from '../../src/api/names.ts';
import type { ApiClient } from '../../src/kube/api-client.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { postReview } from './post-review.ts';
import { barePod } from './workloads.ts';

interface WebhookConfiguration extends KubernetesObject {
  webhooks: { clientConfig: { caBundle: string; service?: { path: string } } }[];
}

/** Asks replicas for a pod's admission without the API server, as it would ask: what its webhook configuration said last, by TLS, by name. */
export class DirectAdmission {
  readonly #target: { path: string; serverName: string; authority: string };

  private constructor(target: { path: string; serverName: string; authority: string }) {
    this.#target = target;
  }

  /** @param namespace the operator's own */
  static async prepare(client: ApiClient, injectorConfig: string, namespace: string): Promise<DirectAdmission> {
    const names = objectNames(injectorConfig);
    const kind = resourceKind('admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration');
    const { webhooks } = await client.get<WebhookConfiguration>(kind, names.webhookConfiguration);
    const { caBundle = '', service } = webhooks[0]?.clientConfig ?? {};
    return new DirectAdmission({
      path: service?.path ?? '',
      serverName: serviceHostName(names.service, namespace),
      authority: Buffer.from(caBundle, 'base64').toString('utf8'),
    });
  }

  /** Whether the process on a port injects a pod. */
  async injects(port: number): Promise<boolean> {
    const uid = `direct-${port}`;
    const request = {
      uid,
      kind: { group: '', version: 'v1', kind: 'Pod' },
      resource: { group: '', version: 'v1', resource: 'pods' },
      namespace: 'direct',
      operation: 'CREATE',
      object: barePod('direct', 'pod'),
    };
    const body = JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request });
    const { review } = await postReview({ ...this.#target, port }, body);
    return review?.response?.uid === uid && review.response.allowed && review.response.patch !== undefined;
  }
}
