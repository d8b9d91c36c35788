import { setTimeout as sleep } from 'node:timers/promises';
import { applyObject } from '../../harness/apply.ts';
import { found, waitFor } from '../../harness/wait-for.ts';
import { applyTagUntilReady, revisionTag } from '../../harness/revision-tags.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { createAll, nameOf, workload } from '../../harness/workload-kinds.ts';
import { edits } from '../../harness/workload-observer/history.ts';
import { restartAllAtOnce } from '../../harness/restart-all-at-once.ts';
import { WorkloadObserver } from '../../harness/workload-observer/workload-observer.ts';
import { ask, pathOf, waitForRollout } from './workloads.ts';

const tag = 'careful';
const workloads = 8;
/** Restarted one after the other, each ready for 10 s (the defaults, as spec.strategy.restart is not there). Milliseconds. */
const patience = 60_000;

/**
 * With rollback.restart: Canary. Somebody restarts everything in the middle of a rollout, the share of the canary crashes, and after the rollback the operator
 * restarts those workloads and no others; the same again after a retry. Returns how many it restarted.
 */
export async function checkRestartsBack(
  context: ScenarioContext,
  { stable, failing }: { readonly stable: string; readonly failing: string },
): Promise<number> {
  const { client } = context;
  await applyTagUntilReady(client, revisionTag(tag, stable));
  const namespace = await context.namespace(tag, { 'istio.io/rev': tag });
  const observer = await WorkloadObserver.open(context, (each) => each === namespace);
  const objects = Array.from({ length: workloads }, (_, index) => workload('Deployment', namespace, `work-${index}`));
  const names = objects.map(nameOf);
  await createAll(context, objects);
  const areWhole = () => {
    const others = names.filter((each) => !observer.isWholeBy(each, stable));
    return found(others.join(), '');
  };
  await context.check(`${workloads} other workloads are ready, all stable`, areWhole);
  const canary = { steps: [{ weight: 25 }, { weight: 100 }], analysis: { minimumPods: 1, minReadySeconds: 5 } };
  const strategy = { canary, rollback: { restart: 'Canary' } };
  const begun = observer.latest();
  await applyObject(client, revisionTag(tag, failing, { strategy }));
  const first = await restartAllInStep(context, observer, namespace, failing);
  await context.check('the operator restarts them back: all pods are ready, and stable', areWhole, {
    timeout: patience,
  });
  const share = Math.ceil(workloads / 4);
  await context.check(`and so many it has restarted: the ${share} that had the canary, nothing else`, () => {
    found(String(first.length), String(share));
    return found(restartedTwice(observer, begun).join(), first.join());
  });

  const again = observer.latest();
  await ask(context, tag, 'retry', 'again');
  const second = await restartAllInStep(context, observer, namespace, failing);
  await context.check('a retry of it that is rolled back: restarted back again, all is healthy', areWhole, {
    timeout: patience,
  });
  await context.check('these and nothing else', () => found(restartedTwice(observer, again).join(), second.join()));
  return first.length + second.length;
}

/**
 * As `kubectl rollout restart` of everything while the first step is active; returns the workloads that have got a pod of the canary when that is rolled
 * back, sorted.
 */
async function restartAllInStep(
  context: ScenarioContext,
  observer: WorkloadObserver,
  namespace: string,
  canary: string,
): Promise<string[]> {
  await waitFor('the webhook to lead to both revisions', async () =>
    (await pathOf(context, tag)).includes(`/${canary}/`),
  );
  // What the API server has stored it does not heed at once.
  await sleep(500);
  const since = observer.latest();
  const names = await restartAllAtOnce(context, [namespace]);
  await waitForRollout(context, tag, 'rolled back', ({ phase }) => phase === 'RolledBack');
  const makers = observer
    .sightings()
    .filter(({ revision, seen }) => revision > since && seen.what === 'pod' && seen.maker === canary)
    .map(({ workload: name }) => name);
  return names.filter((name) => makers.includes(name)).sort();
}

/** Once by us, once by the operator. */
function restartedTwice(observer: WorkloadObserver, after: number): string[] {
  const counts = [...edits(observer.sightings(), after)];
  const other = counts.filter(([, count]) => count > 2).map(([name, count]) => `${name} ${count} times`);
  if (other.length > 0) throw new Error(other.join(', '));
  return counts
    .filter(([, count]) => count === 2)
    .map(([name]) => name)
    .sort();
}
