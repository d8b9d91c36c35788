import assert from 'node:assert/strict';
import { ApiError } from '../../kube/api-error.ts';
import { capturingLogger } from '../../kube/testdata/capturing-logger.ts';
import { ManualClock, settle } from '../../kube/testdata/manual-clock.ts';
import { ReconcileLoop } from './reconcile-loop.ts';
import { RemovalBlockedError } from '../webhooks/removal.ts';

const down = new ApiError({ code: 0, reason: 'Unreachable', message: 'down' });

function setUp(reconcile: (key: string) => Promise<number>) {
  const clock = new ManualClock();
  const logger = capturingLogger();
  const stop = new AbortController();
  const outcomes: string[] = [];
  const metrics = { reconciled: (key: string, outcome: string) => outcomes.push(`${key} ${outcome}`) };
  const loop = new ReconcileLoop({ clock, logger, metrics, reconcile });
  const running = loop.run(stop.signal);
  const finish = async (): Promise<void> => {
    stop.abort();
    await running;
  };
  const levels = () => logger.lines.map(({ level }) => level);
  return { clock, logger, levels, loop, outcomes, finish };
}

describe('ReconcileLoop', () => {
  it('reconciles after the returned delay, and immediately when a key is added', async () => {
    let passes = 0;
    const { clock, loop, finish } = setUp(() => Promise.resolve(++passes && 1000));
    loop.add('a');
    await clock.advance(999);
    assert.equal(passes, 1);
    await clock.advance(1);
    assert.equal(passes, 2);
    loop.add('a');
    await clock.advance(0);
    assert.equal(passes, 3);
    await finish();
  });

  it('rests after the beginning of a pass for as long as it took, so that admissions get most turns', async () => {
    let passes = 0;
    const { clock, loop, finish } = setUp(() => {
      clock.sleep(10);
      return Promise.resolve(++passes && 1e9);
    });
    for (const key of ['a', 'b', 'c']) loop.add(key);
    await settle();
    assert.deepEqual([passes, clock.pending()[0]], [1, 10]);
    await clock.advance(10);
    assert.equal(passes, 2);
    await finish();
  });

  it('backs off, and waits at least for the retryAfter in an answer of the API server', async () => {
    const slow = new ApiError({ code: 429, reason: 'TooManyRequests', message: 'slow', retryAfter: 3 });
    const errors = [new Error('bug'), slow];
    const { clock, loop, levels, outcomes, finish } = setUp(() => {
      const error = errors.shift();
      return error === undefined ? Promise.resolve(1e9) : Promise.reject(error);
    });
    loop.add('a');
    await clock.advance(5);
    assert.deepEqual(outcomes, ['a Error', 'a Error']);
    await clock.advance(2999);
    assert.equal(outcomes.length, 2);
    await clock.advance(1);
    assert.equal(outcomes.at(-1), 'a Success');
    assert.deepEqual(levels(), ['error', 'warn']);
    await finish();
  });

  it('retries within 30 s after any number of failures, and events do not extend the back-off', async () => {
    let isBroken = true;
    const { clock, loop, outcomes, finish } = setUp(() =>
      isBroken ? Promise.reject(new Error('bug')) : Promise.resolve(1e9),
    );
    loop.add('a');
    await clock.advance(1);
    for (let events = 0; events < 100; events += 1) {
      loop.add('a');
      await clock.advance(0);
    }
    const early = outcomes.length;
    await clock.advance(14);
    assert.equal(outcomes.length, early + 2, 'the second and third attempt are still due after 5 and 10 ms');
    await clock.advance(600_000);
    isBroken = false;
    await clock.advance(30_000);
    assert.equal(outcomes.at(-1), 'a Success');
    await finish();
  });

  it('logs a warning for a blocked deletion, with the names of the finalizers', async () => {
    const held = { apiVersion: 'v1', kind: 'Service', metadata: { name: 's', finalizers: ['example.com/hold'] } };
    const { clock, loop, logger, levels, finish } = setUp(() => Promise.reject(new RemovalBlockedError('a', [held])));
    loop.add('a');
    await clock.advance(0);
    assert.deepEqual(levels(), ['warn']);
    assert.match(String(logger.lines[0]!.fields?.error), /Service s \(example\.com\/hold\)/);
    await finish();
  });

  it('logs write conflicts at debug level', async () => {
    const errors = [new ApiError({ code: 409, reason: 'Conflict', message: 'modified' })];
    const { clock, loop, levels, outcomes, finish } = setUp(() => {
      const error = errors.shift();
      return error === undefined ? Promise.resolve(1e9) : Promise.reject(error);
    });
    loop.add('a');
    await clock.advance(5);
    assert.deepEqual(levels(), ['debug']);
    assert.equal(outcomes[0], 'a Conflict');
    await finish();
  });

  it('retries all failed keys when the API server answers again, regardless of the back-off', async () => {
    let isDown = true;
    const passes: string[] = [];
    const { clock, loop, finish } = setUp((key) => {
      passes.push(key);
      return isDown ? Promise.reject(down) : Promise.resolve(1e9);
    });
    loop.add('a');
    loop.add('b');
    await clock.advance(60_000);
    isDown = false;
    passes.length = 0;
    loop.recovered();
    await clock.advance(0);
    assert.deepEqual(passes.sort(), ['a', 'b']);
    isDown = true;
    loop.add('a');
    loop.add('b');
    await clock.advance(60_000);
    isDown = false;
    passes.length = 0;
    loop.add('c');
    await clock.advance(0);
    assert.deepEqual(passes.sort(), ['a', 'b', 'c'], 'the first success after an outage has the same effect');
    await finish();
  });

  it('ends immediately when its signal is already aborted', async () => {
    const { clock, logger } = setUp(() => Promise.resolve(0));
    const loop = new ReconcileLoop({ clock, logger, metrics: {}, reconcile: () => Promise.reject(down) });
    await loop.run(AbortSignal.abort());
    loop.add('a');
    assert.deepEqual(logger.lines, []);
  });
});
