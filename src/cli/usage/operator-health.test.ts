import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { MemoryClient } from '../check/testdata/memory-client.ts';
import { operatorLeases } from '../testdata/operator-leases.ts';
import { healthLines, isAlive, readOperatorHealth, staleSince, type OperatorHealth } from './operator-health.ts';

const now = Date.UTC(2026, 10, 23, 12);
const ago = (seconds: number): Date => new Date(now - seconds * 1000);

/** What is read when the second look finds the second set of Leases. */
async function healthOf(
  first: readonly KubernetesObject[],
  second = first,
  classes = ['default'],
): Promise<{ health: OperatorHealth; pauses: number[] }> {
  let objects = first;
  const pauses: number[] = [];
  const client = {
    listAll: (...all: Parameters<MemoryClient['listAll']>) => new MemoryClient(objects).listAll(...all),
  };
  const pause = (milliseconds: number): Promise<void> => {
    pauses.push(milliseconds);
    objects = second;
    return Promise.resolve();
  };
  const health = await readOperatorHealth(client as never, classes, () => now, pause);
  return { health, pauses };
}
const versioned = (leases: readonly KubernetesObject[], resourceVersion: string): KubernetesObject[] =>
  leases.map((lease) => ({
    ...lease,
    metadata: { ...lease.metadata, uid: lease.metadata.name ?? '', resourceVersion },
  }));

describe('the health of operators', () => {
  it('is told at once where Leases are fresh', async () => {
    const { health, pauses } = await healthOf(operatorLeases(ago(3)));
    assert.deepEqual(pauses, []);
    assert.deepEqual([isAlive(health), staleSince(health, 'default')], [true, undefined]);
    assert.deepEqual(healthLines(health), ['1 replica live; web-1 leads; status as of 3s ago']);
  });

  it('is told after a second look where they are old, and says since when nobody was heard of', async () => {
    const { health, pauses } = await healthOf(versioned(operatorLeases(ago(62)), '5'));
    assert.deepEqual(pauses, [6000]);
    assert.deepEqual([isAlive(health), staleSince(health, 'default')], [false, { since: '2026-11-23T11:58:58Z' }]);
    assert.deepEqual(healthLines(health), [
      'no replica is live since 2026-11-23T11:58:58Z: pods that webhooks select are refused; nobody leads since 2026-11-23T11:58:58Z: what is said of objects is of then',
    ]);
  });

  for (const seconds of [3600, -3600]) {
    it(`takes those for live that are renewed by a clock that is ${seconds} s behind`, async () => {
      const { health } = await healthOf(
        versioned(operatorLeases(ago(seconds)), '5'),
        versioned(operatorLeases(ago(seconds - 5)), '6'),
      );
      assert.equal(isAlive(health), true);
    });
  }

  it('knows a leader that has given its Lease back, and a class that nobody serves', async () => {
    const [leader, replica] = operatorLeases(ago(1));
    const released = { ...leader, spec: { ...(leader?.spec as object), holderIdentity: '' } } as KubernetesObject;
    const { health, pauses } = await healthOf([released, replica as KubernetesObject], undefined, ['default', 'other']);
    assert.deepEqual(pauses, []);
    assert.deepEqual([isAlive(health), staleSince(health, 'other')], [false, { since: undefined }]);
    assert.deepEqual(healthLines(health), [
      'operator class default: 1 replica live; nobody leads since 2026-11-23T11:59:59Z: what is said of objects is of then',
      'operator class other: no operator runs here, so pods that webhooks select are refused; injector install installs one',
    ]);
  });

  it('keeps nothing true where there is nothing, and says what it may not read', async () => {
    const none = await healthOf([], undefined, []);
    assert.deepEqual([isAlive(none.health), healthLines(none.health)], [true, []]);
    const forbidden = await readOperatorHealth(new MemoryClient([], ['Lease']), ['default']);
    assert.deepEqual([isAlive(forbidden), staleSince(forbidden, 'default')], [true, undefined]);
    assert.match(healthLines(forbidden).join(), /not known: user "ann" cannot read Lease/);
  });
});
