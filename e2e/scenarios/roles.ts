import { replicaAnnotations } from '../../src/api/names.ts';
import { ApiClient } from '../../src/kube/api-client.ts';
import { loadKubeConfig } from '../../src/kube/kube-config.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { containersOf, refusalOf } from '../harness/admissions.ts';
import { applyObject, isGone, objectOf } from '../harness/apply.ts';
import {
  applyUntilReady,
  condition,
  injectorConfigs,
  smallConfig,
  waitForCondition,
  type InjectorConfigObject,
} from '../harness/injector-configs.ts';
import { workloadFor } from '../harness/installation.ts';
import { shortLeases } from '../harness/operator-process.ts';
import type { Pod } from '../harness/pod.ts';
import type { Replicas } from '../harness/replicas/replicas.ts';
import { isAllowed, type Access } from '../harness/rights/access-review.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { serviceAccountKubeconfig } from '../harness/service-account.ts';

const name = 'roles';

export const roles: Scenario = {
  name: 'roles',
  about: 'each role has only the rights that it needs, and pods are injected after a controller or a replica dies',
  run: async (context) => {
    const { client } = context;
    const flags = ['--drain-seconds=1', shortLeases];
    const replicas = await context.startReplicas({ webhooks: 2, controllers: 2, flags });
    const audit = context.requireAudit();
    await applyUntilReady(client, smallConfig(name));
    const namespace = await context.namespace('pods', { 'istio.io/rev': name });
    const injected = async () => (await containersOf(client, namespace)).includes(name);
    await context.check('a pod is injected', injected);
    await context.check('webhook replicas write only their own Leases', () => {
      const webhook = replicas.installation.usernames.find((user) => user.endsWith('-webhook')) ?? '';
      const writes = audit.writesBy(webhook, false);
      return writes.length === 0 && audit.writesBy(webhook).length > 0;
    });

    await checkSecretRights(context, replicas);
    await checkLeasePolicy(context, replicas);
    const bytes = await checkLeaseSize(context, replicas);
    const waited = await checkGoneReplica(context, replicas, injected);
    const afterLeaving = await checkLeavingReplica(context, replicas, injected);

    const leader = await replicas.waitForLeader();
    await replicas.kill(leader);
    for (let count = 0; count < 20; count++) {
      if (!(await injected())) throw new Error('a pod was not injected after the leader was killed');
    }
    await context.check('after the leader is killed, 20 of 20 pods are injected', () => true);
    await context.check('the other controller becomes the leader', () => replicas.leaderOtherThan(leader));
    await applyUntilReady(client, edited(2));
    await context.check('after the new leader publishes an edit, a pod is injected', injected);
    return `a Lease takes ${bytes} bytes per InjectorConfig; an edit was published ${waited} ms after a replica was killed, and within ${afterLeaving} ms after a replica ended`;
  },
};

function edited(edit: number): InjectorConfigObject {
  const config = smallConfig(name);
  config.spec.injection['values'] = { edit };
  return config;
}

/** Checks the entry of an InjectorConfig in the replicas' Leases. Returns its size in bytes. */
async function checkLeaseSize(context: ScenarioContext, replicas: Replicas): Promise<number> {
  const { namespace } = replicas.installation;
  let bytes = 0;
  for (const replica of replicas.webhooks) {
    await context.check(`the Lease of ${replica.name} names the hash and the certificate in use`, async () => {
      const lease = await context.client.get(leases, `injector-replica-${replica.name}`, { namespace });
      const text = lease.metadata.annotations?.[replicaAnnotations.serves] ?? '{}';
      const served = (JSON.parse(text) as Record<string, { hashes: string[]; certificate?: string }>)[name];
      bytes = JSON.stringify(served).length;
      return served?.hashes.length === 1 && /^[0-9a-f]{64}$/.test(served.certificate ?? '');
    });
  }
  return bytes;
}

/** Checks rights with SubjectAccessReviews, which put no forbidden requests into the audit log. */
async function checkSecretRights(context: ScenarioContext, { installation }: Replicas): Promise<void> {
  const user = installation.usernames.find((each) => each.endsWith('-webhook')) ?? '';
  const { namespace } = installation;
  const secrets = (verb: string, name?: string): Access => ({ verb, resource: 'secrets', ...(name && { name }) });
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
    secrets('watch', 'unrelated-serving'),
    { verb: 'create', resource: 'configmaps' },
    { verb: 'list', resource: 'leases', group: 'coordination.k8s.io' },
    { verb: 'patch', resource: 'roles', group: 'rbac.authorization.k8s.io', name: 'sidecar-injector-serving' },
  ];
  for (const attributes of [...may, ...mayNot]) {
    const expected = may.includes(attributes);
    const what = [attributes.verb, attributes.resource, attributes.name ?? ''].join(' ').trim();
    const isSo = async () => (await isAllowed(context.client, user, namespace, attributes)) === expected;
    await context.check(`a webhook replica ${expected ? 'may' : 'may not'} ${what}`, isSo, { timeout: 5000 });
  }
}

