import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { labelNames, managedBy } from '../../api/names.ts';
import { MemoryClient } from '../check/testdata/memory-client.ts';
import { operatorLeases } from '../testdata/operator-leases.ts';
import {
  healthLines,
  isAlive,
  notInstalled,
  readOperatorHealth,
  staleSince,
  type OperatorHealth,
} from './operator-health.ts';

const now = Date.UTC(2026, 10, 23, 12);
const ago = (seconds: number): Date => new Date(now - seconds * 1000);

/** Reads the health; the second read finds the Leases in `second`. */
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

describe('readOperatorHealth', () => {
  it('returns immediately when Leases are recent', async () => {
    const { health, pauses } = await healthOf(operatorLeases(ago(3)));
    assert.deepEqual(pauses, []);
    assert.deepEqual([isAlive(health), staleSince(health, 'default')], [true, undefined]);
    assert.deepEqual(healthLines(health), ['1 replica live; web-1 is the leader; status as of 3s ago']);
  });

  it('reads old Leases again, and reports the last heartbeat', async () => {
    const { health, pauses } = await healthOf(versioned(operatorLeases(ago(62)), '5'));
    assert.deepEqual(pauses, [6000]);
    assert.deepEqual([isAlive(health), staleSince(health, 'default')], [false, { since: '2026-11-23T11:58:58Z' }]);
    assert.deepEqual(healthLines(health), [
      'no replica is live since 2026-11-23T11:58:58Z: no webhook selects pods, and they start without a sidecar; start the operator; no leader since 2026-11-23T11:58:58Z: statuses may be outdated',
    ]);
  });

  it('says that no operator runs when no object names a class', async () => {
    const { health } = await healthOf([], undefined, []);
    assert.match(healthLines(health).join(), /^no operator is running, .*; run `injector install`$/);
    assert.deepEqual(
      [isAlive(health), notInstalled(health).map(({ command }) => command)],
      [false, ['injector install']],
    );
    const { health: other } = await healthOf(operatorLeases(ago(3)), undefined, []);
    assert.deepEqual([isAlive(other), notInstalled(other)], [true, []]);
  });

  const [fail, hold, ignore] = [[], [{ name: 'can-be-held', expression: 'true' }], []].map(
    (matchConditions, index) => ({
      name: `${index}.sidecar-injector.io`,
      rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
      matchConditions,
      failurePolicy: index === 0 ? 'Fail' : 'Ignore',
    }),
  );
  const policies: [webhooks: unknown[], outage: string][] = [
    [[fail], 'the API server refuses pods that webhooks select'],
    [[ignore], 'pods that webhooks select start without a sidecar (failurePolicy Ignore)'],
    [
      [hold, fail],
      'the API server refuses pods that webhooks select (failurePolicy Fail), pods of workloads that webhooks select wait for their sidecar (failurePolicy Hold)',
    ],
    [[], 'no webhook selects pods, and they start without a sidecar'],
  ];
  for (const [webhooks, outage] of policies) {
    it(`says that ${outage}`, async () => {
      const labels = { 'app.kubernetes.io/managed-by': managedBy, [labelNames.operatorClass]: 'default' };
      const metadata = { name: 'a', labels };
      const { health } = await healthOf([
        { apiVersion: 'x/v1', kind: 'MutatingWebhookConfiguration', metadata, webhooks },
      ]);
      assert.deepEqual(healthLines(health), [`no operator is running, so ${outage}; run \`injector install\``]);
    });
  }

  for (const seconds of [3600, -3600]) {
    it(`accepts heartbeats of a clock that is ${seconds} s behind`, async () => {
      const { health } = await healthOf(
        versioned(operatorLeases(ago(seconds)), '5'),
        versioned(operatorLeases(ago(seconds - 5)), '6'),
      );
      assert.equal(isAlive(health), true);
    });
  }

  it('reports a released Lease, and a class without an operator', async () => {
    const [leader, replica] = operatorLeases(ago(1));
    const released = { ...leader, spec: { ...(leader?.spec as object), holderIdentity: '' } } as KubernetesObject;
    const { health, pauses } = await healthOf([released, replica as KubernetesObject], undefined, ['default', 'other']);
    assert.deepEqual(pauses, []);
    assert.deepEqual([isAlive(health), staleSince(health, 'other')], [false, { since: undefined }]);
    assert.deepEqual(healthLines(health), [
      'operator class default: 1 replica live; no leader since 2026-11-23T11:59:59Z: statuses may be outdated',
      'operator class other: no operator is running, so no webhook selects pods, and they start without a sidecar; install an operator of this class (operator.class of the chart)',
    ]);
  });

  it('reports missing rights', async () => {
    const forbidden = await readOperatorHealth(new MemoryClient([], ['Lease']), ['default']);
    assert.deepEqual([isAlive(forbidden), staleSince(forbidden, 'default')], [true, undefined]);
    assert.match(healthLines(forbidden).join(), /is running: user "ann" cannot read Lease/);
  });
});
