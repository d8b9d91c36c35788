import assert from 'node:assert/strict';
import { pause, systemClock } from './clock.ts';
import { ManualClock } from './testdata/manual-clock.ts';

describe('pause', () => {
  it('ends after the given time', async () => {
    const clock = new ManualClock();
    let ended = false;
    void pause(clock, 1000).then(() => (ended = true));
    await clock.advance(999);
    assert.equal(ended, false);
    await clock.advance(1);
    assert.equal(ended, true);
  });

  it('ends immediately when aborted, and leaves no timer', async () => {
    const clock = new ManualClock();
    const stop = new AbortController();
    const paused = pause(clock, 1000, stop.signal);
    stop.abort();
    await paused;
    assert.deepEqual(clock.pending(), []);
    await pause(clock, 1000, stop.signal);
    assert.deepEqual(clock.pending(), []);
  });
});

describe('systemClock', () => {
  it('fires timers and cancels them', async () => {
    const fired: string[] = [];
    const cancel = systemClock.after(0, () => fired.push('cancelled'));
    cancel();
    await new Promise<void>((resolve) => {
      const keepAlive = setTimeout(() => undefined, 10_000);
      systemClock.after(1, () => {
        fired.push('fired');
        clearTimeout(keepAlive);
        resolve();
      });
    });
    assert.deepEqual(fired, ['fired']);
  });

  it('does not fire immediately for a delay beyond the longest timer of Node', async () => {
    let fired = false;
    const cancel = systemClock.after(2 ** 40, () => (fired = true));
    await new Promise((resolve) => setTimeout(resolve, 5));
    cancel();
    assert.equal(fired, false);
  });

  it('reads a monotonic clock and the time of day', () => {
    const first = systemClock.monotonic();
    assert.ok(systemClock.monotonic() >= first);
    assert.ok(systemClock.now() instanceof Date);
  });
});
