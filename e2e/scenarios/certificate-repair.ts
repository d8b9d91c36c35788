import type { Scenario } from '../harness/scenario.ts';
import { RotatingCluster } from '../harness/tls-observer/rotating-cluster.ts';
import { bundleDamages, secretDamages } from './certificate-repair/damages.ts';
import { checkReapplied } from './certificate-repair/reapplied-chart.ts';
import { checkHarmless, damageAndRepair } from './certificate-repair/repairs.ts';

const certificate = { leafDuration: '1h', caDuration: '24h', confirmationPeriod: '120s' };
const flags = ['--test-certificate-time-scale=60', '--requests-per-connection=2', '--drain-seconds=0'];

/** Everything that certificates consist of is deleted, damaged and replaced by other people while pods are created. */
export const certificateRepair: Scenario = {
  name: 'certificate-repair',
  about:
    'Secrets, caBundles and webhook configurations are deleted, damaged and replaced under load: repaired at once, and nothing is lost where a good pair was in memory',
  full: 'each damage 5 times, repaired within a second, about 4 minutes',
  run: (context) =>
    RotatingCluster.run(context, { name: 'damaged', certificate, flags, perSecond: 25 }, async (cluster) => {
      const isFull = context.size === 'full';
      // A repair that has to wait for two keys on a machine that does many other things.
      const bound = isFull ? 1000 : 10_000;
      const slowest: Record<string, number> = {};
      const lostMeanwhile: Record<string, number> = {};
      for (let round = 0; round < (isFull ? 5 : 1); round++) {
        const since = Date.now();
        for (const damage of secretDamages) {
          const { milliseconds } = await damageAndRepair(cluster, damage, bound);
          slowest[damage.says] = Math.max(slowest[damage.says] ?? 0, milliseconds);
        }
        await checkHarmless(cluster, since);
        for (const damage of bundleDamages) {
          const { milliseconds, lost } = await damageAndRepair(cluster, damage, bound);
          slowest[damage.says] = Math.max(slowest[damage.says] ?? 0, milliseconds);
          lostMeanwhile[damage.says] = Math.max(lostMeanwhile[damage.says] ?? 0, lost);
        }
        await checkReapplied(cluster);
      }
      await cluster.load.stop();
      const { created } = cluster.losses.report();
      const worst = Math.max(...Object.values(slowest));
      context.measured({ created, slowestRepairMilliseconds: slowest, mostLostUntilRepaired: lostMeanwhile });
      const lost = Object.values(lostMeanwhile).reduce((sum, each) => sum + each, 0);
      return `${Object.keys(slowest).length} damages, the slowest repair ${worst} ms; ${created} pods: 0 lost by damaged Secrets and a chart applied again; ${lost} until a caBundle or configuration was back`;
    }),
};
