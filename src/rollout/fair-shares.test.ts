import assert from 'node:assert/strict';
import fc from 'fast-check';
import { FairShares, takeFromLargest } from './fair-shares.ts';

describe('FairShares', () => {
  it('lets namespaces take turns, keeps the order within each, and counts no item that is not served', () => {
    const namespaceOf = ([first = '']: string): string => first;
    const turns = (shares: FairShares, isServed: (item: string) => boolean = () => true): string => {
      const order: string[] = [];
      for (const item of shares.inTurns(['a1', 'a2', 'a3', 'b1', 'c1', 'b2'], namespaceOf)) {
        if (isServed(item)) shares.serve(namespaceOf(item));
        order.push(item);
      }
      return order.join();
    };
    const shares = new FairShares();
    assert.equal(turns(shares), 'a1,b1,c1,a2,b2,a3');
    assert.equal(turns(shares.copy()), 'b1,c1,a1,b2,a2,a3', 'a namespace that was served comes later');
    assert.equal(
      turns(new FairShares(), (item) => item === 'a3'),
      'a1,a2,a3,b1,b2,c1',
    );
  });

  it('serves a namespace soon, although a client invents another namespace for each item', () => {
    const shares = new FairShares();
    for (let index = 0; index < 5000; index += 1) shares.serve(`invented-${index}`, 10);
    shares.serve('shop', 10);
    for (let index = 0; index < 1100; index += 1) shares.serve(`other-${index}`, 10);
    assert.ok(shares.startOf('shop') <= shares.startOf('new'));
  });

  it('gives each namespace with enough work the same share, at any costs and arrival times', () => {
    const arrival = fc.record({ from: fc.nat(50), cost: fc.integer({ min: 1, max: 20 }) });
    fc.assert(
      fc.property(fc.array(arrival, { minLength: 2, maxLength: 5 }), (arrivals) => {
        const shares = new FairShares();
        const used = arrivals.map(() => 0);
        for (let turn = 0; turn < 500; turn += 1) {
          if (turn === 50) used.fill(0);
          const waiting = arrivals.flatMap(({ from }, index) => (from <= turn ? [index] : []));
          const [next] = waiting.sort((one, other) => shares.startOf(`${one}`) - shares.startOf(`${other}`));
          if (next === undefined) continue;
          shares.serve(`${next}`, arrivals[next]!.cost);
          used[next]! += arrivals[next]!.cost;
        }
        assert.ok(Math.max(...used) - Math.min(...used) <= 60, used.join());
      }),
    );
  });

  it('takes from a full queue the last item of the namespace that fills most of it', () => {
    const items = ['a', 'b', 'a', 'c'].map((namespace, index) => ({ namespace, bytes: index === 1 ? 9 : 1 }));
    assert.equal(takeFromLargest([...items]), items[2]);
    const queue = [...items];
    assert.equal(
      takeFromLargest(queue, ({ bytes }) => bytes),
      items[1],
    );
    assert.deepEqual(queue, [items[0], items[2], items[3]]);
    const none: typeof items = [];
    assert.equal(takeFromLargest(none), undefined);
  });
});
