import { randomUUID } from 'node:crypto';
import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import type { ApiClient } from '../../src/kube/api-client.ts';
import { ApiError } from '../../src/kube/api-error.ts';
import { waitFor } from './wait-for.ts';

export interface ActiveOptions {
  /** Waits for validating instead of mutating webhook configurations. */
  validating?: boolean;
  /** A namespace whose labels must also be in use. A null value means that a label is absent. */
  namespace?: { name: string; labels: Readonly<Record<string, string | null>> };
}

/** The label that only the probe object has. */
const label = 'e2e.sidecar-injector.io/activation';
const webhookName = 'activation.e2e.sidecar-injector.io';

/**
 * Waits until the API server uses every webhook configuration as it was stored before this call.
 * The API server's informer may lag by seconds and reports no progress (k8s.io/apiserver
 * pkg/admission/configuration), but keeps the order: once a new webhook blocks a probe object, all
 * earlier changes are active.
 */
export async function untilActive(client: ApiClient, options: ActiveOptions = {}): Promise<void> {
  const { namespace } = options;
  const nonce = randomUUID();
  const configuration = stopping(nonce, options);
  const probe: KubernetesObject = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `activation-${nonce}`, namespace: namespace?.name ?? 'default', labels: { [label]: nonce } },
  };
  await client.create(configuration);
  try {
    const what = namespace === undefined ? 'webhook configurations' : `the labels of namespace ${namespace.name}`;
    await waitFor(`the API server to use ${what}`, () => isStopped(client, probe), { interval: 20 });
  } finally {
    await client.delete(configuration);
  }
}

async function isStopped(client: ApiClient, probe: KubernetesObject): Promise<boolean> {
  try {
    await client.create(probe, { dryRun: true });
    return false;
  } catch (error) {
    if (error instanceof ApiError && error.message.includes(`webhook "${webhookName}"`)) return true;
    throw error;
  }
}

/** Builds a webhook configuration that has no server, so that the probe object is refused. */
function stopping(nonce: string, { validating = false, namespace }: ActiveOptions): KubernetesObject {
  const labels = Object.entries(namespace?.labels ?? {});
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: `${validating ? 'Validating' : 'Mutating'}WebhookConfiguration`,
    metadata: { name: `e2e-activation-${nonce}` },
    webhooks: [
      {
        name: webhookName,
        admissionReviewVersions: ['v1'],
        clientConfig: { url: 'https://127.0.0.1:1/' },
        failurePolicy: 'Fail',
        sideEffects: 'None',
        timeoutSeconds: 1,
        objectSelector: { matchLabels: { [label]: nonce } },
        namespaceSelector: {
          matchExpressions: labels.map(([key, value]) =>
            value === null ? { key, operator: 'DoesNotExist' } : { key, operator: 'In', values: [value] },
          ),
        },
        rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
      },
    ],
  };
}
