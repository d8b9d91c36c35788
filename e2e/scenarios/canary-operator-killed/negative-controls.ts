import { judgeRollout, type RolloutHistory } from './judge.ts';
import type { RolloutWrite } from './writes.ts';

/** What the judge says of histories that must not be, made of one that is all right. */
export function judgeFalsified(history: RolloutHistory): [what: string, faults: readonly string[]][] {
  const { writes, steps } = history;
  const again = (write: RolloutWrite | undefined, fields: Partial<RolloutWrite> = {}): RolloutHistory => {
    if (write === undefined) throw new Error('there is no such write to falsify');
    const place = writes.indexOf(write) + 1;
    return { ...history, writes: [...writes.slice(0, place), { ...write, ...fields }, ...writes.slice(place)] };
  };
  const without = (isLeftOut: (write: RolloutWrite) => boolean): RolloutHistory => {
    return { ...history, writes: writes.filter((write) => !isLeftOut(write)) };
  };
  const [first, second] = steps;
  const [move, started] = [
    writes.find(({ path }) => path !== undefined),
    writes.find(({ state }) => state?.step === 1),
  ];
  if (first === undefined || second === undefined) throw new Error('there are no steps to falsify');
  const isPaused = ({ state }: RolloutWrite): boolean => state?.phase === 'Paused' && state.step === 0;
  const restart = { verb: 'patch', resource: 'deployments', name: 'work-000', phase: '25 %', at: 0 };
  const restarts = [1, 2].map((ordinal) => ({ ...restart, ordinal }));
  const late = new Map([...second.readyAt].map(([name, at]) => [name, at + 3_600_000]));
  const falsified: [string, RolloutHistory][] = [
    ['a step whose webhook was written twice', again(move)],
    [
      'a step that began twice',
      again(started, started?.state && { state: { ...started.state, stepStartedAt: 'later' } }),
    ],
    ['a share of one workload fewer', { ...history, steps: [{ ...first, canary: first.canary.slice(1) }, second] }],
    [
      'a share of other workloads',
      {
        ...history,
        steps: [
          first,
          {
            ...second,
            canary: [...second.canary.filter((name) => name !== first.canary[0]), 'other'],
            // Its pods were there in time: nothing but who it is can be wrong.
            readyAt: new Map([...second.readyAt, ['other', 0]]),
          },
        ],
      },
    ],
    ['a step without evidence', without(isPaused)],
    ['evidence before there were pods', { ...history, steps: [first, { ...second, readyAt: late }] }],
    ['a workload that was restarted twice', { ...history, writes: [...writes, ...restarts] }],
    ['a workload that got stable again', { ...history, flippedBack: ['work-000'] }],
    ['a rollout without an end', without(({ state }) => state?.phase === 'Promoted')],
  ];
  return falsified.map(([what, each]) => [what, judgeRollout(each)]);
}
