import assert from 'node:assert/strict';
import { isConditionTrue, mergeConditions, setCondition } from './conditions.ts';

const now = new Date('2026-02-03T04:05:06.789Z');
const later = new Date('2026-03-03T04:05:06Z');
const ready = { type: 'Ready', status: 'True', reason: 'Ready', message: 'all well', observedGeneration: 1 } as const;

describe('setCondition', () => {
  it('adds a condition with its time in whole seconds', () => {
    assert.deepEqual(setCondition([], ready, now), [{ ...ready, lastTransitionTime: '2026-02-03T04:05:06Z' }]);
  });

  it('keeps lastTransitionTime while the status stays the same', () => {
    const before = setCondition([], ready, now);
    assert.deepEqual(setCondition(before, ready, later), before);
    const [after] = setCondition(before, { ...ready, message: 'still well', observedGeneration: 2 }, later);
    assert.deepEqual(after, { ...before[0], message: 'still well', observedGeneration: 2 });
  });

  it('updates lastTransitionTime when the status changes', () => {
    const before = setCondition([], ready, now);
    const [after] = setCondition(before, { ...ready, status: 'False', reason: 'Broken' }, later);
    assert.equal(after?.lastTransitionTime, '2026-03-03T04:05:06Z');
    assert.equal(before[0]?.status, 'True', 'the argument is unchanged');
  });
});

describe('setCondition with a message that is longer than the schema allows', () => {
  for (const [title, message] of [
    ['a message of letters', 'x'.repeat(40_000)],
    ['a message without splitting a character', `${'x'.repeat(32_766)}${'\u{1f600}'.repeat(9)}`],
  ] as const) {
    it(`truncates ${title}`, () => {
      const [condition] = setCondition([], { ...ready, message }, now);
      assert.match(condition?.message ?? '', /^x{32766,32767}…$/);
      const before = condition === undefined ? [] : [condition];
      assert.deepEqual(setCondition(before, { ...ready, message }, later), before);
    });
  }
});

describe('mergeConditions', () => {
  it('sets conditions in place, and keeps all other conditions', () => {
    const before = mergeConditions([], [ready, { ...ready, type: 'WebhookReady' }], now);
    const changes = [{ ...ready, status: 'Unknown' } as const, { ...ready, type: 'Overlap' }];
    const after = mergeConditions(before, changes, later);
    assert.deepEqual(
      after.map(({ type, status, lastTransitionTime }) => [type, status, lastTransitionTime]),
      [
        ['Ready', 'Unknown', '2026-03-03T04:05:06Z'],
        ['WebhookReady', 'True', '2026-02-03T04:05:06Z'],
        ['Overlap', 'True', '2026-03-03T04:05:06Z'],
      ],
    );
  });
});

describe('isTrue', () => {
  it('returns true only for status True', () => {
    const conditions = mergeConditions([], [ready, { ...ready, type: 'WebhookReady', status: 'Unknown' }], now);
    const found = ['Ready', 'WebhookReady', 'Missing'].map((type) => isConditionTrue(conditions, type));
    assert.deepEqual(found, [true, false, false]);
    assert.equal(isConditionTrue(undefined, 'Ready'), false);
  });
});
