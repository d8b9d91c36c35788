import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import type { ApiClient } from '../../src/kube/api-client.ts';
import { isNotFound } from '../../src/kube/api-error.ts';
import { resourceKind, type ResourceKind } from '../../src/kube/resource-kinds.ts';
import { managedBy, labelNames } from '../../src/api/labels.ts';
import { scenarioLabel } from './workloads.ts';

/** Kinds that the operator makes and that belong to no namespace, the blocking ones first. */
const webhookKinds = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'];

/**
 * Takes a scenario's traces off the cluster: webhooks, RevisionTags, InjectorConfigs (whose finalizer nobody may be left to handle),
 * the chart's objects at cluster scope, namespaces. Namespaces go in the background.
 */
export async function cleanUp(client: ApiClient, chartObjects: KubernetesObject[]): Promise<void> {
  const ours = { labelSelector: `${labelNames.managedBy}=${managedBy}` };
  for (const kind of webhookKinds) await removeAll(client, resourceKind('admissionregistration.k8s.io/v1', kind), ours);
  for (const kind of ['RevisionTag', 'InjectorConfig']) {
    await removeAll(client, resourceKind('sidecar-injector.io/v1alpha1', kind), {});
  }
  for (const object of chartObjects) {
    if (object.kind === 'CustomResourceDefinition' || object.metadata.namespace !== undefined) continue;
    await remove(client, object);
  }
  await removeAll(client, resourceKind('v1', 'Namespace'), { labelSelector: `${scenarioLabel}=true` });
}

async function removeAll(client: ApiClient, kind: ResourceKind, options: { labelSelector?: string }): Promise<void> {
  try {
    for (const object of (await client.listAll(kind, options)).items) await remove(client, object);
  } catch (error) {
    // The CRD may never have been installed.
    if (!isNotFound(error)) throw error;
  }
}

async function remove(client: ApiClient, object: KubernetesObject): Promise<void> {
  try {
    if ((object.metadata.finalizers ?? []).length > 0) {
      await client.patch(object, 'merge', { metadata: { finalizers: null } });
    }
    await client.delete(object, { propagationPolicy: 'Background' });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}
