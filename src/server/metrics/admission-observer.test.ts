import assert from 'node:assert/strict';
import { Registry } from 'prom-client';
import { allowed, denied } from '../admission/admission-decision.ts';
import { createAdmissionObserver, throttle } from './admission-observer.ts';
import { ServerMetrics } from './server-metrics.ts';
import { RecordingLog } from '../testdata/recording-log.ts';
import { podCreation } from '../testdata/reviews.ts';

function observed(debug?: boolean) {
  const clock = { now: 1000 };
  const log = new RecordingLog();
  const registry = new Registry();
  const port =
    debug === undefined ? log : Object.assign(log, { isLevelEnabled: (level: string) => level !== 'debug' || debug });
  const observer = createAdmissionObserver(port, new ServerMetrics(registry), () => clock.now);
  return { observer, log, clock, registry };
}

describe('the admission observer', () => {
  it('measures the time from the start of the handler', () => {
    const { observer, log, clock } = observed();
    const started = observer.started();
    clock.now += 3;
    observer.decided('revision', podCreation(), allowed('Any'), started);
    assert.equal(log.lines[0]?.fields.milliseconds, 3);
  });

  for (const [debug, lines] of [
    [true, ['debug', 'warn']],
    [false, ['warn']],
  ] as const) {
    it(debug ? 'logs refusals as warnings, and allowed reviews at debug' : 'logs only refusals if debug is off', () => {
      const { observer, log } = observed(debug);
      observer.decided('revision', podCreation(), allowed('Any'), 0);
      observer.decided('revision', podCreation(), denied('Any', 422, 'no'), 0);
      const levels = log.lines.map(({ level }) => level);
      assert.deepEqual(levels, lines);
    });
  }

  it('marks decisions from the cache', async () => {
    const { observer, log, registry } = observed();
    observer.decided('revision', podCreation(), allowed('Any'), 0, true);
    assert.equal(log.lines[0]?.fields.reused, true);
    assert.match(await registry.metrics(), /injector_admission_decisions_reused_total 1\n/);
  });

  it('suppresses a flood of warnings, and logs how many it suppressed', () => {
    const { observer, log, clock } = observed();
    for (let index = 0; index < 100; index++) observer.malformed('revision', 'no kind');
    assert.equal(log.lines.length, 20);
    clock.now += 1000;
    observer.decided('revision', podCreation(), denied('Any', 422, 'no'), 0);
    assert.deepEqual([log.lines.length, log.lines.at(-1)?.fields.suppressed], [21, 80]);
  });

  it('truncates long text from clients', () => {
    const { observer, log } = observed(true);
    const long = 'x'.repeat(5000);
    observer.malformed('revision', 'no kind', long);
    observer.decided('revision', { ...podCreation(), name: long }, denied('Any', 422, long), 0);
    observer.decided('revision', { ...podCreation(), uid: long }, allowed('Any'), 0);
    const cut = `${'x'.repeat(1000)}… (5000 characters)`;
    assert.deepEqual(
      log.lines.map(({ fields }) => [fields.uid, fields.name, fields.problem].filter((value) => value === cut).length),
      [1, 2, 1],
    );
  });

  it('logs the stack of an exception, or a thrown value of another type', () => {
    const { observer, log } = observed();
    const bare = new Error('bare');
    delete bare.stack;
    for (const error of [new Error('here'), bare, 'odd']) observer.defect(error);
    assert.match(String(log.lines[0]?.fields.error), /^Error: here\n {4}at /);
    assert.deepEqual([log.lines[1]?.fields.error, log.lines[2]?.fields.error], ['bare', 'odd']);
  });
});

describe('throttle', () => {
  it('allows some events per second, and reports how many were suppressed', () => {
    let now = 5_500;
    const allowance = throttle(() => now, 2);
    assert.deepEqual([allowance(), allowance(), allowance(), allowance()], [0, 0, undefined, undefined]);
    now = 5_999;
    assert.equal(allowance(), undefined);
    now = 6_000;
    assert.deepEqual([allowance(), allowance(), allowance()], [3, 0, undefined]);
    now = 60_000;
    assert.deepEqual([allowance(), allowance()], [1, 0]);
  });
});
