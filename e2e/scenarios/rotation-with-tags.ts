import { applyUntilReady } from '../harness/injector-configs.ts';
import { markedConfig } from '../harness/load/marked-config.ts';
import { applyTagUntilReady, revisionTag } from '../harness/revision-tags.ts';
import type { Scenario } from '../harness/scenario-context.ts';
import { shortTerms, startRotatingCluster, type RotatingCluster } from '../harness/tls-observer/rotating-cluster.ts';
import { waitFor } from '../harness/wait-for.ts';
import { checkLeafBeforeBundle, takeOver } from './rotation-under-load/wrong-orders.ts';

const tag = 'live';
const revisions = ['rotating', 'other'] as const;
/** The phases of a replacement in which the tag is moved, in turn; `Retiring` is when the certificate has just been exchanged. */
const order: readonly string[] = ['Publishing', 'Confirming', 'Retiring'];

export const rotationWithTags: Scenario = {
  name: 'rotation-with-tags',
  about:
    'namespaces follow a tag, and the tag moves in each phase of the replacement of both authorities, under load: nothing is lost',
  full: '30 moves of the tag, each in the middle of two replacements, about 5 minutes',
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
      const wanted = order[move % order.length] ?? 'Publishing';
      for (const phase of await moveInRotation(cluster, to, wanted)) seen.set(phase, (seen.get(phase) ?? 0) + 1);
    }
    await losses.checkNone(`tag moved ${moves} times while authorities were replaced`, since);
    const inMidst = [...seen].filter(([phase]) => phase !== 'Stable');
    const where = inMidst.map(([phase, count]) => `${phase} ${count}`).join(', ');
    await context.checkNow(
      `at each move a replacement was under way (phases of the two revisions: ${where})`,
      () => inMidst.reduce((sum, [, count]) => sum + count, 0) >= moves,
    );
    await cluster.load.stop();
    const { created, p50Milliseconds, p99Milliseconds } = losses.report(since);
    const figures = { moves, phases: Object.fromEntries(seen), created, lost: 0, lostByLeafFirst };
    context.measured({ ...figures, p50Milliseconds, p99Milliseconds });
    return `the tag moved ${moves} times (${where}), ${created} pods: 0 lost; leaf first lost ${lostByLeafFirst}`;
  },
};

/** Replaces both authorities and moves the tag once the revision it goes to is in a phase; returns the phases of both at that moment. */
async function moveInRotation(cluster: RotatingCluster, to: string, wanted: string): Promise<string[]> {
  const { client } = cluster.context;
  const nonces = await Promise.all(
    revisions.map(async (name) => [name, await cluster.request('authority', name)] as const),
  );
  await waitFor(
    `${to} to be in phase ${wanted}, or beyond it`,
    async () => {
      const { phase = '', rotateRequest } = await cluster.status(to);
      const isAccepted = nonces.some(([, nonce]) => rotateRequest?.nonce === nonce);
      return isAccepted && (phase === 'Stable' || order.indexOf(phase) >= order.indexOf(wanted));
    },
    { interval: 20 },
  );
  await applyTagUntilReady(client, revisionTag(tag, to));
  const phases = await Promise.all(revisions.map(async (name) => (await cluster.status(name)).phase ?? 'None'));
  for (const [name, nonce] of nonces) await cluster.waitForDone(nonce, 60_000, name);
  return phases;
}
