import assert from 'node:assert/strict';
import { RevisionLocks } from './revision-locks.ts';

/** Something that goes on until it is told to end. */
function task() {
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { run: () => ended, end };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('RevisionLocks', () => {
  it('let one at a time at an InjectorConfig, in whatever order, and others at others', async () => {
    const locks = new RevisionLocks();
    const done: string[] = [];
    const first = task();
    const running = [
      locks.hold('a', first.run).then(() => done.push('first')),
      locks.hold('a', () => Promise.resolve(done.push('second'))),
      locks.hold('a', () => Promise.resolve(done.push('third'))),
      locks.hold('b', () => Promise.resolve(done.push('other'))),
    ];
    await turn();
    assert.deepEqual(done, ['other']);
    first.end();
    await Promise.all(running);
    assert.deepEqual([...done].sort(), ['first', 'other', 'second', 'third']);
  });

  it('keep a tag away from each of those that are busy, and those from the tag', async () => {
    const locks = new RevisionLocks();
    const pass = task();
    const held = locks.hold('new', pass.run);
    await turn();
    assert.equal(
      locks.tryHold(['old', 'new'], () => Promise.resolve('moved')),
      undefined,
    );
    pass.end();
    await held;
    const move = task();
    const moving = locks.tryHold(['old', 'new'], move.run);
    assert.ok(moving !== undefined);
    let isThrough = false;
    const waiting = locks.hold('old', () => Promise.resolve((isThrough = true)));
    await turn();
    assert.equal(isThrough, false);
    move.end();
    await Promise.all([moving, waiting]);
    assert.equal(isThrough, true);
  });

  it('are free again after a failure', async () => {
    const locks = new RevisionLocks();
    await assert.rejects(locks.hold('a', () => Promise.reject(new Error('failed'))));
    assert.equal(await locks.tryHold(['a'], () => Promise.resolve('free')), 'free');
  });
});