const leases = resourceKind('coordination.k8s.io/v1', 'Lease');

/** Checks that a replica's token can write only the replica's Lease, although RBAC allows more. */
async function checkLeasePolicy(context: ScenarioContext, replicas: Replicas): Promise<void> {
  const { installation } = replicas;
  const { namespace } = installation;
  const [own, other] = replicas.webhooks;
  if (own === undefined || other === undefined) throw new Error('two webhook replicas are needed');
  const { account } = workloadFor(installation.workloads, 'webhook');
  const as = async (pod: Pod | undefined) =>
    new ApiClient(
      loadKubeConfig({ kubeconfig: await serviceAccountKubeconfig(context.cluster, namespace, account, pod) }),
    );
  const [replica, unbound] = [await as(own.pod), await as(undefined)];
  try {
    const read = (name: string) => replica.get(leases, name, { namespace });
    const ownName = `injector-replica-${own.name}`;
    const elsewhere = objectOf('coordination.k8s.io/v1', 'Lease', 'injector-replica-invented', namespace);
    await context.check('a replica may write its own Lease', async () => {
      await replica.replace(await read(ownName));
      return true;
    });
    const attempts: [what: string, attempt: () => Promise<unknown>][] = [
      ['writes the Lease of the leader', async () => replica.replace(await read('injector-leader-default'))],
      ['deletes the Lease of the leader', async () => replica.delete(await read('injector-leader-default'))],
      ['writes the Lease of a peer', async () => replica.replace(await read(`injector-replica-${other.name}`))],
      ['deletes the Lease of a peer', async () => replica.delete(await read(`injector-replica-${other.name}`))],
      ['creates the Lease of another pod', () => replica.create(elsewhere)],
      ['writes its Lease with a token that is bound to no pod', async () => unbound.replace(await read(ownName))],
    ];
    for (const [what, attempt] of attempts) {
      await context.check(`the policy denies that a replica ${what}`, async () => {
        const message = (await refusalOf(attempt)) ?? 'it was allowed';
        if (message.includes('a webhook replica may write the Lease of its own pod only')) return true;
        throw new Error(message);
      });
    }
  } finally {
    replica.close();
    unbound.close();
  }
}

/** Kills a replica. Checks that an edit waits until the replica's Lease expires. Returns the ms. */
async function checkGoneReplica(context: ScenarioContext, replicas: Replicas, injected: () => Promise<boolean>) {
  const { client } = context;
  const [victim] = replicas.webhooks;
  if (victim === undefined) throw new Error('there is no webhook replica');
  const killed = await replicas.kill(victim);
  const { metadata } = await applyObject(client, edited(1));
  await context.check('an edit waits for a killed webhook replica, and condition Ready names the replica', async () => {
    const { message = '' } = condition(await client.get(injectorConfigs, name), 'Ready') ?? {};
    if (message.includes(`not served yet by ${victim.name}`)) return true;
    throw new Error(`the message is: ${message}`);
  });
  await replicas.waitUntilServing();
  await context.check('pods are injected while the edit waits', injected);
  await waitForCondition(client, name, 'Ready', 'True', metadata.generation);
  const waited = Date.now() - killed;
  await context.check(`the edit is published when the replica's Lease expires, ${waited} ms after the kill`, injected);
  const isRemoved = () => hasNoLease(context, replicas, victim.name);
  await context.check('the leader removes the Lease of the dead replica', isRemoved, { timeout: 90_000 });
  await victim.operator.restart();
  await replicas.waitUntilServing();
  return waited;
}

/** Ends a replica with SIGTERM. Checks that its Lease is deleted. Returns an edit's delay in ms. */
async function checkLeavingReplica(context: ScenarioContext, replicas: Replicas, injected: () => Promise<boolean>) {
  const { client } = context;
  const [leaving] = replicas.webhooks;
  if (leaving === undefined) throw new Error('there is no webhook replica');
  await leaving.operator.process.stop(30_000);
  await context.check('a webhook replica deletes its Lease on SIGTERM', () =>
    hasNoLease(context, replicas, leaving.name),
  );
  const began = Date.now();
  const { metadata } = await applyObject(client, edited(0));
  await waitForCondition(client, name, 'Ready', 'True', metadata.generation);
  const took = Date.now() - began;
  await context.check('an edit is published although a replica has ended', injected);
  await leaving.operator.restart();
  await replicas.waitUntilServing();
  return took;
}

function hasNoLease({ client }: ScenarioContext, { installation }: Replicas, replica: string): Promise<boolean> {
  return isGone(client, leases, `injector-replica-${replica}`, { namespace: installation.namespace });
}
