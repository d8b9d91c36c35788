import type { KubernetesObject } from '../../../src/api/kubernetes.ts';
import { applyAll } from '../../harness/apply.ts';
import type { RotatingCluster } from '../../harness/tls-observer/rotating-cluster.ts';
import { waitFor } from '../../harness/wait-for.ts';

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
