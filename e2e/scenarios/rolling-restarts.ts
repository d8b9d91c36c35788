import { applyUntilReady } from '../harness/injector-configs.ts';
import { markDefect, markedConfig } from '../harness/load/marked-config.ts';
import type { Scenario } from '../harness/scenario.ts';
import { checkDeadReplicas } from '../harness/load/dead-replicas.ts';
import { killController, killWebhook, type KilledWebhook } from './rolling-restarts/kills.ts';
import { restartEach } from './rolling-restarts/restarts.ts';
import { Losses } from '../harness/load/losses.ts';

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
    const audit = context.startAudit();
    if (audit === undefined) throw new Error('this scenario needs the audit log of the embedded control plane');
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
