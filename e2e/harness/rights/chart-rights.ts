import type { KubernetesObject } from '../../../src/api/kubernetes.ts';

/** One verb on one resource, as one rule of one role of the chart gives it to one of its ServiceAccounts. */
export interface Right {
  /** Name of the ServiceAccount. */
  account: string;
  /** `Role NAME` or `ClusterRole NAME`. */
  role: string;
  /** Where it holds; undefined for the whole cluster. */
  namespace: string | undefined;
  apiGroup: string;
  /** With its subresource: `injectorconfigs/status`. */
  resource: string;
  /** Only these objects; empty for all. */
  names: readonly string[];
  verb: string;
}

interface Role extends KubernetesObject {
  rules?: { apiGroups?: string[]; resources?: string[]; resourceNames?: string[]; verbs: string[] }[];
}

interface Binding extends KubernetesObject {
  roleRef: { kind: string; name: string };
  subjects: { kind: string; name: string; namespace?: string }[];
}

/**
 * Every right that the chart gives its own ServiceAccounts. Roles that it binds to nobody (those that aggregate to people's roles) are not meant, nor is a
 * Role that the operator writes itself.
 */
export function chartRights(objects: KubernetesObject[]): Right[] {
  const isBinding = (object: KubernetesObject): object is Binding => object.kind.endsWith('RoleBinding');
  return objects.filter(isBinding).flatMap(({ roleRef, subjects, metadata: { namespace } }) => {
    const role = objects.find(
      ({ kind, metadata }) =>
        kind === roleRef.kind &&
        metadata.name === roleRef.name &&
        (kind === 'ClusterRole' || metadata.namespace === namespace),
    ) as Role | undefined;
    return subjects.flatMap(({ name }) => rightsOf(role, name, namespace));
  });
}

function rightsOf(role: Role | undefined, account: string, namespace: string | undefined): Right[] {
  return (role?.rules ?? []).flatMap(({ apiGroups = [], resources = [], resourceNames = [], verbs }) =>
    apiGroups.flatMap((apiGroup) =>
      resources.flatMap((resource) =>
        verbs.map((verb) => ({
          account,
          role: `${role?.kind ?? ''} ${role?.metadata.name ?? ''}`,
          namespace,
          apiGroup,
          resource,
          names: resourceNames,
          verb,
        })),
      ),
    ),
  );
}
