import assert from 'node:assert/strict';
import fc from 'fast-check';
import { BodyBudget, type BodyHolder } from './body-budget.ts';

class Holder implements BodyHolder {
  bytes = 0;
  evicted = 0;
  readonly expendable: boolean;
  constructor(expendable: boolean) {
    this.expendable = expendable;
  }
  giveUp(): void {
    this.evicted++;
  }
}

/** A kibibyte, in bytes. */
const k = 1024;

/** Creates a budget of 1000 KiB, and adds a body for each argument. */
function entered<T extends boolean[]>(...expendable: T): [BodyBudget, ...{ [Index in keyof T]: Holder }] {
  const budget = new BodyBudget({ bytes: 1000 * k, bodies: 10 });
  const holders = expendable.map((each) => new Holder(each)) as { [Index in keyof T]: Holder };
  for (const holder of holders) budget.enter(holder);
  return [budget, ...holders];
}

describe('BodyBudget', () => {
  it('refuses bytes when the budget is used up, until bytes are released', () => {
    const [budget, first, second] = entered(false, false);
    assert.equal(budget.take(first, 400 * k), true);
    assert.equal(budget.take(second, 601 * k), false);
    assert.equal(budget.take(second, 600 * k), true);
    assert.equal(budget.used, 1000 * k);
    budget.release(first);
    assert.deepEqual([budget.used, first.bytes, second.bytes], [600 * k, 0, 600 * k]);
    budget.release(first);
    assert.equal(budget.used, 600 * k);
  });

  it('evicts the largest expendable body first, and only as many bodies as necessary', () => {
    const [budget, large, larger, kept, requester] = entered(true, true, false, false);
    budget.take(large, 260 * k);
    budget.take(larger, 300 * k);
    budget.take(kept, 440 * k);
    assert.equal(budget.take(requester, 20 * k), true);
    assert.deepEqual([large.evicted, larger.evicted, kept.evicted], [0, 1, 0]);
    assert.equal(budget.take(requester, 300 * k), true);
    assert.deepEqual([large.evicted, kept.evicted, budget.used], [1, 0, 760 * k]);
  });

  it('evicts a large body rather than a small expendable body', () => {
    const [budget, small, hog, requester] = entered(true, false, true);
    budget.take(small, 12 * k);
    budget.take(hog, 985 * k);
    assert.equal(budget.take(requester, 12 * k), true);
    assert.deepEqual([small.evicted, hog.evicted], [0, 1]);
  });

  it('refuses the body that needs bytes if that body is the largest', () => {
    for (const expendable of [true, false]) {
      const [budget, other, requester] = entered(expendable, expendable);
      budget.take(other, 400 * k);
      budget.take(requester, 500 * k);
      assert.equal(budget.take(requester, 200 * k), false);
      assert.deepEqual([other.evicted, requester.evicted, requester.bytes], [0, 0, 500 * k]);
    }
  });

  it('evicts a larger body to make room for a new body', () => {
    const [budget, hog, newcomer] = entered(true, true);
    budget.take(hog, 1000 * k);
    assert.equal(budget.take(newcomer, 12 * k), true);
    assert.deepEqual([hog.evicted, budget.used], [1, 12 * k]);
  });

  it('evicts the oldest body if there are too many bodies', () => {
    const budget = new BodyBudget({ bytes: 1000, bodies: 2 });
    const [first, second, third] = [new Holder(false), new Holder(true), new Holder(true)];
    budget.enter(first);
    budget.enter(second);
    budget.take(first, 10);
    budget.enter(third);
    assert.deepEqual([first.evicted, second.evicted, third.evicted, budget.used], [1, 0, 0, 0]);
  });

  it('keeps the order of arrival when bodies end in any order', () => {
    const budget = new BodyBudget({ bytes: 1000, bodies: 3 });
    const holders = Array.from({ length: 7 }, () => new Holder(false)) as [Holder, ...Holder[]];
    const [first, second, third, fourth, fifth, sixth, seventh] = holders;
    const evicted = (): number[] => holders.map((holder) => holder.evicted);
    for (const holder of [first, second!, third!]) budget.enter(holder);
    budget.release(second!);
    budget.enter(fourth!);
    budget.release(fourth!);
    budget.release(second!);
    for (const holder of [fifth, sixth, seventh]) budget.enter(holder!);
    assert.deepEqual(evicted(), [1, 0, 1, 0, 0, 0, 0]);
    for (const holder of holders) budget.release(holder);
    for (const holder of holders.slice(0, 3)) budget.enter(holder);
    assert.deepEqual(evicted(), [1, 0, 1, 0, 0, 0, 0]);
  });

  it('never exceeds its limit, and reports the bytes in use', () => {
    const steps = fc.array(fc.record({ holder: fc.nat(5), kibibytes: fc.nat(600), release: fc.boolean() }), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(steps, (list) => {
        const [budget, ...holders] = entered(true, true, true, false, false, false);
        for (const { holder: index, kibibytes, release } of list) {
          const holder = holders[index]!;
          if (release) budget.release(holder);
          else budget.take(holder, kibibytes * k);
          const lent = holders.reduce((sum, each) => sum + each.bytes, 0);
          assert.ok(budget.used === lent && lent <= 1000 * k, `${budget.used} used, ${lent} lent`);
        }
      }),
    );
  });
});
