import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { ConnectionGuard } from './connection-guard.ts';

describe('ConnectionGuard', () => {
  function guarded(limits: { maxConnections: number; maxUnprovenConnections: number }) {
    const seen = { dropped: 0 };
    const guard = new ConnectionGuard(limits, () => {
      seen.dropped++;
    });
    const admit = (address?: string): Socket => {
      const socket = new Socket();
      guard.admit(socket, address);
      return socket;
    };
    /** Opens and proves connections, and returns the connections that the guard keeps. */
    const prove = (address: string, count: number): Socket[] =>
      Array.from({ length: count }, () => address).flatMap((from) => {
        const socket = admit(from);
        return guard.prove(socket) ? [socket] : [];
      });
    return { guard, admit, prove, seen };
  }

  it('closes the oldest unproven connection if there are too many of them', () => {
    const { guard, admit, seen } = guarded({ maxConnections: 10, maxUnprovenConnections: 2 });
    const [first, second, third] = [admit(), admit(), admit()];
    assert.deepEqual([first.destroyed, second.destroyed, third.destroyed], [true, false, false]);
    assert.deepEqual([guard.size, guard.unproven, seen.dropped], [2, 2, 1]);
  });

  it('limits proven connections, and closes no proven connection for a new connection', () => {
    const { guard, admit, seen } = guarded({ maxConnections: 4, maxUnprovenConnections: 2 });
    const [one, other] = [admit('a'), admit('b')];
    assert.deepEqual([guard.prove(one), guard.prove(other)], [true, true]);
    const newcomer = admit('c');
    assert.deepEqual([guard.prove(newcomer), guard.isProven(newcomer)], [false, false]);
    assert.deepEqual([newcomer.destroyed, one.destroyed, other.destroyed], [false, false, false]);
    assert.deepEqual([guard.size, guard.unproven, seen.dropped], [3, 1, 0]);
  });

  it('closes a connection that it does not keep, but only after all older unproven connections', () => {
    const { guard, admit, prove } = guarded({ maxConnections: 4, maxUnprovenConnections: 2 });
    prove('a', 2);
    const [idle, answered] = [admit('b'), admit('c')];
    guard.prove(answered);
    admit('d');
    assert.deepEqual([idle.destroyed, answered.destroyed], [true, false]);
    admit('e');
    admit('f');
    assert.equal(answered.destroyed, true);
  });

  it('treats a connection that it does not keep as the newest, because its answer is pending', () => {
    const { guard, admit, prove } = guarded({ maxConnections: 4, maxUnprovenConnections: 2 });
    prove('a', 2);
    const [answered, idle] = [admit('b'), admit('c')];
    guard.prove(answered);
    admit('d');
    assert.deepEqual([answered.destroyed, idle.destroyed], [false, true]);
  });

  it('removes closed connections, and gives no share to addresses without connections', async () => {
    const { guard, prove } = guarded({ maxConnections: 24, maxUnprovenConnections: 8 });
    const ended = ['a', 'b', 'c', 'd'].flatMap((address) => prove(address, 1));
    for (const socket of ended) socket.destroy();
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(guard.size, 0);
    // Each of the two addresses has a share of seven of fourteen slots.
    const held = prove('other', 8);
    assert.equal(prove('hog', 8).length, 7);
    assert.equal(held.filter((socket) => guard.prove(socket)).length, 7);
  });

  describe('when one address holds all slots', () => {
    const limits = { maxConnections: 24, maxUnprovenConnections: 8 };

    it('keeps connections of other addresses until the reserve is full', () => {
      const { guard, prove } = guarded(limits);
      assert.deepEqual([prove('hog', 20).length, guard.size - guard.unproven], [14, 14]);
      assert.deepEqual([prove('other', 5).length, prove('third', 1).length], [2, 0]);
    });

    it("closes only connections beyond the address's share, with their next answers", () => {
      const { guard, prove } = guarded(limits);
      const held = prove('hog', 14);
      const [first] = prove('other', 2);
      const kept = held.filter((socket) => guard.prove(socket));
      // Two of sixteen slots are reserved; the share of each address is seven of fourteen.
      assert.equal(kept.length, 12);
      assert.ok(first !== undefined && guard.prove(first));
      const after = prove('other', 20);
      const rest = kept.filter((socket) => guard.prove(socket));
      assert.deepEqual([after.length + 2, rest.length], [4, 10]);
      assert.ok(held.every((socket) => !socket.destroyed));
    });

    it('keeps all connections of the address while no other address needs a slot', () => {
      const { guard, prove } = guarded(limits);
      const held = prove('only', 14);
      for (let round = 0; round < 3; round++) assert.ok(held.every((socket) => guard.prove(socket)));
    });
  });

  it('closes a connection of the address with more than half of the unproven connections', () => {
    const { admit } = guarded({ maxConnections: 10, maxUnprovenConnections: 6 });
    const slow = admit('slow');
    const flood = Array.from({ length: 20 }, () => admit('flood'));
    const newcomer = admit('other');
    assert.deepEqual([slow.destroyed, newcomer.destroyed], [false, false]);
    for (const [index, socket] of flood.entries()) assert.equal(socket.destroyed, index < 16);
  });

  it('closes the oldest connection if no address has more than half of the connections', () => {
    const { admit } = guarded({ maxConnections: 10, maxUnprovenConnections: 6 });
    const [oldest] = ['a', 'b', 'b', 'b', 'c', 'c'].map(admit);
    admit('b');
    // Four of seven are more than half; three of six are not.
    assert.ok(oldest !== undefined && !oldest.destroyed);
    admit('d');
    assert.equal(oldest.destroyed, true);
  });

  it('removes closed connections, and does not prove them later', async () => {
    const { guard, admit, seen } = guarded({ maxConnections: 3, maxUnprovenConnections: 3 });
    const [proven, unproven] = [admit(), admit()];
    guard.prove(proven);
    proven.destroy();
    unproven.destroy();
    await Promise.all([once(proven, 'close'), once(unproven, 'close')]);
    guard.prove(unproven);
    assert.deepEqual([guard.size, guard.isProven(unproven), seen.dropped], [0, false, 0]);
  });

  it('closes all connections', () => {
    const { guard, admit } = guarded({ maxConnections: 3, maxUnprovenConnections: 3 });
    const [proven, unproven] = [admit(), admit()];
    guard.prove(proven);
    guard.destroyAll();
    assert.deepEqual([proven.destroyed, unproven.destroyed], [true, true]);
  });
});
