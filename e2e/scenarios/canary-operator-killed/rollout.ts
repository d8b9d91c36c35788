import { setTimeout as sleep } from 'node:timers/promises';
import type { RolloutState } from '../../../src/api/revision-tag/revision-tag.ts';
import {
  pathWritesOf,
  type RolloutEnd,
  type RolloutHistory,
} from '../../../src/operator/rollout/testdata/rollout-rules.ts';
import { parseRoute, type Route } from '../../../src/routing/route.ts';
import { applyObject } from '../../harness/apply.ts';
import type { AuditLog } from '../../harness/audit-log.ts';
import type { Replicas } from '../../harness/replicas/replicas.ts';
import { revisionTag } from '../../harness/revision-tags.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import type { Standstill } from '../../harness/standstill/standstill.ts';
import { untilActive } from '../../harness/until-active.ts';
import { waitFor } from '../../harness/wait-for.ts';
import { ask, pathOf, waitForRollout, type Workloads } from '../canary/workloads.ts';
import {
  directionOf,
  minimumPods,
  minReadySeconds,
  strategyOf,
  type Direction,
  type Plan,
  type PlannedStep,
} from './plans.ts';
import { tag, writesSince, type KeyedWrite } from './writes.ts';

export interface Stage {
  readonly context: ScenarioContext;
  readonly replicas: Replicas;
  readonly audit: AuditLog;
  readonly workloads: Workloads;
  readonly standstill: Standstill;
  /** The InjectorConfig of all workloads between two rollouts. */
  stable: string;
}

export interface SeenRollout extends RolloutHistory {
  readonly writes: readonly KeyedWrite[];
}

interface Companion {
  /** Runs while a step is paused. */
  readonly meanwhile?: (step: PlannedStep) => Promise<void>;
  /** Runs at the end. Resolves when there is a leader that will not be killed. */
  readonly settled?: () => Promise<void>;
  readonly deaths?: readonly number[];
}

/** The timeout of a step in milliseconds, including waits for a new leader and for workloads. */
const patience = 100_000;
/** The milliseconds after which a shadow step gets more new pods. */
const roundMs = 1500;
/** How late each leader may end a pause, in milliseconds, because it first reads the cluster. */
const tardyMs = 12_000;
/** The milliseconds for which a leader must not start a rolled-back canary again. */
const dwellMs = 2000;

/**
 * Moves the tag to another InjectorConfig, as a user who inspects each step does. Resolves when the
 * rollout has ended and the final revision injected every pod. Resets the tag after a rollback.
 */
export async function rollOut(stage: Stage, plan: Plan, companion: Companion = {}): Promise<SeenRollout> {
  const { context, replicas, workloads } = stage;
  const { from, to } = directionOf(plan, stage.stable);
  const since = Date.now();
  const second = Math.floor(since / 1000) * 1000;
  const strategy = strategyOf(plan);
  await applyObject(context.client, revisionTag(tag, to, { strategy }));
  const seen: ReadonlyMap<string, number>[] = [];
  const canaries: string[][] = [];
  for (const [index, step] of plan.steps.entries()) {
    await reach(stage, plan, step);
    if (isPaused(plan, step)) {
      canaries[index] = await workloads.settled(to);
      seen[index] = workloads.pods.readySince(to, second);
      await companion.meanwhile?.(step);
      const isLast = index === plan.steps.length - 1;
      const verb = isLast && plan.end === 'Aborted' ? 'abort' : 'resume';
      if (step.pauseSeconds === undefined) await ask(context, tag, verb, nonceOf(since, step));
    }
  }
  const end = endOf(plan, { from, to }, since);
  await reachEnd(stage, plan, end);
  if (companion.settled !== undefined) {
    await writesSince(replicas, since);
    await companion.settled();
    if (end.phase === 'RolledBack') await sleep(dwellMs);
  }
  if (plan.isRestarting !== true) await renewAll(stage, end);
  const writes = await writesSince(replicas, since);
  const until = rolledBackAt(writes) ?? Infinity;
  const stoodStillMs = await stage.standstill.between(since, Date.now());
  const steps = plan.steps.map((step, index): RolloutHistory['steps'][number] => {
    const { isShadow = false, weight, pauseSeconds } = step;
    const moved = Math.floor((pathWritesOf({ writes })[index + 1]?.at ?? Infinity) / 1000) * 1000;
    return {
      weight,
      ends: isShadow ? 'Compared' : isPaused(plan, step) ? 'Paused' : 'Failed',
      ...(pauseSeconds === undefined ? {} : { pauseMs: pauseSeconds * 1000 }),
      tardyMs: tardyMs * (1 + (companion.deaths ?? []).length) + stoodStillMs,
      canary: canaries[index] ?? workloads.pods.gotBetween(to, second, isShadow ? moved : Infinity),
      readyAt: seen[index] ?? new Map(),
    };
  });
  const history: SeenRollout = {
    tag,
    workloads: workloads.names.length,
    minReadyMs: minReadySeconds * 1000,
    minimumPods,
    steps,
    end,
    writes,
    flippedBack: workloads.pods.flippedBack(to, from, { since: second, until }),
    restartable: restartable(plan, workloads, to, second),
    podsMadeAt: workloads.pods.madeAt().filter((at) => at >= since),
  };
  if (end.phase === 'Promoted') stage.stable = to;
  else await leadBack(stage, plan, since);
  return history;
}

