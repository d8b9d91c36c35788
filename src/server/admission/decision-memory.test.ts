import assert from 'node:assert/strict';
import { allowed } from './admission-decision.ts';
import { DecisionMemory, decisionKey, type RememberedDecision, type ReviewKey } from './decision-memory.ts';
import { bytesOf, podCreation, reviewOf, somePod, uidOf } from '../testdata/reviews.ts';

function keyOfReview(uid: number, padding = '', path = '/a'): ReviewKey {
  const key = decisionKey(path, bytesOf(reviewOf({ uid: uidOf(uid), options: { padding } })));
  assert.ok(key !== undefined);
  return key;
}

const decisionOf = (encoded: string): RememberedDecision => ({
  request: podCreation(),
  decision: { ...allowed('Any'), patch: [{ op: 'add', path: '/spec', value: somePod.spec }] },
  encoded,
});

function rememberTwice(memory: DecisionMemory, padding: string, encoded: string, dependencies: unknown[] = []): void {
  for (const uid of [1, 2]) memory.remember(keyOfReview(uid, padding), dependencies, decisionOf(encoded));
}

describe('DecisionMemory', () => {
  const roomy = { maxBytes: 1_000_000, maxReviewBytes: 100_000 };
  let memory: DecisionMemory;
  beforeEach(() => {
    memory = new DecisionMemory(roomy);
  });

  it('returns a decision for the same bytes with another uid, from the third review on', () => {
    memory.remember(keyOfReview(1), [], decisionOf('x'));
    assert.equal(memory.find(keyOfReview(2), []), undefined);
    memory.remember(keyOfReview(2), [], decisionOf('x'));
    assert.equal(memory.find(keyOfReview(3), [])?.encoded, 'x');
  });

  it('stores the name, but not the pod or patch', () => {
    rememberTwice(memory, '', 'x');
    const found = memory.find(keyOfReview(3), []);
    assert.deepEqual(found?.request, podCreation({ name: 'web-6d4f-', object: null }));
    assert.deepEqual(found.decision, { ...allowed('Any'), patch: [] });
  });

  it('returns no decision for other bytes, even if the fingerprint is equal', () => {
    rememberTwice(memory, 'x'.repeat(3000), 'x');
    const key = keyOfReview(3, 'x'.repeat(3000));
    const { rest } = key;
    for (let index = 0; index < rest.length; index++) {
      const other = Buffer.from(rest);
      other[index] = (other[index] ?? 0) ^ 1;
      assert.equal(memory.find({ ...key, rest: other }, []), undefined);
    }
    assert.equal(memory.find({ ...key, rest: rest.subarray(0, -1) }, []), undefined);
    assert.equal(memory.find({ ...key, endpoint: 'v1 /b' }, []), undefined);
    assert.equal(memory.find(key, [])?.encoded, 'x');
  });

  it('returns no decision for another path or version', () => {
    rememberTwice(memory, '', 'x');
    assert.equal(memory.find(keyOfReview(3, '', '/b'), []), undefined);
    const apiVersion = 'admission.k8s.io/v1beta1';
    const older = bytesOf(reviewOf({ uid: uidOf(1), options: { padding: '' } }, { apiVersion }));
    const key = decisionKey('/a', older);
    assert.ok(key !== undefined && key.rest.equals(keyOfReview(3).rest));
    assert.equal(memory.find(key, []), undefined);
  });

  it('returns no decision if a dependency was replaced', () => {
    const [first, second, third] = [{}, [], undefined];
    rememberTwice(memory, '', 'x', [first, second, third]);
    assert.equal(memory.find(keyOfReview(3), [first, second, third])?.encoded, 'x');
    for (const now of [
      [{}, second, third],
      [first, [], third],
      [first, second, {}],
      [first, undefined, third],
    ]) {
      assert.equal(memory.find(keyOfReview(3), now), undefined);
    }
  });

  it('returns the latest decision', () => {
    rememberTwice(memory, '', 'old', [1]);
    memory.remember(keyOfReview(3), [2], decisionOf('new'));
    assert.equal(memory.find(keyOfReview(4), [2])?.encoded, 'new');
    const { bytes } = memory;
    memory.remember(keyOfReview(5), [3], decisionOf('abc'));
    assert.equal(memory.bytes, bytes);
  });

  it('evicts the least recently used decision beyond maxBytes', () => {
    memory = new DecisionMemory({ maxBytes: 6000, maxReviewBytes: 100_000 });
    rememberTwice(memory, '1'.repeat(1000), 'one');
    rememberTwice(memory, '2'.repeat(1000), 'two');
    assert.equal(memory.find(keyOfReview(3, '1'.repeat(1000)), [])?.encoded, 'one');
    rememberTwice(memory, '3'.repeat(3300), 'three');
    assert.ok(memory.bytes <= 6000);
    assert.equal(memory.find(keyOfReview(3, '2'.repeat(1000)), []), undefined);
    assert.equal(memory.find(keyOfReview(3, '1'.repeat(1000)), [])?.encoded, 'one');
    assert.equal(memory.find(keyOfReview(3, '3'.repeat(3300)), [])?.encoded, 'three');
    rememberTwice(memory, '4'.repeat(9000), 'four');
    assert.equal(memory.bytes, 0);
  });

  it('does not store large reviews', () => {
    memory = new DecisionMemory({ ...roomy, maxReviewBytes: 1000 });
    rememberTwice(memory, 'x'.repeat(1000), 'x');
    assert.equal(memory.bytes, 0);
  });
});
