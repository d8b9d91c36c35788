import assert from 'node:assert/strict';
import fc from 'fast-check';
import { until } from '../testdata/until.ts';
import { type CarrierEvent, Helper, type HelperFailure, type HelperOptions } from './helper.ts';

interface Answer {
  readonly answered: string;
}
interface Given {
  readonly bounds?: HelperOptions<string, Answer, string>['bounds'];
  readonly clock?: () => number;
  readonly processorTime?: () => number;
  /** The milliseconds that the end of a carrier takes. */
  readonly endsIn?: number;
}
interface JobOptions {
  readonly bytes?: number;
  readonly namespace?: string;
  readonly startBy?: number;
  readonly allowed?: number;
}

/** A helper whose carrier answers each task with a note and the task, except for some tasks. */
function start({ bounds = {}, clock = () => performance.now(), processorTime, endsIn = 0 }: Given = {}) {
  const seen: string[] = [];
  const outcomes: string[] = [];
  let alive = 0;
  const durations: number[] = [];
  let current: (event: CarrierEvent<Answer, string>) => void = () => undefined;
  const helper = new Helper<string, Answer, string>({
    clock,
    bounds,
    start(report) {
      alive += 1;
      seen.push(alive === 1 ? 'start' : 'two carriers');
      current = report;
      return {
        post(task) {
          if (task === 'refuse') throw new Error('refused');
          if (task.startsWith('hang')) return;
          setImmediate(() => {
            if (task === 'lose') report({ lost: 'memory', problem: 'gone' });
            report({ note: task });
            report({ answer: { answered: task } });
          });
        },
        ...(processorTime && { processorTime }),
        async end() {
          await new Promise((resolve) => setTimeout(resolve, endsIn));
          alive -= 1;
          seen.push('end');
          setImmediate(() => report({ answer: { answered: 'late' } }));
        },
      };
    },
    failed: (failure, problem) =>
      seen.push(`${failure}: ${problem instanceof Error ? problem.message : String(problem)}`),
  });
  function submit(task: string, options: JobOptions = {}): Promise<string> {
    return new Promise((resolve) => {
      helper.submit({
        bytes: 1,
        namespace: 'shop',
        startBy: Infinity,
        allowed: 60_000,
        ...options,
        task: () => task,
        read: (note) => seen.push(`note ${note}`),
        ended(outcome: Answer | HelperFailure, seconds) {
          const text = typeof outcome === 'string' ? outcome : outcome.answered;
          assert.equal(seconds > 0, !['full', 'late'].includes(text) && (text !== 'closed' || task === 'hang'), text);
          outcomes.push(`${task} ${text}`);
          durations.push(seconds);
          resolve(text);
        },
      });
    });
  }
  const report: typeof current = (event) => current(event);
  return { helper, seen, outcomes, durations, submit, report };
}

