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

describe('BodyBudget', () => {
  it('lends until it is spent, and again when something comes back', () => {
    const budget = new BodyBudget(100);
    const [first, second] = [new Holder(false), new Holder(false)];
    assert.equal(budget.take(first, 60), true);
    assert.equal(budget.take(second, 41), false);
    assert.equal(budget.take(second, 40), true);
    assert.equal(budget.used, 100);
    budget.release(first);
    assert.deepEqual([budget.used, first.bytes, second.bytes], [40, 0, 40]);
    budget.release(first);
    assert.equal(budget.used, 40);
  });

  it('gives up the largest expendable body first, and no more of them than needed', () => {
    const budget = new BodyBudget(100);
    const [small, large, kept, asker] = [new Holder(true), new Holder(true), new Holder(false), new Holder(false)];
    budget.take(small, 10);
    budget.take(large, 30);
    budget.take(kept, 60);
    assert.equal(budget.take(asker, 25), true);
    assert.deepEqual([small.given, large.given, kept.given], [0, 1, 0]);
    assert.equal(budget.used, 95);
    assert.equal(budget.take(asker, 15), true);
    assert.deepEqual([small.given, budget.used], [1, 100]);
    assert.equal(budget.take(asker, 1), false);
  });

  it('refuses the one that asks when it is the largest itself', () => {
    const budget = new BodyBudget(100);
    const [other, asker] = [new Holder(true), new Holder(true)];
    budget.take(other, 40);
    budget.take(asker, 50);
    assert.equal(budget.take(asker, 20), false);
    assert.deepEqual([other.given, asker.given, asker.bytes], [0, 0, 50]);
  });

  it('lets an expendable newcomer in at the cost of a larger one', () => {
    const budget = new BodyBudget(100);
    const [hog, newcomer] = [new Holder(true), new Holder(true)];
    budget.take(hog, 100);
    assert.equal(budget.take(newcomer, 12), true);
    assert.deepEqual([hog.given, budget.used], [1, 12]);
  });

  it('never lends more than it has, and knows what it lent', () => {
    const steps = fc.array(fc.record({ holder: fc.nat(5), bytes: fc.nat(60), release: fc.boolean() }), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(steps, (list) => {
        const budget = new BodyBudget(100);
        const holders = [true, true, true, false, false, false].map((expendable) => new Holder(expendable));
        for (const { holder: index, bytes, release } of list) {
          const holder = holders[index]!;
          if (release) budget.release(holder);
          else budget.take(holder, bytes);
          assert.ok(budget.used <= 100);
          assert.equal(
            budget.used,
            holders.reduce((sum, each) => sum + each.bytes, 0),
          );
        }
        assert.ok(holders.every((each) => each.expendable || each.given === 0));
      }),
    );
  });
});
