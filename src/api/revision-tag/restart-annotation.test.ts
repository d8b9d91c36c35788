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

describe('the annotation of a restart', () => {
  it('says the tag, the configuration and the time', () => {
    assert.equal(formatRestartAnnotation([prod]), text);
    assert.equal(formatRestartAnnotation([prod, logs]), `${text}, logs logs.89ef0000 2026-01-02T03:04:04.678Z`);
  });

  it('reads what it writes, however many tags there were', () => {
    fc.assert(
      fc.property(fc.array(restart, { maxLength: 20 }), (given) => {
        const kept = [...given].reverse().reduce<readonly WorkloadRestart[]>(withRestart, []);
        assert.ok(kept.length <= 8);
        const value = formatRestartAnnotation(kept);
        assert.deepEqual(parseRestartAnnotation(value), latestOfEach(kept));
      }),
    );
  });

  it('reads the longest one', () => {
    const longest = Array.from({ length: 8 }, (_, index) => ({
      tag: `${index}${'t'.repeat(62)}`,
      target: `${'n'.repeat(63)}.0123abcd`,
      at: at - index,
    }));
    assert.deepEqual(parseRestartAnnotation(formatRestartAnnotation(longest)), longest);
  });

  it('puts the latest first, and takes one of each tag', () => {
    const older = { ...prod, target: 'old.00000000', at: at - 5000 };
    assert.deepEqual(parseRestartAnnotation(formatRestartAnnotation([older, logs, prod])), [prod, logs]);
  });

  it('forgets the oldest of nine, and what the tag said before', () => {
    const eight = Array.from({ length: 8 }, (_, index) => ({ ...logs, tag: `t${index}`, at: at - index }));
    const next = { ...prod, at: at + 1 };
    assert.deepEqual(withRestart(eight, next), [next, ...eight.slice(0, 7)]);
    assert.deepEqual(withRestart([prod, logs], next), [next, logs]);
  });

  for (const [title, value] of [
    ['none', undefined],
    ['a number', 5],
    ['an empty text', ''],
    ["kubectl's own", '2026-01-02T03:04:05Z'],
    ['no time', 'prod mesh.0123abcd'],
    ['no such day', 'prod mesh.0123abcd 2026-13-02T03:04:05Z'],
    ['a time without a zone', 'prod mesh.0123abcd 2026-01-02T03:04:05'],
    ['a time in words', 'prod mesh.0123abcd yesterday'],
    ['a tag in capitals', 'Prod mesh.0123abcd 2026-01-02T03:04:05Z'],
    ['a tag that is too long', `${'t'.repeat(64)} mesh.0123abcd 2026-01-02T03:04:05Z`],
    ['no hash', 'prod mesh 2026-01-02T03:04:05Z'],
    ['a hash of nine digits', 'prod mesh.0123abcde 2026-01-02T03:04:05Z'],
    ['something after it', `${text} again`],
    ['one that is right and one that is not', `${text}, again`],
    ['a comma too many', `${text}, `],
    ['a line too many', `${text}\n`],
    ['a megabyte of it', Array.from({ length: 20_000 }, () => text).join(', ')],
  ] as const) {
    it(`says nothing when it is ${title}`, () => {
      assert.deepEqual(parseRestartAnnotation(value), []);
    });
  }

  it('may say a time without fractions', () => {
    assert.equal(parseRestartAnnotation('prod mesh.0123abcd 2026-01-02T03:04:05Z')[0]?.at, at - 678);
  });
});
