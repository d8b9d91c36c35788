import { applyObject } from '../../harness/apply.ts';
import { applyTagUntilReady, revisionTag } from '../../harness/revision-tags.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { untilActive } from '../../harness/until-active.ts';
import { found, none, waitFor } from '../../harness/wait-for.ts';
import { createAll, nameOf, restartAllAtOnce, workload } from '../../harness/workload-kinds.ts';
import { edits } from '../../harness/workload-observer/history.ts';
import { WorkloadObserver } from '../../harness/workload-observer/workload-observer.ts';
import type { WorkloadOptions } from '../../harness/workloads.ts';
import { ask, pathOf, waitForRollout } from '../canary/workloads.ts';

const tag = 'careful';
/** A quarter gets the canary: one workload, because restarts in sequence are 10 s apart. */
const workloads = 4;
/** The timeout in milliseconds for a rollback and its restart. */
const patience = 60_000;

/**
 * Checks rollback.restart: Canary. All workloads restart during a rollout, the pods with the canary
 * crash, and the operator then restarts only their workloads. Repeats the check with a retry.
 */
export async function checkRestartsBack(
  context: ScenarioContext,
  { stable, failing }: { readonly stable: string; readonly failing: string },
): Promise<number> {
  const { client } = context;
  await applyTagUntilReady(client, revisionTag(tag, stable));
  const { namespace, observer, names } = await startObserved(context, tag, workloads);
  const areWhole = () => {
    const others = names.filter((each) => !observer.isWholeBy(each, stable));
    return found(others.join(), '');
  };
  await context.check(`${workloads} other workloads are ready and stable`, areWhole);
  const canary = { steps: [{ weight: 25 }, { weight: 100 }], analysis: { minimumPods: 1, minReadySeconds: 5 } };
  const strategy = { canary, rollback: { restart: 'Canary' } };
  const begun = observer.latest();
  await applyObject(client, revisionTag(tag, failing, { strategy }));
  const first = await restartAllInStep(context, observer, namespace, failing);
  await context.check('the operator restarts workloads until all pods are ready and stable', areWhole, {
    timeout: patience,
  });
  const share = Math.ceil(workloads / 4);
  await context.check(`the operator has restarted only the ${share} workloads with the canary`, () => {
    found(String(first.length), String(share));
    return found(restartedTwice(observer, begun).join(), first.join());
  });
  await context.checkNow('all canary pods crash, and all other pods are ready', () => {
    const seen = podsOf(observer, begun, failing).filter(({ ready }) => ready);
    none(seen.map(({ workload }) => workload));
    return areWhole();
  });

  const again = observer.latest();
  await ask(context, tag, 'retry', 'again');
  const second = await restartAllInStep(context, observer, namespace, failing);
  await context.check('after a retry and rollback, all pods are ready and stable again', areWhole, {
    timeout: patience,
  });
  await context.check('the operator has restarted only the workloads with the canary', () =>
    found(restartedTwice(observer, again).join(), second.join()),
  );
  return first.length + second.length;
}

/**
 * Restarts all workloads while the first step is active; returns those that got a canary pod before
 * the rollback, sorted.
 */
async function restartAllInStep(
  context: ScenarioContext,
  observer: WorkloadObserver,
  namespace: string,
  canary: string,
): Promise<string[]> {
  await waitFor('the webhook to name both revisions', async () => (await pathOf(context, tag)).includes(`/${canary}/`));
  await untilActive(context.client);
  const since = observer.latest();
  const names = await restartAllAtOnce(context, [namespace]);
  await waitForRollout(context, tag, 'rolled back', ({ phase }) => phase === 'RolledBack');
  const withCanary = podsOf(observer, since, canary).map(({ workload }) => workload);
  return names.filter((name) => withCanary.includes(name)).sort();
}

/** Returns the versions of pods that an InjectorConfig injected, after an etcd revision. */
function podsOf(observer: WorkloadObserver, after: number, maker: string) {
  return observer.sightings().flatMap(({ revision, workload, seen }) => {
    const isMade = revision > after && seen.what === 'pod' && seen.maker === maker;
    return isMade ? [{ workload, ready: seen.ready }] : [];
  });
}

/** Returns the workloads that restarted twice: by the test and by the operator. */
function restartedTwice(observer: WorkloadObserver, after: number): string[] {
  const counts = [...edits(observer.sightings(), after)];
  const other = counts.filter(([, count]) => count > 2).map(([name, count]) => `${name} ${count} times`);
  if (other.length > 0) throw new Error(other.join(', '));
  return counts
    .filter(([, count]) => count === 2)
    .map(([name]) => name)
    .sort();
}

/** Creates Deployments in a namespace that follows a tag, and observes them. */
export async function startObserved(context: ScenarioContext, tag: string, count: number, options?: WorkloadOptions) {
  const namespace = await context.namespace(tag, { 'istio.io/rev': tag });
  const observer = await WorkloadObserver.open(context, (each) => each === namespace);
  const objects = Array.from({ length: count }, (_, index) =>
    workload('Deployment', namespace, `work-${index}`, options),
  );
  await createAll(context, objects);
  return { namespace, observer, names: objects.map(nameOf) };
}
