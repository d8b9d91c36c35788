import { setTimeout as sleep } from 'node:timers/promises';
import { applyObject } from '../../harness/apply.ts';
import { applyUntilReady } from '../../harness/injector-configs.ts';
import { markedConfig } from '../../harness/load/marked-config.ts';
import type { Replicas } from '../../harness/replicas/replicas.ts';
import { revisionTag } from '../../harness/revision-tags.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { bounds } from './bounds.ts';
import { tag } from './fixtures.ts';
import { edits } from '../../harness/workload-observer/history.ts';
import { restartsOf } from '../../harness/restart-status.ts';
import type { WorkloadObserver } from '../../harness/workload-observer/workload-observer.ts';

/**
 * All webhook replicas die in the middle of the restarts, and the webhook may be passed over (failurePolicy Ignore): pods become ready without a sidecar.
 * The restarts stop before everybody has lost it. Returns how many workloads have; the replicas run again then.
 */
export async function checkWithoutSidecar(
  context: ScenarioContext,
  observer: WorkloadObserver,
  replicas: Replicas,
  { all, revision }: { readonly all: readonly string[]; readonly revision: string },
): Promise<number> {
  const { client } = context;
  await applyUntilReady(client, markedConfig(revision, 'four', { webhook: { failurePolicy: 'Ignore' } }));
  const after = observer.latest();
  await applyObject(client, revisionTag(tag, revision, { strategy: { restart: bounds } }));
  await waitFor('the first workloads to be restarted', () => all.some((each) => observer.isWholeBy(each, revision)));
  await Promise.all(replicas.webhooks.map((each) => replicas.kill(each)));
  const withoutSidecar = () =>
    all.filter((each) => [...(observer.standing(each)?.pods.values() ?? [])].some(({ maker }) => maker === 'none'));
  await context.check('no replica serves any more: the restarts stop, and the status says why', async () => {
    const { phase, message } = await restartsOf(context, tag);
    if (withoutSidecar().length > 0 && phase === 'Stopped' && /sidecar/.test(message)) return true;
    throw new Error(`it says ${phase}: ${message}`);
  });
  await sleep(2000);
  const restarted = edits(observer.sightings(), after).size;
  const lost = withoutSidecar().length;
  await context.checkNow(
    `${lost} of ${all.length} workloads have pods without a sidecar, at most ${bounds.maxUnavailableWorkloads}; ${restarted} were restarted, less than half`,
    () => lost <= bounds.maxUnavailableWorkloads && restarted < all.length / 2,
  );
  await Promise.all(replicas.webhooks.map(({ operator }) => operator.restart()));
  await replicas.waitUntilServing();
  return lost;
}
