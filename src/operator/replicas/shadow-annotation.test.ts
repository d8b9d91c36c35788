import assert from 'node:assert/strict';
import { addShadowReports, boundedError, emptyShadowReport, type PairReport } from '../../rollout/shadow-report.ts';
import { readShadowReports, writeShadowReports } from './shadow-annotation.ts';

function report(tag: string, changed: readonly string[] = [], error?: string): PairReport {
  return {
    tag,
    stable: { injectorConfig: '1-24', hash: '0123abcd' },
    canary: { injectorConfig: '1-25', hash: '89abcdef' },
    compared: 4,
    failed: 1,
    differing: 2,
    changed,
    ...(error === undefined ? {} : { error }),
  };
}
const fields = (count: number): string[] => Array.from({ length: count }, (_, index) => `${index}`.padEnd(160, 'ä'));

describe('the annotation with shadow reports', () => {
  it('survives a round trip', () => {
    const reports = [report('prod', ['spec.containers[proxy].image'], 'because'), report('test')];
    assert.deepEqual(readShadowReports(writeShadowReports(reports)), reports);
  });

  it('fits in 4 KiB: drops the changed fields of the oldest reports first, then whole reports', () => {
    const error = boundedError('x'.repeat(1000));
    for (const count of [1, 2, 5, 16, 40]) {
      const reports = Array.from({ length: count }, (_, index) => report(`t${index}`, fields(20), error));
      const text = writeShadowReports(reports);
      assert.ok(Buffer.byteLength(text) <= 4096);
      const read = readShadowReports(text);
      for (const [index, { tag }] of read.entries()) assert.equal(tag, reports[index]?.tag);
      assert.ok(read.length >= Math.min(count, 5), String(read.length));
      assert.ok(read.every(({ compared, failed, differing }) => compared + failed + differing === 7));
      const shown = read.map(({ changed }) => changed.length);
      const sorted = [...shown].sort((one, other) => other - one);
      assert.deepEqual(shown, sorted);
    }
    const [newest] = readShadowReports(writeShadowReports([report('prod', fields(20)), report('test', fields(20))]));
    assert.ok((newest?.changed.length ?? 0) >= 10);
  });

  it('stores an InjectorConfig as `name`, so that other versions read it', () => {
    const [written] = JSON.parse(writeShadowReports([report('prod')])) as object[];
    const counts = { compared: 4, failed: 1, differing: 2, changed: [] };
    const pair = { stable: { name: '1-24', hash: '0123abcd' }, canary: { name: '1-25', hash: '89abcdef' } };
    assert.deepEqual(written, { tag: 'prod', ...pair, ...counts });
  });

  const whole = JSON.parse(writeShadowReports([report('prod')])) as object[];
  for (const [what, text] of [
    ['is missing', undefined],
    ['is not valid JSON', '['],
    ['is not a list', '{}'],
    ['has a negative count', JSON.stringify([{ ...whole[0], failed: -1 }])],
    ['has a count above the limit', JSON.stringify([{ ...whole[0], compared: 1e9 + 1 }])],
    ['has a count that is text', JSON.stringify([{ ...whole[0], compared: '5' }])],
    ['has an error that is too long', JSON.stringify([{ ...whole[0], error: 'x'.repeat(501) }])],
    ['has too many fields', JSON.stringify([{ ...whole[0], changed: Array.from({ length: 21 }, () => 'a') }])],
    ['has too many bytes', JSON.stringify(whole) + ' '.repeat(5000)],
  ] as const) {
    it(`is read as empty when it ${what}`, () => {
      assert.deepEqual(readShadowReports(text), []);
    });
  }
});

describe('addShadowReports', () => {
  it('adds counts, and keeps the first twenty fields and the first error', () => {
    const one = report('a', ['x', 'y']);
    const sum = [one, report('a', ['y', 'z'], 'first'), report('a', fields(30), 'second')].reduce(
      (before, each) => addShadowReports(before, each),
      emptyShadowReport,
    );
    assert.deepEqual([sum.compared, sum.failed, sum.differing, sum.error], [12, 3, 6, 'first']);
    assert.deepEqual(sum.changed, ['x', 'y', 'z', ...fields(17)]);
  });
});
