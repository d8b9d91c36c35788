import { dryRun } from '../harness/admissions.ts';
import { applyUntilReady, smallConfig } from '../harness/injector-configs.ts';
import type { Scenario } from '../harness/scenario.ts';
import { barePod } from '../harness/workloads.ts';
import { checkLeasePolicy } from './roles/lease-policy.ts';
import { checkLeaseSize } from './roles/lease-size.ts';
import { checkGoneReplica, checkLeavingReplica } from './roles/gone-replicas.ts';
import { checkSecretRights } from './roles/secret-rights.ts';

const name = 'roles';

/** The chart as in production: controllers that lead, webhook replicas that serve, each with its own rights and nobody else's Lease. */
export const roles: Scenario = {
  name: 'roles',
  about: 'controllers and webhook replicas with rights of their own: what each may do, and what happens when one dies',
  run: async (context) => {
    const { client } = context;
    const replicas = await context.startReplicas({ webhooks: 2, controllers: 2, flags: ['--drain-seconds=1'] });
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
