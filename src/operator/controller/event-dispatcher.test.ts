import assert from 'node:assert/strict';
import { capturingLogger } from '../../kube/testdata/capturing-logger.ts';
import { ManualClock, settle } from '../../kube/testdata/manual-clock.ts';
import { EventDispatcher } from './event-dispatcher.ts';

describe('EventDispatcher', () => {
  it('delivers one after the other, and again what a handler throws at', async () => {
    const clock = new ManualClock();
    const logger = capturingLogger();
    const dispatcher = new EventDispatcher(clock, logger);
    const running = dispatcher.run();
    const log: string[] = [];
    let failures = 2;
    dispatcher.dispatch('a', async () => {
      log.push('a begins');
      await settle();
      log.push('a ends');
    });
    dispatcher.dispatch('b', () => {
      log.push('b');
      failures -= 1;
      return failures < 0 ? Promise.resolve() : Promise.reject(new Error('not now'));
    });
    await clock.advance(0);
    await settle();
    assert.deepEqual(log, ['a begins', 'a ends', 'b']);
    await clock.advance(5);
    await clock.advance(10);
    assert.deepEqual(log.slice(3), ['b', 'b']);
    await clock.advance(1000);
    assert.equal(log.length, 5);
    assert.equal(logger.lines.length, 2);
    dispatcher.stop();
    await running;
  });

  it('delivers the last of several events of one object', async () => {
    const clock = new ManualClock();
    const dispatcher = new EventDispatcher(clock, capturingLogger());
    const seen: number[] = [];
    for (const number of [1, 2, 3]) dispatcher.dispatch('a', () => Promise.resolve(void seen.push(number)));
    const running = dispatcher.run();
    await clock.advance(0);
    assert.deepEqual(seen, [3]);
    dispatcher.stop();
    await running;
  });
});
