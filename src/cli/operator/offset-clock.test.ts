import assert from 'node:assert/strict';
import { ManualClock } from '../../kube/testdata/manual-clock.ts';
import { temporaryFolder } from '../testdata/temporary-folder.ts';
import { offsetClock } from './operator-process.ts';

describe('offsetClock', () => {
  const { path, write } = temporaryFolder();

  it('adds the offset of the file, and keeps it while the file is invalid', async () => {
    const base = new ManualClock();
    const warnings: unknown[] = [];
    const clock = offsetClock(base, path('offset'), { warn: (_, fields) => warnings.push(fields) });
    const offset = (): number => clock.now().getTime() - base.now().getTime();
    assert.equal(offset(), 0);
    for (const [text, expected] of [
      ['-600000\n', -600_000],
      ['', -600_000],
      ['soon', -600_000],
      ['86400000', 86_400_000],
    ] as const) {
      write('offset', text);
      assert.equal(offset(), expected);
    }
    assert.deepEqual(warnings, [{ milliseconds: -600_000 }, { milliseconds: 86_400_000 }]);
    assert.equal(clock.monotonic(), base.monotonic());
    let calls = 0;
    clock.after(5, () => (calls += 1));
    await base.advance(5);
    assert.equal(calls, 1);
  });
});
