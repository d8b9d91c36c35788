import { setTimeout as sleep } from 'node:timers/promises';
import { applyObject } from '../../harness/apply.ts';
import { revisionTag, revisionTags, type RevisionTagObject } from '../../harness/revision-tags.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { found } from '../../harness/wait-for.ts';
import { restartAllAtOnce } from '../../harness/workload-kinds.ts';
import { disturbances, edits, slotsTaken, type Window } from '../../harness/workload-observer/history.ts';
import type { WorkloadObserver } from '../../harness/workload-observer/workload-observer.ts';

export const tag = 'prod';

/** `spec.strategy.restart` of the tag. */
export const bounds = { maxUnavailableWorkloads: 8, perNamespace: 3, minReadySeconds: 1, readyTimeout: '60s' };

/** How long a restarted workload counts as unavailable after it is ready; in ms. */
const wholeMs = 500;

/** The environment of the checks, and the names of all workloads that follow the tag. */
export interface Stage {
  readonly context: ScenarioContext;
  readonly observer: WorkloadObserver;
  readonly all: readonly string[];
}

/** Checks that the peak in the window was exactly at the bounds. */
export async function checkBounds({ context, observer }: Stage, window: Window) {
  const { maxUnavailableWorkloads, perNamespace } = bounds;
  const most = disturbances(observer.sightings(), window);
  const { cluster, namespace, instants } = most;
  // A lower peak would mean that restarts are too slow or that the observer misses changes.
  await context.checkNow(
    `at ${instants} instants, at most ${maxUnavailableWorkloads} workloads were unavailable, and at most ${perNamespace} in one namespace; both bounds were reached`,
    () => found(`${cluster.count} ${namespace.count}`, `${maxUnavailableWorkloads} ${perNamespace}`),
  );
  const slots = slotsTaken(observer.sightings(), window, wholeMs);
  await context.checkNow(
    `at most ${maxUnavailableWorkloads} workloads were unavailable or had been ready for less than ${wholeMs} ms (${slots.count})`,
    () => slots.count <= maxUnavailableWorkloads || found(slots.which.join(), `${maxUnavailableWorkloads} of them`),
  );
  return most;
}

/** Checks the negative control: the observer detects restarts that ignore all bounds. */
export async function checkNegativeControl({ context, observer, all }: Stage, revision: string) {
  await applyObject(context.client, revisionTag(tag, revision));
  await context.check('after the tag stops requesting restarts, its status has no field restarts', async () => {
    const { status } = await context.client.get<RevisionTagObject>(revisionTags, tag);
    return status !== undefined && status['restarts'] === undefined;
  });
  await sleep(1000);
  const window = { after: observer.latest() };
  await restartAllAtOnce(context, [...new Set(all.map((each) => each.split('/')[0] ?? ''))]);
  await context.check(
    `after a user restarts all ${all.length} workloads at the same time, each template has changed once and all pods have the new revision`,
    () => {
      const counts = edits(observer.sightings(), window.after);
      return found(all.filter((each) => counts.get(each) !== 1 || !observer.isWholeBy(each, revision)).join(), '');
    },
  );
  const most = disturbances(observer.sightings(), window);
  const slots = slotsTaken(observer.sightings(), window, wholeMs);
  await context.checkNow(
    `negative control: the observer sees up to ${most.cluster.count} unavailable workloads, and ${most.namespace.count} in a namespace, more than the bounds of ${bounds.maxUnavailableWorkloads} and ${bounds.perNamespace}`,
    () =>
      most.cluster.count > bounds.maxUnavailableWorkloads &&
      most.namespace.count > bounds.perNamespace &&
      slots.count > bounds.maxUnavailableWorkloads,
  );
  return most;
}
