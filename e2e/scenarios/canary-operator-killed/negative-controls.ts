import type { RolloutState } from '../../../src/api/revision-tag/revision-tag.ts';
import { everyWorkload } from '../../../src/routing/workload-key.ts';
import { endOfStep, statesOf, type RolloutHistory, type StepSeen } from './history.ts';
import { rules } from './judge.ts';
import type { RolloutWrite } from './writes.ts';

export interface RightHistories {
  /** A rollout with two steps, both resumed by a user. */
  readonly promoted: RolloutHistory;
  /** A rollout with a shadow step, a timed pause, and a step that a user aborts. */
  readonly aborted: RolloutHistory;
  /** A rollout whose pods crash. */
  readonly failed: RolloutHistory;
}

const hourMs = 3_600_000;

/**
 * Applies all rules to one falsified history per rule, which only that rule must refuse. Returns a
 * description of each history that its rule accepts or that another rule refuses, and of each rule
 * that has no falsified history.
 */
export function wronglyJudged(right: RightHistories): string[] {
  const falsified = falsify(right);
  const unproven = [...rules.keys()].filter((name) => !falsified.has(name));
  const wrong = [...falsified].flatMap(([name, history]) => {
    const refused = [...rules].flatMap(([each, rule]) => (rule(history).length > 0 ? [each] : []));
    return refused.join() === name ? [] : [`the rollout that violates "${name}" is refused by: ${refused.join(', ')}`];
  });
  return [...unproven.map((name) => `"${name}" has no negative control`), ...wrong];
}

function falsify({ promoted, aborted, failed }: RightHistories): Map<string, RolloutHistory> {
  const [first, second] = promoted.steps;
  const timed = aborted.steps.find(({ pauseMs }) => pauseMs !== undefined);
  const [move, secondMove, lastMove] = promoted.writes.filter(({ path }) => path !== undefined);
  const parts = [first, second, timed, move, secondMove, lastMove];
  if (first === undefined || second === undefined || timed === undefined || parts.includes(undefined)) throw missing();
  const started = stateOf(promoted, ({ step }) => step === 1);
  const paused = stateOf(promoted, isPausedAt(0));
  const answered = stateOf(aborted, ({ phase }) => phase === 'RolledBack');
  const rolledBack = stateOf(failed, ({ phase }) => phase === 'RolledBack');
  const newcomer = second.canary.find((name) => !first.canary.includes(name));
  return new Map<string, RolloutHistory>([
    ['a rollout begins once', after(promoted, started, withState(started, { startedAt: 'later' }))],
    ['a step begins once', after(promoted, started, withState(started, { stepStartedAt: 'later' }))],
    ['a step has its planned weight', after(promoted, started, withState(started, { weight: 61 }))],
    [
      'a share never shrinks',
      edited(promoted, move, ({ path = '' }) => ({ path: path.replace(/[0-9a-f]{16}/, everyWorkload) })),
    ],
    ['a share is exact', withStep(promoted, second, { canary: second.canary.filter((name) => name !== newcomer) })],
    [
      'a workload keeps the canary in later steps',
      withStep(promoted, second, {
        canary: [...second.canary.filter((name) => name !== first.canary[0]), 'other'],
        // The pods of `other` are ready in time, so that only the name of the workload is wrong.
        readyAt: new Map([...second.readyAt, ['other', 0]]),
      }),
    ],
    ['a step collects its evidence', without(promoted, isPausedAt(0))],
    ['a step ends after its evidence', edited(promoted, paused, ({ at }) => ({ at: at + hourMs }))],
    [
      'evidence consists of pods that were ready for long enough',
      withStep(promoted, second, { readyAt: readyAll(second, Date.now() + hourMs) }),
    ],
    [
      'a shadow step ends after its comparisons',
      { ...aborted, podsMadeAt: aborted.podsMadeAt.slice(1 - aborted.minimumPods) },
    ],
    ['a pause begins once', after(promoted, paused, withState(paused, { pausedAt: 'later' }))],
    ['a pause is not shorter than planned', withShortPause(aborted, timed)],
    ['a pause is not longer than planned', withLongPause(aborted)],
    ['the webhook is updated once per step and once at the end', after(promoted, secondMove, secondMove)],
    [
      'the webhook finally points to the planned InjectorConfig',
      edited(promoted, lastMove, () => ({ path: '/tags/steadfast/v9/00000000/inject' })),
    ],
    ['a rollout ends as planned', without(promoted, ({ phase }) => phase === 'Promoted')],
    [
      'the canary does not return after its rollback',
      after(
        failed,
        rolledBack,
        stateOf(failed, ({ step }) => step === 0),
        rolledBack,
      ),
    ],
    ['an abort is executed once', after(aborted, answered, refused(answered))],
    [
      'a workload is restarted at most once per revision',
      { ...after(promoted, paused, restartOf('work-000'), restartOf('work-000')), restartable: ['work-000'] },
    ],
    ['only eligible workloads are restarted', after(failed, rolledBack, restartOf('work-999'))],
    ['the operator writes no other objects', after(promoted, paused, { ...other, resource: 'secrets' })],
  ]);
}

