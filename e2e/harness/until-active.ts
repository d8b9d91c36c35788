import { randomUUID } from 'node:crypto';
import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import type { ApiClient } from '../../src/kube/api-client.ts';
import { ApiError } from '../../src/kube/api-error.ts';
import { waitFor } from './wait-for.ts';

export interface ActiveOptions {
  /** Validating webhook configurations instead of mutating ones. */
  validating?: boolean;
  /** A namespace whose labels must be heeded as well; null: one that must be gone. */
  namespace?: { name: string; labels: Readonly<Record<string, string | null>> };
}

/** An object with this label concerns nobody but the configuration that is made for its value. */
const label = 'e2e.sidecar-injector.io/in-force';
const webhookName = 'in-force.e2e.sidecar-injector.io';

/**
 * Waits until the API server acts by every webhook configuration that was stored or deleted before this was called. It follows them by a watch of its own,
 * which may be late by seconds on a busy machine, and nothing tells how far it has come (k8s.io/apiserver pkg/admission/configuration). But a watch keeps the
 * order: a configuration that is stored now, and stops an object that nobody else makes, is heeded after all that were there before it.
 */
export async function untilActive(client: ApiClient, options: ActiveOptions = {}): Promise<void> {
  const { namespace } = options;
  const nonce = randomUUID();
  const configuration = stopping(nonce, options);
  const asked: KubernetesObject = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `in-force-${nonce}`, namespace: namespace?.name ?? 'default', labels: { [label]: nonce } },
  };
  await client.create(configuration);
  try {
    const what = namespace === undefined ? 'webhook configurations' : `the labels of namespace ${namespace.name}`;
    await waitFor(`the API server to heed ${what}`, () => isStopped(client, asked), { interval: 20 });
  } finally {
    await client.delete(configuration);
  }
}

async function isStopped(client: ApiClient, asked: KubernetesObject): Promise<boolean> {
  try {
    await client.create(asked, { dryRun: true });
    return false;
  } catch (error) {
    if (error instanceof ApiError && error.message.includes(`webhook "${webhookName}"`)) return true;
    throw error;
  }
}

/** Nobody answers it, so what it selects is refused. */
function stopping(nonce: string, { validating = false, namespace }: ActiveOptions): KubernetesObject {
  const labels = Object.entries(namespace?.labels ?? {});
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: `${validating ? 'Validating' : 'Mutating'}WebhookConfiguration`,
    metadata: { name: `e2e-in-force-${nonce}` },
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
