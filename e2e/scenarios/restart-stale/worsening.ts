import { setTimeout as sleep } from 'node:timers/promises';
import { applyObject } from '../../harness/apply.ts';
import { found } from '../../harness/wait-for.ts';
import { revisionTag } from '../../harness/revision-tags.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { bounds } from './bounds.ts';
import { tag } from './fixtures.ts';
import { edits } from '../../harness/workload-observer/history.ts';
import { restartsOf } from '../../harness/restart-status.ts';
import type { WorkloadObserver } from '../../harness/workload-observer/workload-observer.ts';

const strategy = { restart: bounds };

/** A revision whose pods crash: it stops with what was restarted first, and another revision heals that. Returns how many were restarted. */
export async function checkWorsening(
  context: ScenarioContext,
  observer: WorkloadObserver,
  all: readonly string[],
  areHealed: () => boolean,
): Promise<number> {
  const { client } = context;
  const after = observer.latest();
  await applyObject(client, revisionTag(tag, 'v3', { strategy }));
  await context.check('pods that crash stop the restarts at once, and the status names a workload', async () => {
    const { phase, message } = await restartsOf(context, tag);
    if (phase === 'Stopped' && /restart-stale-\S+/.test(message)) return true;
    throw new Error(`it says ${phase}: ${message}`);
  });
  await sleep(2000);
  const restarted = [...edits(observer.sightings(), after).keys()];
  await context.checkNow(
    `after ${restarted.length} of ${all.length}, at least 1 and at most ${bounds.maxUnavailableWorkloads}`,
    () => restarted.length > 0 && restarted.length <= bounds.maxUnavailableWorkloads,
  );
  const healing = observer.latest();
  await applyObject(client, revisionTag(tag, 'v2', { strategy }));
  await context.check('another revision: these are restarted at once, and all pods are ready again', areHealed, {
    timeout: 60_000,
  });
  await context.checkNow('and nothing else was', () =>
    found([...edits(observer.sightings(), healing).keys()].sort().join(), restarted.sort().join()),
  );
  await context.check('and nothing is to be done', async () => (await restartsOf(context, tag)).phase === 'Idle');
  return restarted.length;
}
