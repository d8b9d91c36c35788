import { setTimeout as sleep } from 'node:timers/promises';
import { applyUntilReady } from '../harness/injector-configs.ts';
import { checkDeadReplicas, Losses } from '../harness/load/losses.ts';
import { markDefect, markedConfig } from '../harness/load/marked-config.ts';
import type { Pod } from '../harness/pod.ts';
import type { Replica, Replicas } from '../harness/replicas/replicas.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';

export const rollingRestarts: Scenario = {
  name: 'rolling-restarts',
  about:
    'pods are created while every process is restarted and some are killed: only requests on a killed replica are lost',
  destructive: 'it needs the embedded control plane and its audit log',
  full: 'every process restarted 20 times, 10 kills, about 13 minutes',
  run: async (context) => {
    const { client, size } = context;
    // With the chart's drain time, because the balancer is seconds late on a busy machine.
    const replicas = await context.startReplicas();
    await applyUntilReady(client, markedConfig('rolling', 'one'));
    const namespace = await context.namespace('pods', { 'istio.io/rev': 'rolling' });
    const audit = context.requireAudit();
    const inspect = (pod: Pod) => markDefect(pod, (mark) => mark === 'one');
    const load = await context.startLoad({ namespace, inspect });
    const losses = new Losses(context, load, audit);

    await checkDeadReplicas(context, replicas, losses);
    const rounds = size === 'full' ? 20 : 1;
    const kills = size === 'full' ? 5 : 1;
    const restarts = await restartEach(context, replicas, losses, rounds);
    let failover = 0;
    const dead: Awaited<ReturnType<typeof killWebhook>>[] = [];
    for (let kill = 0; kill < kills; kill++) {
      const took = await killController(context, replicas, losses, async () => {
        dead.push(await killWebhook(context, replicas, losses, kill));
      });
      failover = Math.max(failover, took);
    }
    await load.stop();
    const { created, byReplicaSet, p50Milliseconds, p99Milliseconds } = losses.report();
    context.measured({ created, byReplicaSet, restarts, lostInRestarts: 0, lostByKilledControllers: 0 });
    context.measured({ slowestFailoverMilliseconds: failover, killedWebhooks: dead, p50Milliseconds, p99Milliseconds });
    const toll = dead.map(
      ({ lost, inFlight, openedAfterwards }) => `${lost} of at most ${inFlight} + ${openedAfterwards}`,
    );
    return `${created} pods (${byReplicaSet} by a ReplicaSet); ${restarts} restarts: 0 lost; a killed controller: 0 lost, the other led after ${failover} ms; a killed webhook replica lost ${toll.join(', ')}`;
  },
};

/**
 * Restarts every process `rounds` times, one webhook replica and one controller at a time: by turns
 * in a new pod (a rolling update) and in the same pod. Returns the number of restarts.
 */
async function restartEach(context: ScenarioContext, replicas: Replicas, losses: Losses, rounds: number) {
  const since = Date.now();
  let restarts = 0;
  const roll = async (list: Replica[]) => {
    for (let round = 0; round < rounds; round++) {
      for (const [index, replica] of [...list].entries()) {
        if ((round + index) % 2 === 0) await replicas.replace(replica);
        else await replicas.restart(replica);
        restarts++;
      }
    }
  };
  await Promise.all([roll(replicas.webhooks), roll(replicas.controllers)]);
  await replicas.waitUntilServing();
  await losses.checkNone(`${restarts} restarts, each process ${rounds} times`, since);
  await context.check('a controller leads after the restarts', () => replicas.leader(), { timeout: 40_000 });
  return restarts;
}

/**
 * Kills the leader; checks that another controller leads after the Lease expires, without a lost
 * pod. Calls `meanwhile` while no controller leads. Returns the milliseconds.
 */
async function killController(
  context: ScenarioContext,
  replicas: Replicas,
  losses: Losses,
  meanwhile: () => Promise<void>,
): Promise<number> {
  const leader = await replicas.waitForLeader();
  const killed = await replicas.kill(leader);
  await losses.checkNone('after the leader is killed', killed);
  await meanwhile();
  const next = await context.check('another controller leads', () => replicas.leaderOtherThan(leader));
  const failover = Date.now() - killed;
  await losses.checkNone(`while ${next.name} leads`, Date.now());
  await leader.operator.restart();
  return failover;
}

/** Kills a replica; checks that at most its requests and connections until its removal are lost. */
async function killWebhook(context: ScenarioContext, replicas: Replicas, losses: Losses, index: number) {
  const victim = replicas.webhooks[index % replicas.webhooks.length];
  if (victim === undefined) throw new Error('there is no webhook replica');
  const killed = await replicas.kill(victim);
  await replicas.balancer.deathToll(victim.name, killed);
  await sleep(2000);
  const { lost } = losses.report(killed);
  // Read late, because connections to the dead replica are reported with a delay.
  const { inFlight, openedAfterwards, droppedAfter } = await replicas.balancer.deathToll(victim.name, killed);
  await context.checkNow(
    `a killed webhook replica loses ${lost.length} pods, at most its ${inFlight} requests in flight and the ${openedAfterwards} connections until the balancer dropped it after ${droppedAfter} ms`,
    () => lost.length <= inFlight + openedAfterwards,
  );
  // After another response, the API server has seen the end of its connections to the dead replica.
  await sleep(250);
  await context.client.request('GET', '/readyz');
  await losses.checkNone('after the balancer dropped the replica', { askedSince: Date.now() });
  await victim.operator.restart();
  await replicas.waitUntilServing();
  return { lost: lost.length, inFlight, openedAfterwards, droppedAfterMilliseconds: droppedAfter };
}
