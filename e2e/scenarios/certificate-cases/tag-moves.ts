import { applyUntilReady } from '../../harness/injector-configs.ts';
import { markedConfig } from '../../harness/load/marked-config.ts';
import { applyTagUntilReady, revisionTag } from '../../harness/revision-tags.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { shortTerms, type RotatingCluster } from '../../harness/tls-observer/rotating-cluster.ts';
import { waitFor } from '../../harness/wait-for.ts';

const tag = 'live';
const revisions = ['rotating', 'other'] as const;
/** The phases of a rotation, in order. In `Retiring`, replicas already serve a new certificate. */
const order: readonly string[] = ['Publishing', 'Confirming', 'Retiring'];

/** Returns the options of a cluster whose load follows a tag on one of two revisions. */
export function taggedOptions({ client }: ScenarioContext) {
  const prepare = async (): Promise<void> => {
    await applyUntilReady(client, markedConfig('other', 'two', { certificate: shortTerms }));
    await applyTagUntilReady(client, revisionTag(tag, 'rotating'));
  };
  return { name: 'rotating', namespaceLabels: { 'istio.io/rev': tag }, prepare, marks: ['one', 'two'] };
}

/** Moves the tag between the revisions, each time while both rotate. Returns the phases seen. */
export async function checkTagMoves(cluster: RotatingCluster, moves: number) {
  const since = Date.now();
  const seen = new Map<string, number>();
  for (let move = 1; move <= moves; move += 1) {
    const to = revisions[move % 2] ?? 'rotating';
    const target = order[move % order.length] ?? 'Publishing';
    for (const phase of await moveInRotation(cluster, to, target)) seen.set(phase, (seen.get(phase) ?? 0) + 1);
  }
  await cluster.losses.checkNone(`during ${moves} moves of the tag in rotations`, since);
  const inProgress = [...seen].filter(([phase]) => phase !== 'Stable');
  const where = inProgress.map(([phase, count]) => `${phase} ${count}`).join(', ');
  await cluster.context.checkNow(
    `a rotation was in progress at each move of the tag (phases of the two revisions: ${where})`,
    () => inProgress.reduce((sum, [, count]) => sum + count, 0) >= moves,
  );
  return { since, phases: Object.fromEntries(seen), where };
}

/** Rotates both CAs. Moves the tag once `to` is in phase `target`. Returns both CAs' phases. */
async function moveInRotation(cluster: RotatingCluster, to: string, target: string): Promise<string[]> {
  const { client } = cluster.context;
  const nonces = await Promise.all(
    revisions.map(async (name) => [name, await cluster.request('authority', name)] as const),
  );
  const isThere = async () => {
    const { phase = '', rotateRequest } = await cluster.status(to);
    const isAccepted = nonces.some(([, nonce]) => rotateRequest?.nonce === nonce);
    return isAccepted && (phase === 'Stable' || order.indexOf(phase) >= order.indexOf(target));
  };
  await waitFor(`${to} to be in phase ${target} or a later phase`, isThere, { interval: 20 });
  await applyTagUntilReady(client, revisionTag(tag, to));
  const phases = await Promise.all(revisions.map(async (name) => (await cluster.status(name)).phase ?? 'None'));
  for (const [name, nonce] of nonces) await cluster.waitForDone(nonce, 60_000, name);
  return phases;
}
