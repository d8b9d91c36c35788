import type { KubernetesObject } from '../../src/api/kubernetes/kubernetes.ts';
import type { Scenario } from '../harness/scenario-context.ts';
import { RotatingCluster } from '../harness/tls-observer/rotating-cluster.ts';
import { bundleDamages, secretDamages } from './certificate-repair/damages.ts';
import { checkHarmless, damageAndRepair } from './certificate-repair/repairs.ts';
import { applyAll } from '../harness/apply.ts';
import { waitFor } from '../harness/wait-for.ts';

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

/** The chart is applied again while an authority is being replaced: the replacement ends as if nothing had been. */
export async function checkReapplied(cluster: RotatingCluster): Promise<void> {
  const { context, observer, losses, replicas } = cluster;
  const issuer = observer.common()?.issuer;
  const since = Date.now();
  const nonce = await beginReplacement(cluster);
  await applyAll(context.client, replicas.installation.objects.map(withoutReplicas));
  await cluster.waitForDone(nonce);
  await context.check('the chart is applied again in the middle of a rotation, which ends as it should', () => {
    const leaf = observer.common();
    return leaf?.issuer !== undefined && leaf.issuer !== issuer;
  });
  await losses.checkNone('the chart is applied again', since);
  await context.check('and no replica was seen with a certificate that the bundle does not verify', () => {
    return observer.violationsSince(since).length === 0;
  });
}

/** Asks for another authority until a replacement is seen under way: one that was through before we looked says nothing. Returns the request's nonce. */
async function beginReplacement(cluster: RotatingCluster): Promise<string> {
  for (let attempt = 0; attempt < 10; attempt++) {
    const nonce = await cluster.request('authority');
    const seen = await waitFor('the replacement to be under way', async () => {
      const { phase = '', rotateRequest } = await cluster.status();
      if (rotateRequest?.nonce !== nonce) return undefined;
      return ['Publishing', 'Confirming'].includes(phase) ? 'under way' : rotateRequest.state === 'Done' && 'over';
    });
    if (seen === 'under way') return nonce;
  }
  throw new Error('no replacement was seen under way');
}

/** How many pods there are is the harness's matter: its replicas have their tokens. */
function withoutReplicas(object: KubernetesObject): KubernetesObject {
  if (object.kind !== 'Deployment') return object;
  const spec = Object.entries(object['spec'] as Record<string, unknown>).filter(([field]) => field !== 'replicas');
  return { ...object, spec: Object.fromEntries(spec) };
}