/** Dates the readiness of pods later, so that only half of the planned pause remains. */
function withShortPause(history: RolloutHistory, step: StepSeen): RolloutHistory {
  const index = history.steps.indexOf(step);
  const evidence = (endOfStep(statesOf(history), index)?.at ?? 0) - (step.pauseMs ?? 0) / 2;
  const ready = withStep(history, step, { readyAt: readyAll(step, evidence - history.minReadyMs) });
  return edited(ready, stateOf(history, isPausedAt(index)), () => ({ at: evidence }));
}

/** Delays all writes after the start of the pause by an hour. */
function withLongPause(history: RolloutHistory): RolloutHistory {
  const index = history.steps.findIndex(({ pauseMs }) => pauseMs !== undefined);
  const place = history.writes.indexOf(stateOf(history, isPausedAt(index)));
  const writes = history.writes.map((write, each) => (each > place ? { ...write, at: write.at + hourMs } : write));
  return { ...history, writes };
}

function refused(write: RolloutWrite): RolloutWrite {
  const action = write.state?.action;
  if (action === undefined) throw missing();
  return withState(write, { action: { ...action, state: 'Refused' } });
}

const other: RolloutWrite = { verb: 'patch', resource: 'deployments', name: 'other', phase: '', ordinal: 1, at: 0 };

function restartOf(name: string): RolloutWrite {
  return { ...other, name, restart: `deployments ${name} for v2.00000000` };
}

function isPausedAt(index: number): (state: RolloutState) => boolean {
  return ({ phase, step }) => phase === 'Paused' && step === index;
}

function stateOf({ writes }: RolloutHistory, isSo: (state: RolloutState) => boolean): RolloutWrite {
  const found = writes.find(({ state }) => state !== undefined && isSo(state));
  if (found === undefined) throw missing();
  return found;
}

function withState(write: RolloutWrite, fields: Partial<RolloutState>): RolloutWrite {
  if (write.state === undefined) throw missing();
  return { ...write, state: { ...write.state, ...fields } };
}

function after(history: RolloutHistory, place: RolloutWrite | undefined, ...more: (RolloutWrite | undefined)[]) {
  const writes = history.writes.flatMap((write) => (write === place ? [write, ...more] : [write]));
  return { ...history, writes: writes.flatMap((write) => write ?? []) };
}

function edited(
  history: RolloutHistory,
  place: RolloutWrite | undefined,
  edit: (write: RolloutWrite) => Partial<RolloutWrite>,
): RolloutHistory {
  const writes = history.writes.map((write) => (write === place ? { ...write, ...edit(write) } : write));
  return { ...history, writes };
}

function without(history: RolloutHistory, isLeftOut: (state: RolloutState) => boolean): RolloutHistory {
  return { ...history, writes: history.writes.filter(({ state }) => state === undefined || !isLeftOut(state)) };
}

function withStep(history: RolloutHistory, step: StepSeen, fields: Partial<StepSeen>): RolloutHistory {
  return { ...history, steps: history.steps.map((each) => (each === step ? { ...each, ...fields } : each)) };
}

function readyAll({ canary }: StepSeen, at: number): ReadonlyMap<string, number> {
  return new Map(canary.map((name) => [name, at]));
}

function missing(): Error {
  return new Error('the rollout has no such write to falsify');
}
