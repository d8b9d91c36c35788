import type { Scenario } from '../harness/scenario-context.ts';
import { startRotatingCluster } from '../harness/tls-observer/rotating-cluster.ts';
import { checkRepairs } from './certificate-cases/repairs.ts';

export const certificateRepair: Scenario = {
  name: 'certificate-repair',
  about:
    'Secrets, caBundles and webhook configurations are deleted, damaged and replaced under load; the operator repairs them immediately, and damaged Secrets lose no pod, because replicas keep a valid certificate in memory',
  full: 'each kind of damage 5 times, each repair within a second, about 4 minutes',
  onlyGate: true,
  run: async (context) => {
    const cluster = await startRotatingCluster(context, { name: 'damaged', perSecond: 25 });
    const { slowest, lostMeanwhile } = await checkRepairs(cluster, context.size === 'full' ? 5 : 1, 1000);
    await cluster.load.stop();
    const { created } = cluster.losses.report();
    const worst = Math.max(...Object.values(slowest));
    context.measured({ created, slowestRepairMilliseconds: slowest, mostLostUntilRepaired: lostMeanwhile });
    const lost = Object.values(lostMeanwhile).reduce((sum, each) => sum + each, 0);
    return `${Object.keys(slowest).length} kinds of damage, the slowest repair took ${worst} ms; ${created} pods created: 0 lost while Secrets were damaged or the chart was applied again, ${lost} lost until a caBundle or webhook configuration was restored`;
  },
};
