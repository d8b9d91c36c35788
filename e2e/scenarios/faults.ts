import { found } from '../harness/found.ts';
import { applyUntilReady } from '../harness/injector-configs.ts';
import { checkDeadReplicas } from '../harness/load/dead-replicas.ts';
import { reportLoad } from '../harness/load/load-report.ts';
import { Losses } from '../harness/load/losses.ts';
import { markDefect, markedConfig } from '../harness/load/marked-config.ts';
import type { Scenario } from '../harness/scenario.ts';
import { expireWatches, freezeControllerManager, restartApiServer, stopEtcd } from './faults/control-plane-faults.ts';
import { duplicateWrites, isCounted } from './faults/duplicate-writes.ts';
import { configName, FaultyCluster } from './faults/faulty-cluster.ts';
import { checkHungDetected, hangEverything, hangWatches, refuseRequests } from './faults/path-faults.ts';

/** The API server, etcd, and the way to them fail in many ways: pods are injected from memory, and everything is as it should be soon afterwards. */
export const faults: Scenario = {
  name: 'faults',
  about:
    'API server and etcd fail, watches hang and expire, requests are refused: injection goes on, and all is well 5 s later',
  destructive: 'it kills the components of the control plane',
  ownControlPlane: true,
  full: 'etcd stopped for a minute, storms of 20 s, every watch hung: about 6 minutes',
  run: async (context) => {
    const { client, size } = context;
    const replicas = await context.startReplicas({ proxied: true });
    const namespace = await context.namespace('pods', { 'istio.io/rev': configName });
    const cluster = new FaultyCluster(context, replicas, namespace);
    await applyUntilReady(client, markedConfig(configName, 'edit0'));
    const load = await context.startLoad({ namespace, perSecond: 15, inspect: markDefect });
    await checkDeadReplicas(context, replicas, new Losses(context, load, cluster.audit));
    const began = Date.now();

    // In the short size it is noticed while other things happen.
    const hung = await hangWatches(cluster, ['nodes']);
    await restartApiServer(cluster);
    await stopEtcd(cluster);
    await freezeControllerManager(cluster);
    await expireWatches(cluster);
    await refuseRequests(cluster);
    const noticed = await checkHungDetected(cluster, hung);
    const all = size === 'full' ? await hangEverything(cluster) : undefined;
    await load.stop();

    const { created, lost } = reportLoad(load, cluster.audit.events(), { answeredSince: began });
    // While nothing can be stored creations fail for that reason; what counts is those that failed at our webhook.
    const ours = lost.filter(({ kind, description }) => kind !== 'refused' || description.includes('webhook'));
    for (const { description } of ours.slice(0, 5)) context.say(description);
    await context.check(
      `0 of ${created} pods lost at the webhook (${lost.length} could not be stored)`,
      () => ours.length === 0,
      {
        timeout: 0,
      },
    );
    const writes = await cluster.proxy.writes();
    const duplicates = duplicateWrites(writes);
    const last = writes.filter(isCounted).slice(-1);
    await context.check(
      'a write that is repeated would be seen',
      () => duplicateWrites([...last, ...last]).length === 1,
      {
        timeout: 0,
      },
    );
    await context.check(
      `none of ${writes.filter(isCounted).length} writes was (the audit log has ${recordedWrites(cluster)})`,
      () => found(duplicates.join('; '), ''),
      { timeout: 0 },
    );
    context.measured({ created, lost: ours.length, reconvergedMilliseconds: cluster.reconverged });
    context.measured({ hungNoticedMilliseconds: Math.max(noticed, all ?? 0), duplicates: duplicates.length });
    const slowest = Math.max(...Object.values(cluster.reconverged));
    return `${created} pods, 0 lost; slowest back ${slowest} ms after a fault; hung watches noticed within ${noticed} ms; 0 duplicate writes`;
  },
};

/** Successful writes of our processes by the audit log, which knows no bodies: to be compared with those that were seen on their way. */
function recordedWrites({ audit, replicas }: FaultyCluster): number {
  return replicas.installation.usernames
    .flatMap((username) => audit.writesBy(username, false))
    .filter(({ objectRef, responseStatus }) => objectRef?.resource !== 'events' && (responseStatus?.code ?? 0) < 300)
    .length;
}
