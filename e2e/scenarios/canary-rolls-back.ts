import { setTimeout as sleep } from 'node:timers/promises';
import { applyObject } from '../harness/apply.ts';
import { applyUntilReady } from '../harness/injector-configs.ts';
import { markedConfig } from '../harness/load/marked-config.ts';
import { applyTagUntilReady, revisionTag, revisionTags, type RevisionTagObject } from '../harness/revision-tags.ts';
import type { Scenario, ScenarioContext } from '../harness/scenario-context.ts';
import { untilActive } from '../harness/until-active.ts';
import { found, waitFor } from '../harness/wait-for.ts';
import { createAll, nameOf, restartAllAtOnce, workload } from '../harness/workload-kinds.ts';
import { edits } from '../harness/workload-observer/history.ts';
import { WorkloadObserver } from '../harness/workload-observer/workload-observer.ts';
import { failingConfig } from './canary/failing-config.ts';
import { ask, checkLossSeen, pathOf, waitForRollout, Workloads } from './canary/workloads.ts';

/** A unique tag: workloads of deleted namespaces count for a minute and would delay the rollout. */
const tag = 'taken-back';

export const canaryRollsBack: Scenario = {
  name: 'canary-rolls-back',
  about:
    'the operator rolls back a canary whose pods crash: new pods immediately come from stable, the status names the reason, and with rollback.restart all pods become healthy again',
  destructive: 'it needs the audit log of the embedded control plane',
  run: async (context) => {
    const { client } = context;
    const count = 12;
    const values = { operator: { restartWorkloads: true } };
    const replicas = await context.startReplicas({ webhooks: 2, controllers: 2, flags: ['--drain-seconds=2'] }, values);
    await applyUntilReady(client, markedConfig('v1', 'one'));
    await applyUntilReady(client, failingConfig('v2', 'two'));
    await applyTagUntilReady(client, revisionTag(tag, 'v1'));
    await checkLossSeen(context, replicas, tag);
    const workloads = await Workloads.open(context, context.requireAudit(), tag, count);
    const strategy = {
      canary: { steps: [{ weight: 25 }, { weight: 100 }], analysis: { minimumPods: 1, minReadySeconds: 5 } },
    };
    const before = await pathOf(context, tag);
    await applyObject(client, revisionTag(tag, 'v2', { strategy }));
    const rolled = await waitForRollout(context, tag, 'rolled back', ({ phase }) => phase === 'RolledBack');
    const since = Date.now();
    await context.check('the status names the failure, the number of failing pods, and the bound', () =>
      /^revision v2 was rolled back to v1 at step 1 \(25 percent\): \d+ of \d+ pods of the canary are failing.*maximumFailingPercent/.test(
        rolled.message,
      ),
    );
    await context.check('the webhook has its earlier path to stable again', async () =>
      found(await pathOf(context, tag), before),
    );
    const tookMs = Date.now() - since;
    await untilActive(client);
    const makers = await workloads.renew();
    await context.check('every new pod comes from the stable revision', () =>
      found([...new Set([...makers.values()].flatMap((each) => [...each]))].join(), 'v1'),
    );
    // The churn always deletes some pods, so each workload is healthy at a different time.
    const healthy = new Set<string>();
    await context.check('every workload becomes healthy again', async () => {
      for (const each of await workloads.ready()) healthy.add(each);
      return healthy.size === count;
    });
    await context.check('condition Ready of the tag is False with reason RolledBack', async () => {
      const { status } = await client.get<RevisionTagObject>(revisionTags, tag);
      const ready = status?.conditions?.find(({ type }) => type === 'Ready');
      return found(`${ready?.status} ${ready?.reason} ${status?.stableRevision}`, 'False RolledBack v1');
    });
    await ask(context, tag, 'retry', 'again');
    await waitForRollout(context, tag, 'rolled back a second time', ({ phase, action, message }) => {
      return phase === 'RolledBack' && action?.nonce === 'again' && message.includes('failing');
    });
    await context.check('the retry is rolled back, too', async () => found(await pathOf(context, tag), before));
    const created = await workloads.checkNoneLost();
    const restarted = await checkRestartsBack(context, { stable: 'v1', failing: 'v2' });
    context.measured({ workloads: count, created, lost: 0, stableAgainMilliseconds: tookMs, restartedBack: restarted });
    return `rolled back twice, stable again within ${tookMs} ms of the decision; ${created} pods created, 0 lost; with rollback.restart ${restarted} workloads restarted to stable, all healthy`;
  },
};

const careful = 'careful';
const workloads = 8;
/** The timeout in milliseconds for sequential restarts with the default minReadySeconds of 10. */
const patience = 60_000;

/**
 * Checks rollback.restart: Canary. All workloads restart during a rollout, the pods with the canary
 * crash, and the operator then restarts only their workloads. Repeats the check with a retry.
 */
async function checkRestartsBack(
  context: ScenarioContext,
  { stable, failing }: { readonly stable: string; readonly failing: string },
): Promise<number> {
  const { client } = context;
  await applyTagUntilReady(client, revisionTag(careful, stable));
  const namespace = await context.namespace(careful, { 'istio.io/rev': careful });
  const observer = await WorkloadObserver.open(context, (each) => each === namespace);
  const objects = Array.from({ length: workloads }, (_, index) => workload('Deployment', namespace, `work-${index}`));
  const names = objects.map(nameOf);
  await createAll(context, objects);
  const areWhole = () => {
    const others = names.filter((each) => !observer.isWholeBy(each, stable));
    return found(others.join(), '');
  };
  await context.check(`${workloads} other workloads are ready and stable`, areWhole);
  const canary = { steps: [{ weight: 25 }, { weight: 100 }], analysis: { minimumPods: 1, minReadySeconds: 5 } };
  const strategy = { canary, rollback: { restart: 'Canary' } };
  const begun = observer.latest();
  await applyObject(client, revisionTag(careful, failing, { strategy }));
  const first = await restartAllInStep(context, observer, namespace, failing);
  await context.check('the operator restarts workloads until all pods are ready and stable', areWhole, {
    timeout: patience,
  });
  const share = Math.ceil(workloads / 4);
  await context.check(`the operator has restarted only the ${share} workloads with the canary`, () => {
    found(String(first.length), String(share));
    return found(restartedTwice(observer, begun).join(), first.join());
  });

  const again = observer.latest();
  await ask(context, careful, 'retry', 'again');
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
  await waitFor('the webhook to name both revisions', async () =>
    (await pathOf(context, careful)).includes(`/${canary}/`),
  );
  // The API server starts to use a stored webhook after a delay.
  await sleep(500);
  const since = observer.latest();
  const names = await restartAllAtOnce(context, [namespace]);
  await waitForRollout(context, careful, 'rolled back', ({ phase }) => phase === 'RolledBack');
  const makers = observer
    .sightings()
    .filter(({ revision, seen }) => revision > since && seen.what === 'pod' && seen.maker === canary)
    .map(({ workload: name }) => name);
  return names.filter((name) => makers.includes(name)).sort();
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
