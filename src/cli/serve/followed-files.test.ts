import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { FollowedFiles } from './followed-files.ts';

describe('FollowedFiles', () => {
  /** Files in memory whose text must be a number. */
  function follow(initial: string | Error) {
    const state = { content: initial };
    const told: string[] = [];
    const files = new FollowedFiles({
      read: () => {
        if (state.content instanceof Error) throw state.content;
        return { number: state.content };
      },
      load: ({ number }) => {
        if (Number.isNaN(Number(number))) throw new Error(`${number} is no number`);
        return Number(number);
      },
      onLoaded: (value) => told.push(`loaded ${value}`),
      onProblem: (problem) => told.push(problem),
    });
    return { state, told, files };
  }

  it('loads what changes, and only then', () => {
    const { state, told, files } = follow('1');
    files.check();
    files.check();
    state.content = '2';
    files.check();
    assert.equal(files.value, 2);
    assert.deepEqual(told, ['loaded 1', 'loaded 2']);
  });

  it('keeps what works, says a problem once, and recovers', () => {
    const { state, told, files } = follow('1');
    for (const content of ['1', 'x', 'x', new Error('gone'), new Error('gone'), 'x', '3']) {
      state.content = content;
      files.check();
      assert.equal(files.value, content === '3' ? 3 : 1);
    }
    assert.deepEqual(told, ['loaded 1', 'x is no number', 'gone', 'loaded 3']);
  });

  it('has no value before anything could be loaded', () => {
    const { told, files } = follow(new Error('missing'));
    files.check();
    assert.equal(files.value, undefined);
    assert.deepEqual(told, ['missing']);
  });

  it('looks again and again until it is told to stop', async () => {
    const { state, told, files } = follow('1');
    const stop = files.follow(5);
    while (told.length < 1) await setTimeout(1);
    state.content = '2';
    while (told.length < 2) await setTimeout(1);
    stop();
    state.content = '3';
    await setTimeout(30);
    assert.deepEqual(told, ['loaded 1', 'loaded 2']);
  });
});
