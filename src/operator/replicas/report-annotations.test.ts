import assert from 'node:assert/strict';
import fc from 'fast-check';
import { addShadowReports, boundedError, emptyShadowReport, type PairReport } from '../../rollout/shadow-report.ts';
import {
  addFailures,
  readFailures,
  readShadowReports,
  type ReportedFailure,
  writeFailures,
  writeShadowReports,
} from './report-annotations.ts';

const time = fc.integer({ min: 0, max: 8_640_000_000_000_000 });
const failure: fc.Arbitrary<ReportedFailure> = fc.record(
  {
    injectorConfig: fc.string({ maxLength: 63 }),
    hash: fc.string({ maxLength: 8 }),
    count: fc.integer({ min: 1, max: 1_000_000_000 }),
    first: time,
    last: time,
    reason: fc.string({ maxLength: 63 }),
    message: fc.string({ unit: 'binary', maxLength: 200 }),
    pod: fc.string({ maxLength: 320 }),
  },
  { noNullPrototype: true },
);

describe('the annotation of failures', () => {
  it('survives a round trip within 4 KiB, and drops the oldest failures first', () => {
    fc.assert(
      fc.property(fc.array(failure, { maxLength: 16 }), (failures) => {
        const text = writeFailures(failures);
        assert.ok(Buffer.byteLength(text) <= 4096);
        const read = readFailures(text);
        assert.deepEqual(read, failures.slice(failures.length - read.length));
      }),
    );
  });

  it('is read as empty when it is invalid', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        assert.deepEqual(readFailures(text), []);
      }),
    );
    const one = { injectorConfig: 'a', hash: 'b', count: 1, first: 0, last: 0, reason: '', message: '', pod: '' };
    for (const wrong of [
      { count: 0 },
      { count: 1e12 },
      { last: -1 },
      { last: 1e300 },
      { message: 'a'.repeat(401) },
      { pod: 5 },
    ]) {
      assert.deepEqual(readFailures(JSON.stringify([{ ...one, ...wrong }])), [], JSON.stringify(wrong));
    }
    assert.deepEqual(readFailures(JSON.stringify(new Array(17).fill(one))), []);
    assert.deepEqual(readFailures(JSON.stringify([one])), [one]);
  });

  it('is merged: counts are added, and details of the latest failure are kept', () => {
    fc.assert(
      fc.property(fc.array(failure, { minLength: 1 }), (failures) => {
        const sum = failures.reduce<ReportedFailure | undefined>(addFailures, undefined);
        assert.ok(sum !== undefined);
        const counted = failures.reduce((total, { count }) => total + count, 0);
        assert.deepEqual([sum.count, sum.first], [counted, Math.min(...failures.map(({ first }) => first))]);
        const last = Math.max(...failures.map((each) => each.last));
        assert.ok(failures.some((each) => each.last === last && each.last === sum.last && each.pod === sum.pod));
      }),
    );
  });
});

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
