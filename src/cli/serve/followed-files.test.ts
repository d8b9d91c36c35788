import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { FollowedFiles } from './followed-files.ts';

describe('FollowedFiles', () => {
  /** Returns files in memory that must contain a number. */
  function follow(initial: string | Error) {
    const state = { content: initial };
    const reports: string[] = [];
    const files = new FollowedFiles({
      read: () => {
        if (state.content instanceof Error) throw state.content;
        return { number: state.content };
      },
      load: ({ number }) => {
        if (Number.isNaN(Number(number))) throw new Error(`${number} is not a number`);
        return Number(number);
      },
      onLoaded: (value) => reports.push(`loaded ${value}`),
      onProblem: (problem) => reports.push(problem),
    });
    return { state, reports, files };
  }

  it('loads only changed content', async () => {
    const { state, reports, files } = follow('1');
    await files.check();
    await files.check();
    state.content = '2';
    await files.check();
    assert.equal(files.value, 2);
    assert.deepEqual(reports, ['loaded 1', 'loaded 2']);
  });

  it('keeps the last valid value, reports a problem once, and recovers', async () => {
    const { state, reports, files } = follow('1');
    for (const content of ['1', 'x', 'x', new Error('gone'), new Error('gone'), 'x', '3']) {
      state.content = content;
      await files.check();
      assert.equal(files.value, content === '3' ? 3 : 1);
    }
    assert.deepEqual(reports, ['loaded 1', 'x is not a number', 'gone', 'loaded 3']);
  });

  it('has no value before the first load', async () => {
    const { reports, files } = follow(new Error('missing'));
    await files.check();
    assert.equal(files.value, undefined);
    assert.deepEqual(reports, ['missing']);
  });

  it('does not read while it is loading', async () => {
    let reads = 0;
    let loaded: ((value: number) => void) | undefined;
    const files = new FollowedFiles({
      read: () => reads++,
      load: () => new Promise<number>((resolve) => (loaded = resolve)),
      onLoaded: () => undefined,
      onProblem: (problem) => assert.fail(problem),
    });
    const first = files.check();
    await files.check();
    assert.deepEqual([reads, files.value], [1, undefined]);
    loaded?.(7);
    await first;
    assert.equal(files.value, 7);
  });

  it('checks repeatedly until it is stopped', async () => {
    const { state, reports, files } = follow('1');
    const stop = files.follow(5);
    while (reports.length < 1) await setTimeout(1);
    state.content = '2';
    while (reports.length < 2) await setTimeout(1);
    stop();
    state.content = '3';
    await setTimeout(30);
    assert.deepEqual(reports, ['loaded 1', 'loaded 2']);
  });
});
