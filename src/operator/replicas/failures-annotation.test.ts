import assert from 'node:assert/strict';
import fc from 'fast-check';
import { addFailures, readFailures, type ReportedFailure, writeFailures } from './failures-annotation.ts';

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
