import assert from 'node:assert/strict';
import fc from 'fast-check';
import { BodyBudget, type BodyHolder } from './body-budget.ts';

class Holder implements BodyHolder {
  bytes = 0;
  given = 0;
  readonly expendable: boolean;
  constructor(expendable: boolean) {
    this.expendable = expendable;
  }
  giveUp(): void {
    this.given++;
  }
}

/** Kibibytes. */
const k = 1024;

/** A budget of 1000 KiB and bodies that have entered it. */
function entered<T extends boolean[]>(...expendable: T): [BodyBudget, ...{ [Index in keyof T]: Holder }] {
  const budget = new BodyBudget({ bytes: 1000 * k, bodies: 10 });
  const holders = expendable.map((each) => new Holder(each)) as { [Index in keyof T]: Holder };
  for (const holder of holders) budget.enter(holder);
  return [budget, ...holders];
}

describe('BodyBudget', () => {
  it('lends until it is spent, and again when something comes back', () => {
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

  it('gives up the largest expendable body first, and no more of them than needed', () => {
    const [budget, large, larger, kept, asker] = entered(true, true, false, false);
    budget.take(large, 260 * k);
    budget.take(larger, 300 * k);
    budget.take(kept, 440 * k);
    assert.equal(budget.take(asker, 20 * k), true);
    assert.deepEqual([large.given, larger.given, kept.given], [0, 1, 0]);
    assert.equal(budget.take(asker, 300 * k), true);
    assert.deepEqual([large.given, kept.given, budget.used], [1, 0, 760 * k]);
  });

  it('does not give up a small body in place of a large one', () => {
    const [budget, small, hog, asker] = entered(true, false, true);
    budget.take(small, 12 * k);
    budget.take(hog, 985 * k);
    assert.equal(budget.take(asker, 12 * k), true);
    assert.deepEqual([small.given, hog.given], [0, 1]);
  });

  it('refuses the one that asks when it is the largest itself', () => {
    for (const expendable of [true, false]) {
      const [budget, other, asker] = entered(expendable, expendable);
      budget.take(other, 400 * k);
      budget.take(asker, 500 * k);
      assert.equal(budget.take(asker, 200 * k), false);
      assert.deepEqual([other.given, asker.given, asker.bytes], [0, 0, 500 * k]);
    }
  });

  it('lets a newcomer in at the cost of a larger one', () => {
    const [budget, hog, newcomer] = entered(true, true);
    budget.take(hog, 1000 * k);
    assert.equal(budget.take(newcomer, 12 * k), true);
    assert.deepEqual([hog.given, budget.used], [1, 12 * k]);
  });

  it('gives up the body that has been waiting longest when there are too many', () => {
    const budget = new BodyBudget({ bytes: 1000, bodies: 2 });
    const [first, second, third] = [new Holder(false), new Holder(true), new Holder(true)];
    budget.enter(first);
    budget.enter(second);
    budget.take(first, 10);
    budget.enter(third);
    assert.deepEqual([first.given, second.given, third.given, budget.used], [1, 0, 0, 0]);
  });

  it('keeps the order of arrival when bodies end in any order', () => {
    const budget = new BodyBudget({ bytes: 1000, bodies: 3 });
    const holders = Array.from({ length: 7 }, () => new Holder(false)) as [Holder, ...Holder[]];
    const [first, second, third, fourth, fifth, sixth, seventh] = holders;
    const given = (): number[] => holders.map((holder) => holder.given);
    for (const holder of [first, second!, third!]) budget.enter(holder);
    budget.release(second!);
    budget.enter(fourth!);
    budget.release(fourth!);
    budget.release(second!);
    for (const holder of [fifth, sixth, seventh]) budget.enter(holder!);
    assert.deepEqual(given(), [1, 0, 1, 0, 0, 0, 0]);
    for (const holder of holders) budget.release(holder);
    for (const holder of holders.slice(0, 3)) budget.enter(holder);
    assert.deepEqual(given(), [1, 0, 1, 0, 0, 0, 0]);
  });

  it('never lends more than it has, and knows what it lent', () => {
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
