import { replicaAnnotations } from '../../src/api/labels.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { dryRun } from '../harness/admissions.ts';
import { applyUntilReady, smallConfig } from '../harness/injector-configs.ts';
import { shortLeases } from '../harness/operator-process.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { barePod } from '../harness/workloads.ts';
import { checkLeasePolicy } from './roles/lease-policy.ts';
import { checkGoneReplica, checkLeavingReplica } from './roles/gone-replicas.ts';
import type { Replicas } from '../harness/replicas/replicas.ts';
import { isAllowed, type Access } from '../harness/rights/access-review.ts';

const name = 'roles';

/** The chart as in production: controllers that lead, webhook replicas that serve, each with its own rights and nobody else's Lease. */
export const roles: Scenario = {
  name: 'roles',
  about: 'controllers and webhook replicas with rights of their own: what each may do, and what happens when one dies',
  run: async (context) => {
    const { client } = context;
    const replicas = await context.startReplicas({
      webhooks: 2,
      controllers: 2,
      flags: ['--drain-seconds=1', shortLeases],
    });
    const audit = context.startAudit();
    await applyUntilReady(client, smallConfig(name));
    const namespace = await context.namespace('pods', { 'istio.io/rev': name });
    const injected = async () =>
      (await dryRun(client, barePod(namespace, 'pod'))).spec.containers.some((each) => each.name === name);
    await context.check('a pod is injected', injected);
    await context.check('no webhook replica wrote anything but its own Lease', () => {
      const webhook = replicas.installation.usernames.find((user) => user.endsWith('-webhook')) ?? '';
      const writes = audit?.writesBy(webhook, false) ?? [];
      return audit === undefined || (writes.length === 0 && audit.writesBy(webhook).length > 0);
    });

    await checkSecretRights(context, replicas);
    await checkLeasePolicy(context, replicas);
    const bytes = await checkLeaseSize(context, replicas, name);
    const waited = await checkGoneReplica(context, replicas, injected);
    const left = await checkLeavingReplica(context, replicas, injected);

    const leader = await replicas.waitForLeader();
    await replicas.kill(leader);
    for (let count = 0; count < 20; count++) {
      if (!(await injected())) throw new Error('a pod was not injected after the controller was killed');
    }
    await context.check('the controller that leads is killed: 20 of 20 pods are injected', () => true);
    await context.check('the other controller leads, and publishes an edit', async () => {
      const holder = await replicas.leader();
      return holder !== leader && holder;
    });
    const edited = smallConfig(name);
    edited.spec.injection['values'] = { edit: 2 };
    await applyUntilReady(client, edited);
    await context.check('which is injected', injected);
    return `a Lease takes ${bytes} bytes per InjectorConfig; a killed replica held up an edit for ${waited} ms, one that left for ${left} ms`;
  },
};

/** What a replica's Lease says of one InjectorConfig, and how many bytes that takes. */
export async function checkLeaseSize(context: ScenarioContext, replicas: Replicas, name: string): Promise<number> {
  const leases = resourceKind('coordination.k8s.io/v1', 'Lease');
  const { namespace } = replicas.installation;
  let bytes = 0;
  for (const replica of replicas.webhooks) {
    await context.check(`the Lease of ${replica.name} says which hash and certificate it serves`, async () => {
      const lease = await context.client.get(leases, `injector-replica-${replica.name}`, {
        namespace,
      });
      const text = lease.metadata.annotations?.[replicaAnnotations.serves] ?? '{}';
      const served = (JSON.parse(text) as Record<string, { hashes: string[]; certificate?: string }>)[name];
      bytes = JSON.stringify(served).length;
      return served?.hashes.length === 1 && /^[0-9a-f]{64}$/.test(served.certificate ?? '');
    });
  }
  return bytes;
}

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
