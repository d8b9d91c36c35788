import { setTimeout as sleep } from 'node:timers/promises';
import { applyUntilReady } from '../harness/injector-configs.ts';
import { checkDeadReplicas, lossesOf, type Losses } from '../harness/load/losses.ts';
import { markDefect, markedConfig } from '../harness/load/marked-config.ts';
import { shortLeases } from '../harness/operator-process.ts';
import type { Pod } from '../harness/pod.ts';
import type { Replica, Replicas } from '../harness/replicas/replicas.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';

export const rollingRestarts: Scenario = {
  name: 'rolling-restarts',
  about:
    'while pods are created, every process is restarted and some processes are killed; only requests to a killed replica are lost',
  destructive: 'it needs the embedded control plane and its audit log',
  full: 'every process is restarted 20 times, and 10 processes are killed, about 13 minutes',
  run: async (context) => {
    const { client, size } = context;
    // The balancer can lag by seconds on a busy machine, so drain longer than other scenarios.
    const replicas = await context.startReplicas({ flags: ['--drain-seconds=4', shortLeases] });
    await applyUntilReady(client, markedConfig('rolling', 'one'));
    const namespace = await context.namespace('pods', { 'istio.io/rev': 'rolling' });
    const audit = context.requireAudit();
    const inspect = (pod: Pod) => markDefect(pod, (mark) => mark === 'one');
    const load = await context.startLoad({ namespace, perSecond: context.size === 'full' ? 30 : 15, inspect });
    const losses = lossesOf(context, load, audit);

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
      ({ lost, inFlight, openedAfterwards }) => `${lost} pods (at most ${inFlight} + ${openedAfterwards})`,
    );
    return `${created} pods created (${byReplicaSet} by a ReplicaSet); ${restarts} restarts lost 0 pods; a killed leader lost 0 pods, and another controller led after ${failover} ms; killed webhook replicas lost ${toll.join(', ')}`;
  },
};

/**
 * Restarts every process `rounds` times, one webhook replica and one controller at a time. Restarts
 * alternate between a new pod (as in a rolling update) and the same pod. Returns their number.
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
  await losses.checkNone(`during ${restarts} restarts, ${rounds} of each process`, since);
  await context.check('after the restarts, a controller is the leader', () => replicas.leader(), { timeout: 40_000 });
  return restarts;
}

/**
 * Kills the leader. Checks that another controller leads after the Lease expires, and that no pod
 * is lost. Calls `meanwhile` while no controller leads. Returns the failover time in milliseconds.
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
  const next = await context.check('another controller becomes the leader', () => replicas.leaderOtherThan(leader));
  const failover = Date.now() - killed;
  await losses.checkNone(`while ${next.name} leads`, Date.now());
  await leader.operator.restart();
  return failover;
}

/** Kills a replica. Checks that no more pods are lost than it had requests and connections. */
async function killWebhook(context: ScenarioContext, replicas: Replicas, losses: Losses, index: number) {
  const victim = replicas.webhooks[index % replicas.webhooks.length];
  if (victim === undefined) throw new Error('there is no webhook replica');
  const killed = await replicas.kill(victim);
  await replicas.balancer.deathToll(victim.name, killed);
  await sleep(2000);
  const { lost } = losses.report(killed);
  // Read the figures late: the balancer reports connections to the dead replica with a delay.
  const { inFlight, openedAfterwards, droppedAfter } = await replicas.balancer.deathToll(victim.name, killed);
  await context.checkNow(
    `a killed webhook replica loses ${lost.length} pods, at most its ${inFlight} requests in flight plus the ${openedAfterwards} connections that were opened until the balancer dropped the replica after ${droppedAfter} ms`,
    () => lost.length <= inFlight + openedAfterwards,
  );
  // After one more response, the API server knows that its connections to the replica are closed.
  await sleep(250);
  await context.client.request('GET', '/readyz');
  await losses.checkNone('after the balancer dropped the replica', { askedSince: Date.now() });
  await victim.operator.restart();
  await replicas.waitUntilServing();
  return { lost: lost.length, inFlight, openedAfterwards, droppedAfterMilliseconds: droppedAfter };
}
