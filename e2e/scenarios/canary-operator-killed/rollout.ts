import { rolloutOfPath } from '../../../src/api/names.ts';
import type { RolloutState } from '../../../src/api/rollout-status.ts';
import { applyObject } from '../../harness/apply.ts';
import type { Replicas } from '../../harness/replicas/replicas.ts';
import { revisionTag } from '../../harness/revision-tags.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { ask, pathOf, waitForRollout } from '../canary/shop.ts';
import type { RolloutHistory, StepSeen } from './judge.ts';
import type { Workloads } from './workloads.ts';
import { tag, writesSince } from './writes.ts';

/** How a rollout goes, and who has the pods made anew. */
export interface Manner {
  readonly weights: readonly number[];
  /** Whether the operator restarts the workloads; otherwise a person has all pods made anew once a step has begun. */
  readonly isRestarting: boolean;
}

export const byPerson: Manner = { weights: [25, 60], isRestarting: false };
/** Fewer steps: nothing is restarted for some seconds after each move of the webhook. */
export const byOperator: Manner = { weights: [25], isRestarting: true };

const minReadySeconds = 1;

function strategyOf({ weights, isRestarting }: Manner): Record<string, unknown> {
  // More pods than there are: every workload of the share has to be made anew before a step may end.
  const analysis = { minimumPods: 100, minReadySeconds };
  const canary = { steps: weights.map((weight) => ({ weight, pause: 'UntilResumed' })), analysis };
  const restart = { maxUnavailableWorkloads: 5, perNamespace: 5, minReadySeconds: 0 };
  return isRestarting ? { canary, restart } : { canary };
}

/** Milliseconds for a step, also when another process has to wait for the Lease, and for workloads that it cannot see. */
const patience = 100_000;

/** From one InjectorConfig to another. */
export type Direction = readonly [from: string, to: string];

/** What a rollout needs of the scenario. */
export interface Stage {
  readonly context: ScenarioContext;
  readonly replicas: Replicas;
  readonly workloads: Workloads;
}

/**
 * Moves the tag from one InjectorConfig to the other as a person does who looks at each step and resumes it. Resolves with what was seen once it is
 * promoted and every pod is of the other one.
 *
 * @param meanwhile what else happens while a step is paused; what it resolves with, once the step has been resumed
 */
export async function rollOut(
  { context, replicas, workloads }: Stage,
  [from, to]: Direction,
  manner: Manner,
  meanwhile?: (weight: number) => Promise<(() => Promise<void>) | undefined>,
): Promise<RolloutHistory> {
  const since = Date.now();
  const second = Math.floor(since / 1000) * 1000;
  await applyObject(context.client, revisionTag(tag, to, { strategy: strategyOf(manner) }));
  const waitUntil = (what: string, isSo: (rollout: RolloutState) => boolean) =>
    waitForRollout(context, tag, what, isSo, patience);
  const steps: StepSeen[] = [];
  for (const weight of manner.weights) {
    if (!manner.isRestarting) {
      await waitUntil(`without its pods at ${weight} percent`, ({ phase, weight: now }) => {
        return phase === 'WaitingForPods' && now === weight;
      });
      await workloads.renew();
    }
    await waitUntil(`paused at ${weight} percent`, ({ phase, weight: now }) => phase === 'Paused' && now === weight);
    const canary = await workloads.settled(to);
    steps.push({ weight, canary, readyAt: workloads.readySince(to, second) });
    const afterwards = await meanwhile?.(weight);
    await ask(context, tag, 'resume', `${since}-${weight}`);
    await afterwards?.();
  }
  await waitUntil('promoted', ({ phase, stable }) => phase === 'Promoted' && stable.injectorConfig === to);
  // What is decided is said first, and by the next leader perhaps done.
  const isMoved = async () => rolloutOfPath(await pathOf(context, tag)) === undefined;
  await waitFor(`the webhook to lead to ${to} alone`, isMoved, { timeout: patience });
  if (!manner.isRestarting) await workloads.renew();
  await workloads.allOf(to, patience);
  const writes = await writesSince(replicas, since);
  const flippedBack = workloads.flippedBack(to, from, second);
  return { workloads: workloads.names.length, minReadyMs: minReadySeconds * 1000, steps, writes, flippedBack };
}
