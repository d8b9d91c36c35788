import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { ConnectionGuard } from './connection-guard.ts';

const closed = (socket: Socket): Promise<void> =>
  new Promise((resolve) =>
    socket.once('close', () => {
      resolve();
    }),
  );

describe('ConnectionGuard', () => {
  function guarded(limits: { maxConnections: number; maxUnprovenConnections: number }) {
    const seen = { dropped: 0 };
    const guard = new ConnectionGuard(limits, () => {
      seen.dropped++;
    });
    const admit = (): Socket => {
      const socket = new Socket();
      guard.admit(socket);
      return socket;
    };
    return { guard, admit, seen };
  }

  it('closes the oldest unproven connection when there are too many of them', () => {
    const { guard, admit, seen } = guarded({ maxConnections: 10, maxUnprovenConnections: 2 });
    const [first, second, third] = [admit(), admit(), admit()];
    assert.deepEqual([first.destroyed, second.destroyed, third.destroyed], [true, false, false]);
    assert.deepEqual([guard.size, guard.unproven, seen.dropped], [2, 2, 1]);
  });

  it('never closes a proven one, even when all are and there is no room', () => {
    const { guard, admit, seen } = guarded({ maxConnections: 2, maxUnprovenConnections: 2 });
    const working = [admit(), admit()];
    for (const socket of working) guard.prove(socket);
    const newcomer = admit();
    assert.deepEqual([newcomer.destroyed, ...working.map((socket) => socket.destroyed)], [true, false, false]);
    assert.deepEqual([guard.size, guard.unproven, seen.dropped], [2, 0, 1]);
  });

  it('prefers the oldest unproven one when the total is reached', () => {
    const { guard, admit } = guarded({ maxConnections: 3, maxUnprovenConnections: 3 });
    const [proven, oldest, other] = [admit(), admit(), admit()];
    guard.prove(proven);
    const newcomer = admit();
    assert.deepEqual(
      [proven.destroyed, oldest.destroyed, other.destroyed, newcomer.destroyed],
      [false, true, false, false],
    );
    assert.deepEqual([guard.isProven(proven), guard.isProven(other)], [true, false]);
  });

  it('forgets connections that end, and does not prove them afterwards', async () => {
    const { guard, admit, seen } = guarded({ maxConnections: 3, maxUnprovenConnections: 3 });
    const [proven, unproven] = [admit(), admit()];
    guard.prove(proven);
    proven.destroy();
    unproven.destroy();
    await Promise.all([closed(proven), closed(unproven)]);
    guard.prove(unproven);
    assert.deepEqual([guard.size, guard.isProven(unproven), seen.dropped], [0, false, 0]);
  });

  it('ends all of them', () => {
    const { guard, admit } = guarded({ maxConnections: 3, maxUnprovenConnections: 3 });
    const [proven, unproven] = [admit(), admit()];
    guard.prove(proven);
    guard.destroyAll();
    assert.deepEqual([proven.destroyed, unproven.destroyed], [true, true]);
  });
});
