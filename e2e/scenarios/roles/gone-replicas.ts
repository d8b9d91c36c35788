import { isNotFound } from '../../../src/kube/api-error.ts';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import { applyObject } from '../../harness/apply.ts';
import { condition, injectorConfigs, smallConfig, waitForCondition } from '../../harness/injector-configs.ts';
import type { Replicas } from '../../harness/replicas/replicas.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';

const leases = resourceKind('coordination.k8s.io/v1', 'Lease');
const name = 'roles';

/** SIGKILL of a webhook replica: an edit waits for it, by name, until its Lease has expired. Returns for how many milliseconds. */
export async function checkGoneReplica(
  context: ScenarioContext,
  replicas: Replicas,
  injected: () => Promise<boolean>,
): Promise<number> {
  const { client } = context;
  const [victim] = replicas.webhooks;
  if (victim === undefined) throw new Error('there is no webhook replica');
  const killed = await replicas.kill(victim);
  const edited = smallConfig(name);
  edited.spec.injection['values'] = { edit: 1 };
  const { metadata } = await applyObject(client, edited);
  await context.check('a webhook replica is killed: an edit waits for it, and says for whom', async () => {
    const { message = '' } = condition(await client.get(injectorConfigs, name), 'Ready') ?? {};
    if (message.includes(`not served yet by ${victim.name}`)) return true;
    throw new Error(`it says: ${message}`);
  });
  await replicas.waitUntilServing();
  await context.check('meanwhile pods are injected', injected);
  await waitForCondition(client, name, 'Ready', 'True', metadata.generation);
  const waited = Date.now() - killed;
  await context.check(`its Lease expires: the edit is published, ${waited} ms after its death`, injected);
  await context.check(
    'the Lease of the dead replica is removed by the leader',
    () => isGone(context, replicas, victim.name),
    { timeout: 90_000 },
  );
  await victim.operator.restart();
  await replicas.waitUntilServing();
  return waited;
}

/** SIGTERM: the Lease goes with the process, and nobody waits for it. Returns for how many milliseconds an edit took then. */
export async function checkLeavingReplica(
  context: ScenarioContext,
  replicas: Replicas,
  injected: () => Promise<boolean>,
): Promise<number> {
  const { client } = context;
  const [leaving] = replicas.webhooks;
  if (leaving === undefined) throw new Error('there is no webhook replica');
  await leaving.operator.process.stop(30_000);
  await context.check('a webhook replica ends on SIGTERM: its Lease is gone with it', () =>
    isGone(context, replicas, leaving.name),
  );
  const edited = smallConfig(name);
  const began = Date.now();
  const { metadata } = await applyObject(client, edited);
  await waitForCondition(client, name, 'Ready', 'True', metadata.generation);
  const took = Date.now() - began;
  await context.check('an edit is published without it', injected);
  await leaving.operator.restart();
  await replicas.waitUntilServing();
  return took;
}

async function isGone(context: ScenarioContext, replicas: Replicas, replica: string): Promise<boolean> {
  const { namespace } = replicas.installation;
  try {
    await context.client.get(leases, `injector-replica-${replica}`, { namespace });
    return false;
  } catch (error) {
    if (isNotFound(error)) return true;
    throw error;
  }
}
