import { applyUntilReady } from '../harness/injector-configs.ts';
import { markDefect, markedConfig } from '../harness/load/marked-config.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { checkDeadReplicas } from '../harness/load/dead-replicas.ts';
import { killController, killWebhook, type KilledWebhook } from './rolling-restarts/kills.ts';
import { Losses } from '../harness/load/losses.ts';
import type { Replica } from '../harness/replicas/replica.ts';
import type { Replicas } from '../harness/replicas/replicas.ts';

/** Three webhook replicas and two controllers come and go, are asked to end and are killed, while pods are created all along. */
export const rollingRestarts: Scenario = {
  name: 'rolling-restarts',
  about:
    'pods are created all along while every process is restarted, and some are killed: nothing is lost but what a dead replica held',
  destructive: 'it needs the embedded control plane and its audit log',
  full: 'every process restarted 20 times, 10 kills, about 13 minutes',
  run: async (context) => {
    const { client, size } = context;
    // They drain for as long as the chart has it: on a busy machine the balancer is seconds late.
    const replicas = await context.startReplicas();
    await applyUntilReady(client, markedConfig('rolling', 'one'));
    const namespace = await context.namespace('pods', { 'istio.io/rev': 'rolling' });
    const audit = context.requireAudit();
    const load = await context.startLoad({
      namespace,
      inspect: (pod) => markDefect(pod, (mark) => mark === 'one'),
    });
    const losses = new Losses(context, load, audit);

    await checkDeadReplicas(context, replicas, losses);
    const rounds = size === 'full' ? 20 : 1;
    const kills = size === 'full' ? 5 : 1;
    const restarts = await restartEach(context, replicas, losses, rounds);
    let failover = 0;
    const dead: KilledWebhook[] = [];
    for (let kill = 0; kill < kills; kill++) {
      const took = await killController(context, replicas, losses, async () => {
        dead.push(await killWebhook(context, replicas, losses, kill));
      });
      failover = Math.max(failover, took);
    }
    await load.stop();
    const { created, byReplicaSet, p50Milliseconds, p99Milliseconds } = losses.report();
    context.measured({ created, byReplicaSet, restarts, lostInRestarts: 0, lostByKilledControllers: 0 });
    context.measured({
      slowestFailoverMilliseconds: failover,
      killedWebhooks: dead.map((each) => ({ ...each })),
      p50Milliseconds,
      p99Milliseconds,
    });
    const toll = dead.map(
      ({ lost, inFlight, openedAfterwards }) => `${lost} of at most ${inFlight} + ${openedAfterwards}`,
    );
    return `${created} pods (${byReplicaSet} by a ReplicaSet); ${restarts} restarts: 0 lost; a killed controller: 0 lost, the next led after ${failover} ms; a killed webhook replica lost ${toll.join(', ')}`;
  },
};

/**
 * Every process is restarted `rounds` times, one webhook replica at a time and one controller at a time: in turn by a successor in a pod of its own (a rolling
 * update) and in the same pod (a container that ended). Returns how many restarts there were.
 */
export async function restartEach(
  context: ScenarioContext,
  replicas: Replicas,
  losses: Losses,
  rounds: number,
): Promise<number> {
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
  await context.check('somebody leads', () => replicas.leader(), { timeout: 40_000 });
  return restarts;
}
