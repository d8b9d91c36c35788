import type { Scenario } from '../harness/scenario-context.ts';
import { startRotatingCluster } from '../harness/tls-observer/rotating-cluster.ts';
import { checkTagMoves, taggedOptions } from './certificate-cases/tag-moves.ts';
import { checkLeafBeforeBundle, takeOver } from './rotation-under-load/wrong-orders.ts';

export const rotationWithTags: Scenario = {
  name: 'rotation-with-tags',
  about:
    'under load, a tag moves between two revisions in each phase of the rotation of their authorities, and no pod is lost',
  full: 'the tag moves 30 times, each time during two rotations, about 5 minutes',
  onlyGate: true,
  run: async (context) => {
    const cluster = await startRotatingCluster(context, { ...taggedOptions(context), perSecond: 25 });
    const lostByLeafFirst = await takeOver(cluster, () => checkLeafBeforeBundle(cluster));
    const moves = context.size === 'full' ? 30 : 3;
    const { since, phases, where } = await checkTagMoves(cluster, moves);
    await cluster.load.stop();
    const { created, p50Milliseconds, p99Milliseconds } = cluster.losses.report(since);
    context.measured({ moves, phases, created, lost: 0, lostByLeafFirst, p50Milliseconds, p99Milliseconds });
    return `the tag moved ${moves} times (${where}); ${created} pods created, 0 lost; ${lostByLeafFirst} more lost in the negative control, in which the leaf came before the bundle`;
  },
};