/** Waits until a step needs a user's action, or ends automatically. */
async function reach(stage: Stage, plan: Plan, step: PlannedStep): Promise<void> {
  const { context, workloads } = stage;
  const { weight } = step;
  if (step.isShadow === true) {
    await compare(stage);
    return;
  }
  if (plan.isRestarting !== true) {
    const past: number[] = [];
    await waitUntil(stage, `waiting for pods at ${weight} percent`, ({ phase, canary, weight: now }) => {
      // Pods of a comparison that were created late may already be the evidence of this step.
      if (canary !== undefined && now > weight) past.push(now);
      return past.length > 0 || (phase === 'WaitingForPods' && now === weight);
    });
    if (past.length === 0) {
      await untilActive(context.client);
      await workloads.renew();
    }
  }
  if (!isPaused(plan, step)) return;
  await waitUntil(stage, `paused at ${weight} percent`, ({ phase, canary, weight: now }) => {
    // A timed pause may already be over. The state of an earlier promotion also has a weight.
    return canary !== undefined && ((phase === 'Paused' && now === weight) || now > weight);
  });
}

/** Creates pods in rounds until a shadow step is over. The first round has too few pods. */
async function compare(stage: Stage): Promise<void> {
  const { context, workloads } = stage;
  const isShadow = async () => {
    const route = await routeNow(context);
    return route?.canary !== undefined && route.shadow;
  };
  await waitFor('the webhook to compare pods', isShadow, { timeout: patience });
  await untilActive(context.client);
  let renewedAt = 0;
  const isOver = async () => {
    if (Date.now() - renewedAt > roundMs) {
      await workloads.renew();
      renewedAt = Date.now();
    }
    const { shadow } = await waitUntil(stage, 'written', () => true);
    return !shadow;
  };
  await waitFor('the shadow step to be over', isOver, { timeout: patience });
}

async function reachEnd(stage: Stage, plan: Plan, end: RolloutEnd): Promise<void> {
  const { context, workloads } = stage;
  const { phase, reason, injectorConfig } = end;
  await waitUntil(stage, `${phase}/${reason}`, (state) => {
    return state.phase === phase && state.reason === reason && state.stable.injectorConfig === injectorConfig;
  });
  // The status is written before the webhook; the next leader may have to update the webhook.
  const hasOnlyTarget = async () => (await routeNow(context))?.canary === undefined;
  await waitFor(`the webhook to point only to ${injectorConfig}`, hasOnlyTarget, { timeout: patience });
  const isRestarted = plan.isRestarting === true || plan.end === 'PodsFailing';
  if (isRestarted) await workloads.allOf(injectorConfig, patience);
  else await renewAll(stage, end);
}

/** Recreates all pods after the end, and checks that one InjectorConfig injects them. */
async function renewAll({ context, workloads }: Stage, { injectorConfig }: RolloutEnd): Promise<void> {
  await untilActive(context.client);
  await workloads.renew();
  await workloads.allOf(injectorConfig, patience);
}

/** Resets spec.revision to the stable revision, so that the next edit starts a rollout. */
async function leadBack(stage: Stage, plan: Plan, since: number): Promise<void> {
  const { context, replicas, stable } = stage;
  await applyObject(context.client, revisionTag(tag, stable, { strategy: strategyOf(plan) }));
  await waitUntil(stage, 'idle', ({ phase }) => phase === 'Idle');
  await writesSince(replicas, since);
}

function waitUntil({ context }: Stage, what: string, isSo: (rollout: RolloutState) => boolean): Promise<RolloutState> {
  return waitForRollout(context, tag, what, isSo, patience);
}

function isPaused({ end }: Plan, { isShadow }: PlannedStep): boolean {
  return isShadow !== true && end !== 'PodsFailing';
}

function nonceOf(since: number, { weight }: PlannedStep): string {
  return `${since}-${weight}`;
}

function endOf({ end, steps }: Plan, { from, to }: Direction, since: number): RolloutEnd {
  if (end === 'Promoted') return { phase: end, reason: end, injectorConfig: to };
  const last = steps.at(-1);
  const abort = end === 'Aborted' && last !== undefined ? { abort: nonceOf(since, last) } : {};
  return { phase: 'RolledBack', reason: end, injectorConfig: from, ...abort };
}

/** Returns the workloads that the operator may restart: all, the failing share, or none. */
function restartable({ isRestarting, end }: Plan, workloads: Workloads, to: string, since: number): string[] {
  if (isRestarting === true) return [...workloads.names];
  return end === 'PodsFailing' ? workloads.pods.gotBetween(to, since, Infinity) : [];
}

/** Returns the time of the rollback (ms since 1970), rounded down to a second. */
function rolledBackAt(writes: RolloutHistory['writes']): number | undefined {
  const first = writes.find(({ state }) => state?.phase === 'RolledBack');
  return first === undefined ? undefined : Math.floor(first.at / 1000) * 1000;
}

async function routeNow(context: ScenarioContext): Promise<Route | undefined> {
  return parseRoute(await pathOf(context, tag))?.route;
}
