import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  formatRestartAnnotation,
  latestOfEach,
  parseRestartAnnotation,
  withRestart,
  type WorkloadRestart,
} from './restart-annotation.ts';

const at = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const prod: WorkloadRestart = { tag: 'prod', target: 'mesh-1-25.0123abcd', at };
const logs: WorkloadRestart = { tag: 'logs', target: 'logs.89ef0000', at: at - 1000 };
const text = 'prod mesh-1-25.0123abcd 2026-01-02T03:04:05.678Z';

const restart = fc.record(
  {
    tag: fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/),
    target: fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.[0-9a-f]{8}$/),
    at: fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) }),
  },
  { noNullPrototype: true },
);

describe('the restart annotation', () => {
  it('contains the tag, the configuration and the time', () => {
    assert.equal(formatRestartAnnotation([prod]), text);
    assert.equal(formatRestartAnnotation([prod, logs]), `${text}, logs logs.89ef0000 2026-01-02T03:04:04.678Z`);
  });

  it('parses every formatted value', () => {
    fc.assert(
      fc.property(fc.array(restart, { maxLength: 20 }), (restarts) => {
        const kept = [...restarts].reverse().reduce<readonly WorkloadRestart[]>(withRestart, []);
        assert.ok(kept.length <= 8);
        const value = formatRestartAnnotation(kept);
        assert.deepEqual(parseRestartAnnotation(value), latestOfEach(kept));
      }),
    );
  });

  it('parses the longest possible value', () => {
    const longest = Array.from({ length: 8 }, (_, index) => ({
      tag: `${index}${'t'.repeat(62)}`,
      target: `${'n'.repeat(63)}.0123abcd`,
      at: at - index,
    }));
    assert.deepEqual(parseRestartAnnotation(formatRestartAnnotation(longest)), longest);
  });

  it('returns the latest restart of each tag, latest first', () => {
    const older = { ...prod, target: 'old.00000000', at: at - 5000 };
    assert.deepEqual(parseRestartAnnotation(formatRestartAnnotation([older, logs, prod])), [prod, logs]);
  });

  it('drops the ninth restart and the previous restart of the same tag', () => {
    const eight = Array.from({ length: 8 }, (_, index) => ({ ...logs, tag: `t${index}`, at: at - index }));
    const next = { ...prod, at: at + 1 };
    assert.deepEqual(withRestart(eight, next), [next, ...eight.slice(0, 7)]);
    assert.deepEqual(withRestart([prod, logs], next), [next, logs]);
  });

  for (const [title, value] of [
    ['a missing value', undefined],
    ['a number', 5],
    ['an empty string', ''],
    ["the value of kubectl's restart annotation", '2026-01-02T03:04:05Z'],
    ['an entry without a time', 'prod mesh.0123abcd'],
    ['a day that does not exist', 'prod mesh.0123abcd 2026-13-02T03:04:05Z'],
    ['a time without a zone', 'prod mesh.0123abcd 2026-01-02T03:04:05'],
    ['a time in words', 'prod mesh.0123abcd yesterday'],
    ['a tag in capitals', 'Prod mesh.0123abcd 2026-01-02T03:04:05Z'],
    ['a tag that is too long', `${'t'.repeat(64)} mesh.0123abcd 2026-01-02T03:04:05Z`],
    ['a target without a hash', 'prod mesh 2026-01-02T03:04:05Z'],
    ['a hash of nine digits', 'prod mesh.0123abcde 2026-01-02T03:04:05Z'],
    ['an entry with a fourth word', `${text} again`],
    ['a valid entry with an invalid entry', `${text}, again`],
    ['a trailing comma', `${text}, `],
    ['a trailing newline', `${text}\n`],
    ['a megabyte of valid entries', Array.from({ length: 20_000 }, () => text).join(', ')],
  ] as const) {
    it(`does not accept ${title}`, () => {
      assert.deepEqual(parseRestartAnnotation(value), []);
    });
  }

  it('accepts a time without fractional seconds', () => {
    assert.equal(parseRestartAnnotation('prod mesh.0123abcd 2026-01-02T03:04:05Z')[0]?.at, at - 678);
  });
});
