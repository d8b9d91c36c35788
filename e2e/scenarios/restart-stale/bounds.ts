import { setTimeout as sleep } from 'node:timers/promises';
import { applyObject } from '../../harness/apply.ts';
import { revisionTag, revisionTags, type RevisionTagObject } from '../../harness/revision-tags.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { found } from '../../harness/wait-for.ts';
import { restartAllAtOnce } from '../../harness/workload-kinds.ts';
import { disturbances, edits, slotsTaken, type Window } from '../../harness/workload-observer/history.ts';
import type { WorkloadObserver } from '../../harness/workload-observer/workload-observer.ts';
import { tag } from './fixtures.ts';

/** `spec.strategy.restart` of the tag. */
export const bounds = { maxUnavailableWorkloads: 8, perNamespace: 3, minReadySeconds: 1, readyTimeout: '60s' };

/** For how long a workload has to be seen whole before the next one: half of minReadySeconds, as we and the leader see things at different times. */
const wholeMs = 500;

/** What all checks look at, and the names of all workloads that follow the tag. */
export interface Stage {
  readonly context: ScenarioContext;
  readonly observer: WorkloadObserver;
  readonly all: readonly string[];
}

/** The bounds were kept at every instant since the window began, and used. */
export async function checkBounds({ context, observer }: Stage, window: Window) {
  const { maxUnavailableWorkloads, perNamespace } = bounds;
  const most = disturbances(observer.sightings(), window);
  const { cluster, namespace, instants } = most;
  // Fewer would say that the bounds are not used, or that we see nothing.
  await context.checkNow(
    `at ${instants} instants at most ${maxUnavailableWorkloads} workloads were being replaced, and ${perNamespace} of a namespace, and so many were`,
    () => found(`${cluster.count} ${namespace.count}`, `${maxUnavailableWorkloads} ${perNamespace}`),
  );
  const slots = slotsTaken(observer.sightings(), window, wholeMs);
  await context.checkNow(
    `nor were there more than ${maxUnavailableWorkloads} with those that had not been whole for ${wholeMs} ms: ${slots.count}`,
    () => slots.count <= maxUnavailableWorkloads || found(slots.which.join(), `${maxUnavailableWorkloads} of them`),
  );
  return most;
}

/** What the observer says of somebody who heeds no bounds, while the operator is to restart nothing; everything is healthy after that. */
export async function checkNegativeControl({ context, observer, all }: Stage, revision: string) {
  await applyObject(context.client, revisionTag(tag, revision));
  await context.check('the tag asks for no restarts any more: its status says nothing of them', async () => {
    const { status } = await context.client.get<RevisionTagObject>(revisionTags, tag);
    return status !== undefined && status['restarts'] === undefined;
  });
  await sleep(1000);
  const window = { after: observer.latest() };
  await restartAllAtOnce(context, [...new Set(all.map((each) => each.split('/')[0] ?? ''))]);
  await context.check(
    `somebody restarts all ${all.length} at once: each template is changed once, all pods are of the revision`,
    () => {
      const counts = edits(observer.sightings(), window.after);
      return found(all.filter((each) => counts.get(each) !== 1 || !observer.isWholeBy(each, revision)).join(), '');
    },
  );
  const most = disturbances(observer.sightings(), window);
  const slots = slotsTaken(observer.sightings(), window, wholeMs);
  await context.checkNow(
    `which the same observer sees: ${most.cluster.count} at a time and ${most.namespace.count} in a namespace, more than ${bounds.maxUnavailableWorkloads} and ${bounds.perNamespace}`,
    () =>
      most.cluster.count > bounds.maxUnavailableWorkloads &&
      most.namespace.count > bounds.perNamespace &&
      slots.count > bounds.maxUnavailableWorkloads,
  );
  return most;
}
