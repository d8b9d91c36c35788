import type { KubernetesObject } from '../../src/api/kubernetes.ts';
import type { ApiClient } from '../../src/kube/api-client.ts';
import { isNotFound } from '../../src/kube/api-error.ts';

/**
 * The order in which helm removes a release, as far as our chart's kinds go (helm v4 pkg/release/v1/util/kind_sorter.go, UninstallOrder): webhook
 * configurations first, kinds that it does not know last.
 */
const order = [
  'ValidatingWebhookConfiguration',
  'MutatingWebhookConfiguration',
  'Service',
  'Deployment',
  'RoleBinding',
  'Role',
  'ClusterRoleBinding',
  'ClusterRole',
  'ServiceAccount',
  'PodDisruptionBudget',
  'NetworkPolicy',
];

/**
 * Deletes a release's objects as `helm uninstall` does: one after the other, in its order, in the background; what is in the chart's `crds` stays.
 * @param before called before the first object of a kind is deleted
 */
export async function uninstallAsHelm(
  client: ApiClient,
  objects: readonly KubernetesObject[],
  before: (kind: string) => Promise<void>,
): Promise<void> {
  const rank = ({ kind }: KubernetesObject): number => (order.includes(kind) ? order.indexOf(kind) : order.length);
  const release = objects.filter(({ kind }) => kind !== 'CustomResourceDefinition');
  let last = '';
  for (const object of [...release].sort((one, other) => rank(one) - rank(other) || (one.kind < other.kind ? -1 : 1))) {
    if (object.kind !== last) await before(object.kind);
    last = object.kind;
    await client.delete(object, { propagationPolicy: 'Background' }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }
}
