import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { describeEvent, type AuditEvent } from '../audit-log.ts';
import type { Installation } from '../installation.ts';

/** The rights with the numbers of their uses, and the refused requests. */
export interface RightsSnapshot {
  readonly uses: readonly (readonly [right: string, uses: number])[];
  readonly refusals: readonly string[];
}

/** Collects which rights of the production chart (mode split) the scenarios of a run used. */
export class RightsUsed {
  readonly #uses = new Map<string, number>();
  /** Distinct requests that RBAC refused. */
  readonly refusals = new Set<string>();

  collect(installation: Installation, events: AuditEvent[]): void {
    const isSplit = installation.workloads.some(({ role }) => role === 'webhook');
    const rights = isSplit ? chartRights(installation.objects) : [];
    for (const right of rights) this.#note(right, installation.namespace, 0);
    for (const event of events) {
      const prefix = `system:serviceaccount:${installation.namespace}:`;
      if (!installation.usernames.includes(event.user.username)) continue;
      const { code, message = '' } = event.responseStatus ?? {};
      if (code === 403 && message.includes(' cannot ')) {
        this.refusals.add(describeEvent(event));
        continue;
      }
      const account = event.user.username.slice(prefix.length);
      for (const verb of verbsOf(event)) {
        const [needed] = rights
          .filter((right) => right.account === account && right.verb === verb && covers(right, event))
          .sort((one, other) => breadth(one) - breadth(other));
        if (needed !== undefined) this.#note(needed, installation.namespace, 1);
      }
    }
  }

  snapshot(): RightsSnapshot {
    return { uses: [...this.#uses], refusals: [...this.refusals] };
  }

  /** Adds rights that other scenarios used. Only whether a right was used matters. */
  add({ uses, refusals }: RightsSnapshot): void {
    for (const [right, count] of uses) this.#uses.set(right, Math.max(this.#uses.get(right) ?? 0, count));
    for (const refusal of refusals) this.refusals.add(refusal);
  }

  /** The number of rights; 0 if no scenario installed the production chart. */
  get count(): number {
    return this.#uses.size;
  }

  unused(): string[] {
    return [...this.#uses].filter(([, uses]) => uses === 0).map(([right]) => right);
  }

  #note(right: Right, ownNamespace: string, uses: number): void {
    const { account, role, apiGroup, resource, names, verb } = right;
    const place = right.namespace === ownNamespace ? 'its own namespace' : right.namespace;
    const where = place === undefined ? '' : ` in ${place}`;
    const what = `${verb} ${resource}${apiGroup === '' ? '' : `.${apiGroup}`}${names.length === 0 ? '' : ` ${names.join(', ')}`}`;
    const text = `${account}: ${what}${where} (${role.replaceAll(`-${ownNamespace}`, '')})`;
    this.#uses.set(text, (this.#uses.get(text) ?? 0) + uses);
  }
}

/** Returns the verbs that a request needs. An apply that creates an object also needs `create`. */
function verbsOf({ verb, responseStatus }: AuditEvent): string[] {
  return verb === 'patch' && responseStatus?.code === 201 ? ['patch', 'create'] : [verb];
}

function covers(right: Right, { objectRef }: AuditEvent): boolean {
  if (objectRef === undefined) return false;
  const { apiGroup = '', resource = '', subresource, namespace, name = '' } = objectRef;
  const target = subresource === undefined ? resource : `${resource}/${subresource}`;
  return (
    right.apiGroup === apiGroup &&
    right.resource === target &&
    (right.namespace === undefined || right.namespace === namespace) &&
    (right.names.length === 0 || right.names.includes(name))
  );
}

/** Ranks rights by scope. If several rights allow a request, the narrowest counts as used. */
function breadth(right: Right): number {
  return (right.namespace === undefined ? 2 : 0) + (right.names.length === 0 ? 1 : 0);
}

interface Right {
  account: string;
  /** `Role NAME` or `ClusterRole NAME`. */
  role: string;
  /** The namespace in which the right applies; undefined for the whole cluster. */
  namespace: string | undefined;
  apiGroup: string;
  /** The resource with its subresource, for example `injectorconfigs/status`. */
  resource: string;
  /** The names of the objects; empty for all objects. */
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
 * Returns every right that the chart grants to its ServiceAccounts. Omits unbound roles, which
 * aggregate to users' roles, and the Role that the operator writes.
 */
function chartRights(objects: KubernetesObject[]): Right[] {
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