describe('Helper', () => {
  it('runs the smallest job first, refuses the largest if the queue is full, and loses no job', async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(sizes, async (all) => {
        const { helper, outcomes, submit } = start({ bounds: { maxWaiting: 5, maxWaitingBytes: 100 } });
        void submit('hang', { bytes: 0 });
        for (const [index, bytes] of all.entries()) {
          const before = outcomes.length;
          void submit(`${index}`, { bytes });
          const isKept = (_: number, each: number): boolean => !outcomes.includes(`${each} full`);
          const waiting = all.slice(0, index + 1).filter(isKept);
          assert.equal(
            helper.waitingBytes,
            waiting.reduce((sum, each) => sum + each, 0),
          );
          assert.ok(waiting.length <= 5 && helper.waitingBytes <= 100);
          for (const outcome of outcomes.slice(before))
            assert.ok(waiting.every((kept) => kept <= (all[parseInt(outcome, 10)] ?? 0)));
        }
        const refused = outcomes.length;
        await helper.close();
        assert.ok(outcomes.slice(0, refused).every((outcome) => outcome.endsWith(' full')));
        const left = outcomes.slice(refused + 1).map((outcome) => parseInt(outcome, 10));
        const sizeOf = (index: number): number => all[index] ?? 0;
        const sorted = left.toSorted((one, other) => sizeOf(one) - sizeOf(other) || one - other);
        assert.deepEqual(left, sorted);
        assert.deepEqual([outcomes[refused], outcomes.length], ['hang closed', all.length + 1]);
      }),
      { numRuns: 50 },
    );
  });

  it('shares its time among namespaces, and refuses jobs of the one that fills the queue', async () => {
    const run = async (bounds: NonNullable<Given['bounds']>, bytes: number): Promise<string[]> => {
      let now = 0;
      // Each job takes some time, between two readings of the clock.
      const { outcomes, submit } = start({ bounds, clock: () => (now += 1) });
      const author = Array.from({ length: 60 }, () => submit('author', { namespace: 'author' }));
      await Promise.all([...author, ...Array.from({ length: 10 }, () => submit('shop', { bytes }))]);
      return outcomes;
    };
    const order = await run({ maxWaiting: 40 }, 100);
    assert.equal(order.filter((each) => each === 'author full').length, 29);
    assert.ok(!order.includes('shop full'));
    const started = order.filter((each) => !each.endsWith(' full'));
    assert.ok(started.lastIndexOf('shop shop') < 21, started.join());
    const inBytes = (await run({ maxWaitingBytes: 60 }, 2)).filter((each) => each.endsWith(' full'));
    assert.deepEqual(inBytes, Array(19).fill('author full'));
  });

  it('does not start a job that is late', async () => {
    const { outcomes, submit } = start();
    const startBy = performance.now() + 10;
    await Promise.all([submit('hang', { allowed: 50 }), submit('a', { startBy }), submit('b')]);
    assert.deepEqual(outcomes, ['hang deadline', 'a late', 'b b']);
  });

  for (const [task, failure] of [
    ['hang', 'deadline: 30'],
    ['lose', 'memory: gone'],
    ['refuse', 'crash: refused'],
  ] as const) {
    it(`after task ${task}, waits for the end of the carrier, starts another, and ignores late events`, async () => {
      const { seen, outcomes, submit } = start({ endsIn: 40 });
      await Promise.all([submit(task, { allowed: 30 }), submit('a')]);
      assert.deepEqual(seen, ['start', failure, 'end', 'start', 'note a']);
      assert.deepEqual(outcomes, [`${task} ${failure.split(':')[0]}`, 'a a']);
    });
  }

  it('starts another carrier after one that is lost while it is idle', async () => {
    const { helper, seen, submit, report } = start();
    await submit('a');
    report({ lost: 'crash', problem: 'gone' });
    assert.equal(helper.isAwake, false);
    assert.equal(await submit('b'), 'b');
    assert.deepEqual(seen, ['start', 'note a', 'crash: gone', 'end', 'start', 'note b']);
  });

  it('reports a carrier that does not start', async () => {
    const problems: unknown[] = [];
    const failing = (): never => {
      throw new Error('no');
    };
    const failed = (...problem: unknown[]): unknown => problems.push(problem);
    const helper = new Helper<string, Answer>({ clock: () => 0, bounds: {}, start: failing, failed });
    const job = { bytes: 0, namespace: '', startBy: 0, allowed: 1000, task: () => '' };
    const outcome = await new Promise((ended) => helper.submit({ ...job, ended }));
    assert.deepEqual([outcome, helper.isAwake, problems], ['unstarted', false, [['unstarted', new Error('no')]]]);
  });

  for (const [what, used, expected] of [
    ['lets a job run while the carrier gets no CPU time, up to a limit', 0, 'starved'],
    ['ends a job that used its CPU time', 60, 'deadline'],
  ] as const) {
    it(what, async () => {
      const { submit } = start({ bounds: { patience: 120 }, processorTime: () => used });
      const begun = performance.now();
      assert.equal(await submit('hang', { allowed: 50 }), expected);
      assert.equal(performance.now() - begun > 115, expected === 'starved');
    });
  }

  it('ends an idle carrier, but not during a job, and starts another on demand', async () => {
    const { helper, seen, submit } = start({ bounds: { idle: 20 } });
    await submit('a');
    assert.equal(helper.isAwake, true);
    await until(() => seen.includes('end'));
    assert.equal(await submit('b'), 'b');
    await submit('hang', { allowed: 60 });
    assert.deepEqual(seen, ['start', 'note a', 'end', 'start', 'note b', 'deadline: 60']);
  });

  it('rests after a job, but not longer than its limit, and ends the rest when it is closed', async () => {
    const { helper, outcomes, submit } = start({ bounds: { rest: 1e9, maxRest: 200 } });
    const begun = performance.now();
    await Promise.all([submit('a'), submit('b')]);
    // Timers can fire slightly early.
    assert.ok(performance.now() - begun > 190);
    void submit('c');
    await helper.close();
    assert.deepEqual(outcomes, ['a a', 'b b', 'c closed']);
  });

  it('rests for the time since the last note, and counts the whole time for the namespace', async () => {
    let now = 0;
    const clock = (): number => (now += 0.01);
    const { outcomes, durations, submit, report } = start({ bounds: { rest: 1 }, clock });
    const wait = (): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, 30));
    for (const [namespace, before, after] of [
      ['shop', 0, 100],
      ['author', 1000, 20],
    ] as const) {
      void submit('hang', { namespace });
      now += before;
      report({ note: 'hang' });
      now += after;
      report({ answer: { answered: namespace } });
      if (namespace === 'shop') now += 101;
    }
    const others = [submit('b', { namespace: 'author' }), submit('hang c', { namespace: 'shop' })];
    await wait();
    assert.deepEqual(
      [outcomes, durations.map(Math.round)],
      [
        ['hang shop', 'hang author'],
        [0, 1],
      ],
    );
    now += 25;
    await wait();
    now += 100;
    report({ answer: { answered: 'c' } });
    now += 1000;
    await Promise.all(others);
    assert.deepEqual(outcomes, ['hang shop', 'hang author', 'hang c c', 'b b']);
  });

  it('fails running, waiting and later jobs when it is closed', async () => {
    const { helper, seen, outcomes, submit } = start();
    const all = [submit('hang'), submit('a')];
    await helper.close();
    assert.deepEqual(seen, ['start', 'end']);
    await Promise.all([...all, submit('b')]);
    await helper.close();
    assert.deepEqual(outcomes, ['hang closed', 'a closed', 'b closed']);
    assert.deepEqual([seen, helper.isAwake], [['start', 'end'], false]);
  });
});
