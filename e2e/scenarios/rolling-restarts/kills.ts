import { setTimeout as sleep } from 'node:timers/promises';
import type { Replicas } from '../../harness/replicas/replicas.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import type { Losses } from '../../harness/load/losses.ts';

/**
 * SIGKILL of the controller that leads: another leads when the Lease has expired, and nothing is lost. Returns the milliseconds that took.
 *
 * @param meanwhile what else happens while nobody leads
 */
export async function killController(
  context: ScenarioContext,
  replicas: Replicas,
  losses: Losses,
  meanwhile: () => Promise<void>,
): Promise<number> {
  const leader = await replicas.waitForLeader();
  const killed = await replicas.kill(leader);
  await losses.checkNone('the leading controller is killed', killed);
  await meanwhile();
  const next = await context.check(
    'another leads once its Lease has expired',
    async () => {
      const holder = await replicas.leader();
      return holder !== leader && holder;
    },
    { timeout: 60_000 },
  );
  const failover = Date.now() - killed;
  await losses.checkNone(`${next.name} leads`, Date.now());
  await leader.operator.restart();
  return failover;
}

export interface KilledWebhook {
  lost: number;
  inFlight: number;
  openedAfterwards: number;
  droppedAfterMilliseconds: number;
}

/** SIGKILL of a webhook replica: what it may cost is what was on it, and what was connected to it before the balancer dropped it. */
export async function killWebhook(
  context: ScenarioContext,
  replicas: Replicas,
  losses: Losses,
  index: number,
): Promise<KilledWebhook> {
  const victim = replicas.webhooks[index % replicas.webhooks.length];
  if (victim === undefined) throw new Error('there is no webhook replica');
  const killed = await replicas.kill(victim);
  await replicas.balancer.deathToll(victim.name, killed);
  await sleep(2000);
  const { lost } = losses.report(killed);
  // Read late: what somebody sent to the dead is known when it has come through.
  const { inFlight, openedAfterwards, droppedAfter } = await replicas.balancer.deathToll(victim.name, killed);
  await context.checkNow(
    `a webhook replica is killed: ${lost.length} lost, at most the ${inFlight} in flight on it and the ${openedAfterwards} connected to it until it was dropped after ${droppedAfter} ms`,
    () => lost.length <= inFlight + openedAfterwards,
  );
  // What has no connection to the dead replica any more: the API server has been told of their end when it answers something else.
  await sleep(250);
  await context.client.request('GET', '/readyz');
  await losses.checkNone('after it was dropped', { askedSince: Date.now() });
  await victim.operator.restart();
  await replicas.waitUntilServing();
  return { lost: lost.length, inFlight, openedAfterwards, droppedAfterMilliseconds: droppedAfter };
}
