import { isAllowed, type Access } from '../../harness/rights/access-review.ts';
import type { Replicas } from '../../harness/replicas/replicas.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';

/** What the webhook's ServiceAccount may and may not do, asked of the API server (SubjectAccessReview), so that no refusal of it is in the audit log. */
export async function checkSecretRights(context: ScenarioContext, { installation }: Replicas): Promise<void> {
  const user = installation.usernames.find((each) => each.endsWith('-webhook')) ?? '';
  const { namespace } = installation;
  const secrets = (verb: string, name?: string): Access => {
    return { verb, resource: 'secrets', ...(name === undefined ? {} : { name }) };
  };
  const may = [
    secrets('watch', 'sidecar-injector-roles-serving'),
    secrets('list', 'injector-validator-default-serving'),
    { verb: 'watch', resource: 'configmaps' },
  ];
  const mayNot = [
    secrets('list'),
    secrets('watch', 'sidecar-injector-roles'),
    secrets('get', 'sidecar-injector-roles-serving'),
    secrets('patch', 'sidecar-injector-roles-serving'),
    secrets('watch', 'somebody-elses-serving'),
    { verb: 'create', resource: 'configmaps' },
    { verb: 'list', resource: 'leases', group: 'coordination.k8s.io' },
    { verb: 'patch', resource: 'roles', group: 'rbac.authorization.k8s.io', name: 'sidecar-injector-serving' },
  ];
  for (const attributes of [...may, ...mayNot]) {
    const expected = may.includes(attributes);
    const what = [attributes.verb, attributes.resource, attributes.name ?? ''].join(' ').trim();
    await context.check(
      `a webhook replica ${expected ? 'may' : 'may not'} ${what}`,
      async () => (await isAllowed(context.client, user, namespace, attributes)) === expected,
      { timeout: 5000 },
    );
  }
}
