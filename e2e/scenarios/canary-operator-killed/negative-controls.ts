import type { RolloutState } from '../../../src/api/revision-tag/revision-tag.ts';
import { everyWorkload } from '../../../src/routing/workload-key.ts';
import { endOfStep, statesOf, type RolloutHistory, type StepSeen } from './history.ts';
import { rules } from './judge.ts';
import type { RolloutWrite } from './writes.ts';

export interface RightHistories {
  /** In two steps that a person resumes. */
  readonly promoted: RolloutHistory;
  /** In three: a shadow step, a timed pause, and one that is aborted. */
  readonly aborted: RolloutHistory;
  /** Its pods crash. */
  readonly failed: RolloutHistory;
}

const hourMs = 3_600_000;

/**
 * For each rule a history that it has to refuse, and it alone.
 *
 * @returns the names of those by which it is refused otherwise
 */
export function wronglyJudged(right: RightHistories): string[] {
  const falsified = falsify(right);
  const unproven = [...rules.keys()].filter((name) => !falsified.has(name));
  const wrong = [...falsified].flatMap(([name, history]) => {
    const refused = [...rules].flatMap(([each, rule]) => (rule(history).length > 0 ? [each] : []));
    return refused.join() === name ? [] : [`"${name}" is refused by ${refused.map((each) => `"${each}"`).join(', ')}`];
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
    ['a step has its weight', after(promoted, started, withState(started, { weight: 61 }))],
    [
      'a share never shrinks',
      edited(promoted, move, ({ path = '' }) => ({ path: path.replace(/[0-9a-f]{16}/, everyWorkload) })),
    ],
    ['a share is exact', withStep(promoted, second, { canary: second.canary.filter((name) => name !== newcomer) })],
    [
      'a workload of one step is one of the next',
      withStep(promoted, second, {
        canary: [...second.canary.filter((name) => name !== first.canary[0]), 'other'],
        // Its pods were there in time: nothing but who it is can be wrong.
        readyAt: new Map([...second.readyAt, ['other', 0]]),
      }),
    ],
    ['a step has its evidence', without(promoted, isPausedAt(0))],
    ['a step ends after its evidence', edited(promoted, paused, ({ at }) => ({ at: at + hourMs }))],
    [
      'evidence is pods that have been ready for long enough',
      withStep(promoted, second, { readyAt: readyAll(second, Date.now() + hourMs) }),
    ],
    [
      'a shadow step ends after its comparisons',
      { ...aborted, podsMadeAt: aborted.podsMadeAt.slice(1 - aborted.minimumPods) },
    ],
    ['a pause begins once', after(promoted, paused, withState(paused, { pausedAt: 'later' }))],
    ['a pause lasts as long as it should', withShortPause(aborted, timed)],
    ['a pause lasts no longer than it should', withLongPause(aborted)],
    ['the webhook is updated once a step, and once at the end', after(promoted, secondMove, secondMove)],
    [
      'the webhook leads in the end where it should',
      edited(promoted, lastMove, () => ({ path: '/tags/steadfast/v9/00000000/inject' })),
    ],
    ['a rollout ends as it should', without(promoted, ({ phase }) => phase === 'Promoted')],
    [
      'what was rolled back does not come back',
      after(
        failed,
        rolledBack,
        stateOf(failed, ({ step }) => step === 0),
        rolledBack,
      ),
    ],
    ['an abort is carried out once', after(aborted, answered, refused(answered))],
    [
      'a workload is restarted once for a revision',
      { ...after(promoted, paused, restartOf('work-000'), restartOf('work-000')), restartable: ['work-000'] },
    ],
    ['only what may be restarted is', after(failed, rolledBack, restartOf('work-999'))],
    ['nothing else is written', after(promoted, paused, { ...other, resource: 'secrets' })],
  ]);
}

/** The evidence comes so late that the pause may have been half as long as it should. */
function withShortPause(history: RolloutHistory, step: StepSeen): RolloutHistory {
  const index = history.steps.indexOf(step);
  const evidence = (endOfStep(statesOf(history), index)?.at ?? 0) - (step.pauseMs ?? 0) / 2;
  const ready = withStep(history, step, { readyAt: readyAll(step, evidence - history.minReadyMs) });
  return edited(ready, stateOf(history, isPausedAt(index)), () => ({ at: evidence }));
}

/** All that follows the beginning of the pause is done an hour later. */
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
  return new Error('there is no such thing in the rollout to falsify');
}
