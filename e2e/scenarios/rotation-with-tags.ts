import { applyUntilReady } from '../harness/injector-configs.ts';
import { markedConfig } from '../harness/load/marked-config.ts';
import { applyTagUntilReady, revisionTag } from '../harness/revision-tags.ts';
import type { Scenario } from '../harness/scenario-context.ts';
import { shortTerms, startRotatingCluster, type RotatingCluster } from '../harness/tls-observer/rotating-cluster.ts';
import { waitFor } from '../harness/wait-for.ts';
import { checkLeafBeforeBundle, takeOver } from './rotation-under-load/wrong-orders.ts';

const tag = 'live';
const revisions = ['rotating', 'other'] as const;
/** The phases of a rotation, in order. In `Retiring`, replicas already serve a new certificate. */
const order: readonly string[] = ['Publishing', 'Confirming', 'Retiring'];

export const rotationWithTags: Scenario = {
  name: 'rotation-with-tags',
  about:
    'under load, a tag moves between two revisions in each phase of the rotation of their authorities, and no pod is lost',
  full: 'the tag moves 30 times, each time during two rotations, about 5 minutes',
  alone: 'it has not been run beside another scenario yet',
  run: async (context) => {
    const { client } = context;
    const isFull = context.size === 'full';
    const prepare = async (): Promise<void> => {
      await applyUntilReady(client, markedConfig('other', 'two', { certificate: shortTerms }));
      await applyTagUntilReady(client, revisionTag(tag, 'rotating'));
    };
    const options = { namespaceLabels: { 'istio.io/rev': tag }, prepare, marks: ['one', 'two'], perSecond: 25 };
    const cluster = await startRotatingCluster(context, { name: 'rotating', ...options });
    const { losses } = cluster;
    const lostByLeafFirst = await takeOver(cluster, () => checkLeafBeforeBundle(cluster));
    const since = Date.now();
    const moves = isFull ? 30 : 3;
    const seen = new Map<string, number>();
    for (let move = 1; move <= moves; move += 1) {
      const to = revisions[move % 2] ?? 'rotating';
      const target = order[move % order.length] ?? 'Publishing';
      for (const phase of await moveInRotation(cluster, to, target)) seen.set(phase, (seen.get(phase) ?? 0) + 1);
    }
    await losses.checkNone(`during ${moves} moves of the tag in rotations`, since);
    const inProgress = [...seen].filter(([phase]) => phase !== 'Stable');
    const where = inProgress.map(([phase, count]) => `${phase} ${count}`).join(', ');
    await context.checkNow(
      `a rotation was in progress at each move of the tag (phases of the two revisions: ${where})`,
      () => inProgress.reduce((sum, [, count]) => sum + count, 0) >= moves,
    );
    await cluster.load.stop();
    const { created, p50Milliseconds, p99Milliseconds } = losses.report(since);
    const figures = { moves, phases: Object.fromEntries(seen), created, lost: 0, lostByLeafFirst };
    context.measured({ ...figures, p50Milliseconds, p99Milliseconds });
    return `the tag moved ${moves} times (${where}); ${created} pods created, 0 lost; ${lostByLeafFirst} more lost in the negative control, in which the leaf came before the bundle`;
  },
};

/** Rotates both CAs. Moves the tag once `to` is in phase `target`. Returns both CAs' phases. */
async function moveInRotation(cluster: RotatingCluster, to: string, target: string): Promise<string[]> {
  const { client } = cluster.context;
  const nonces = await Promise.all(
    revisions.map(async (name) => [name, await cluster.request('authority', name)] as const),
  );
  await waitFor(
    `${to} to be in phase ${target} or a later phase`,
    async () => {
      const { phase = '', rotateRequest } = await cluster.status(to);
      const isAccepted = nonces.some(([, nonce]) => rotateRequest?.nonce === nonce);
      return isAccepted && (phase === 'Stable' || order.indexOf(phase) >= order.indexOf(target));
    },
    { interval: 20 },
  );
  await applyTagUntilReady(client, revisionTag(tag, to));
  const phases = await Promise.all(revisions.map(async (name) => (await cluster.status(name)).phase ?? 'None'));
  for (const [name, nonce] of nonces) await cluster.waitForDone(nonce, 60_000, name);
  return phases;
}
