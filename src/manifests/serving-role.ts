import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { labelNames, managedBy, servingRoleName } from '../api/names.ts';
import type { ManifestContext } from './manifest-context.ts';

/**
 * What replicas may read of Secrets: these, each by its name (a list or watch with `fieldSelector=metadata.name=…` is authorized by resourceNames;
 * kubernetes.io/docs/reference/access-authn-authz/rbac, "Referring to resources").
 * @param secretNames at least one: a rule without resourceNames would allow every Secret
 */
export function servingRole(
  secretNames: readonly [string, ...string[]],
  { namespace, operatorClass }: Pick<ManifestContext, 'namespace' | 'operatorClass'>,
): KubernetesObject {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: {
      name: servingRoleName(operatorClass),
      namespace,
      labels: { [labelNames.managedBy]: managedBy, [labelNames.operatorClass]: operatorClass },
    },
    rules: [
      { apiGroups: [''], resources: ['secrets'], resourceNames: [...secretNames].sort(), verbs: ['list', 'watch'] },
    ],
  };
}
