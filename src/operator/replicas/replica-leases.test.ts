import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { emptyShadowReport, type PairReport, type RolloutPair } from '../../rollout/shadow-report.ts';
import { capturingLogger } from '../../kube/testdata/capturing-logger.ts';
import { ManualClock, until } from '../../kube/testdata/manual-clock.ts';
import { pathFormats } from '../../routing/route.ts';
import { replicaLeaseMetadata } from './replica-lease.ts';
import { ReplicaLeases } from './replica-leases.ts';
import { MemoryCluster } from '../testdata/memory-cluster.ts';

const place = { namespace: 'injection', operatorClass: 'default' };
let renewals = 0;

function lease(
  replica: string,
  hashes: string[] = [],
  options: { certificate?: boolean; seconds?: number; shadow?: readonly PairReport[] } = {},
): KubernetesObject {
  const served = { hashes, ...(options.certificate === false ? {} : { certificate: 'c'.repeat(64) }) };
  const { metadata } = replicaLeaseMetadata(replica, place, {
    isDraining: false,
    serves: new Map([['blue', served]]),
    shadow: options.shadow ?? [],
  });
  renewals += 1;
  const spec = {
    leaseDurationSeconds: options.seconds ?? 15,
    renewTime: `1999-01-01T00:00:00.${String(renewals).padStart(6, '0')}Z`,
  };
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
}

describe('ReplicaLeases', () => {
  let cluster: MemoryCluster;
  let clock: ManualClock;
  let reports: ReplicaLeases;
  let notified: number;
  beforeEach(async () => {
    cluster = new MemoryCluster();
    clock = new ManualClock();
    notified = 0;
    await cluster.start();
    const { client } = cluster;
    reports = new ReplicaLeases({ client, ...place, clock, random: () => 0, logger: capturingLogger() });
    reports.subscribe(() => (notified += 1));
  });
  afterEach(async () => {
    reports.stop();
    await cluster.stop();
  });
  const live = (): string[] => reports.replicas('blue').map(({ replica }) => replica);
  /** Stores a Lease, and waits until the watch has delivered a second Lease. */
  const seen = async (object: KubernetesObject): Promise<void> => {
    const [name] = [object.metadata.name ?? ''];
    cluster.put('leases', object);
    const mark = `mark-${renewals}`;
    cluster.put('leases', lease(mark));
    await until(() => live().includes(mark));
    cluster.remove('leases', `injector-replica-${mark}`, 'injection');
    await until(() => !live().includes(mark) && name !== '');
  };

  it('reports any replica as lacking until the Leases are listed, and while no replica runs', async () => {
    assert.deepEqual(reports.lacking('blue', '1'), ['any replica (their leases have not been read yet)']);
    reports.start();
    await until(() => reports.lacking('blue', '1').join() === 'any replica (none is running)');
  });

  it('returns the newest path format that all live replicas read, or lists the formats that they read', async () => {
    reports.start();
    await reports.synced();
    await seen(lease('old'));
    assert.equal(reports.pathFormat(), pathFormats[0]);
    const newer = lease('newer', [], { seconds: 20 });
    newer.metadata.annotations!['sidecar-injector.io/path-formats'] = '3,2';
    notified = 0;
    await seen(newer);
    assert.ok(notified > 0);
    const formats = reports.pathFormat();
    assert.ok(typeof formats === 'string' && formats.includes('old reads 1') && formats.includes('newer reads 3,2'));
    await clock.advance(20_000);
    assert.equal(reports.pathFormat(), pathFormats[0], 'the newer replica has expired');
  });

  it('names the first five replicas that lack the configuration or certificate, and counts the rest', async () => {
    reports.start();
    cluster.put('leases', lease('has-it', ['1', '2']));
    await until(() => live().length === 1);
    assert.deepEqual(reports.lacking('blue', '1'), []);
    assert.deepEqual(reports.lacking('blue', '1', 'c'.repeat(64)), []);
    assert.deepEqual(reports.lacking('blue', '1', 'd'.repeat(64)), ['has-it'], 'it serves another certificate');
    cluster.put('leases', lease('has-no-certificate', ['1'], { certificate: false }));
    await until(() => live().length === 2);
    assert.deepEqual(reports.lacking('blue', '1'), ['has-no-certificate']);
    for (let index = 1; index <= 6; index += 1) cluster.put('leases', lease(`late-${index}`));
    await until(() => live().length === 8);
    const late = ['late-1', 'late-2', 'late-3', 'late-4'];
    assert.deepEqual(reports.lacking('blue', '1'), ['has-no-certificate', ...late, '2 more']);
    assert.equal(reports.lacking('green', '1').length, 6);
  });

  it('reads the reports of the first 200 Leases; further replicas count as lacking', async () => {
    reports.start();
    await until(() => reports.lacking('blue', '1').join() === 'any replica (none is running)');
    for (let index = 0; index < 210; index += 1)
      cluster.put('leases', lease(`r-${String(index).padStart(3, '0')}`, ['1']));
    await until(() => live().length === 210);
    assert.deepEqual(reports.lacking('blue', '1'), ['r-200', 'r-201', 'r-202', 'r-203', 'r-204', '5 more']);
    for (const name of live().slice(0, 11)) cluster.remove('leases', `injector-replica-${name}`, 'injection');
    await until(() => live().length === 199);
    cluster.put('leases', lease('r-204', ['1']));
    await until(() => !reports.lacking('blue', '1').includes('r-204'));
  });

  it('treats a replica as live for the duration of its Lease after a change, measured by the local clock', async () => {
    reports.start();
    await seen(lease('gone'));
    await seen(lease('stays'));
    await clock.advance(14_000);
    assert.deepEqual(live(), ['gone', 'stays']);
    await seen(lease('stays'));
    await clock.advance(2000);
    assert.deepEqual(live(), ['stays']);
    await seen(lease('gone'));
    assert.deepEqual(live(), ['gone', 'stays'], 'the replica has reconnected');
  });

  it('limits the duration of a Lease to a minute', async () => {
    reports.start();
    await seen(lease('forever', [], { seconds: 1_000_000 }));
    await clock.advance(59_000);
    assert.deepEqual(live(), ['forever']);
    await clock.advance(1000);
    assert.deepEqual(live(), []);
  });

  it('notifies of changes, but not of renewals', async () => {
    reports.start();
    cluster.put('leases', lease('one', ['1']));
    await until(() => notified === 1);
    cluster.put('leases', lease('one', ['1']));
    cluster.put('leases', lease('one', ['1', '2']));
    await until(() => notified === 2);
    assert.deepEqual(reports.replicas('blue')[0]?.hashes, ['1', '2']);
    cluster.remove('leases', 'injector-replica-one', 'injection');
    await until(() => notified === 3);
    assert.deepEqual(live(), []);
  });

  it('notifies when a Lease expires without a watch event, but not when it is renewed in time', async () => {
    reports.start();
    await seen(lease('gone'));
    await clock.advance(5000);
    await seen(lease('stays'));
    const before = notified;
    await clock.advance(9999);
    assert.deepEqual([live(), notified], [['gone', 'stays'], before]);
    await clock.advance(2);
    assert.deepEqual([live(), notified], [['stays'], before + 1]);
    await seen(lease('stays'));
    const renewed = notified;
    await clock.advance(14_000);
    assert.deepEqual([live(), notified], [['stays'], renewed]);
    reports.stop();
    await clock.advance(60_000);
    assert.equal(notified, renewed, 'the timer is cancelled');
  });

  it('adds the shadow reports for a pair of configurations, without notifying listeners', async () => {
    const pair: RolloutPair = {
      tag: 'prod',
      stable: { injectorConfig: 'blue', hash: '1' },
      canary: { injectorConfig: 'green', hash: '2' },
    };
    const found = { ...pair, compared: 3, failed: 1, differing: 2, changed: ['a', 'b'] };
    const others = [
      { tag: 'test' },
      { stable: { injectorConfig: 'blue', hash: '9' } },
      { canary: { injectorConfig: 'green', hash: '9' } },
    ];
    reports.start();
    assert.deepEqual(reports.shadowReport(pair), emptyShadowReport);
    cluster.put('leases', lease('one', ['1'], { shadow: others.map((other) => ({ ...found, ...other })) }));
    cluster.put('leases', lease('two', ['1'], { shadow: [found] }));
    await until(() => reports.shadowReport(pair).compared === 3 && live().length === 2);
    const before = notified;
    cluster.put('leases', lease('one', ['1'], { shadow: [{ ...found, changed: ['b', 'c'], error: 'because' }] }));
    await until(() => reports.shadowReport(pair).compared === 6);
    assert.equal(notified, before);
    const { changed, ...counts } = reports.shadowReport(pair);
    assert.deepEqual(counts, { compared: 6, failed: 2, differing: 4, error: 'because' });
    assert.deepEqual([...changed].sort(), ['a', 'b', 'c']);
    cluster.remove('leases', 'injector-replica-one', 'injection');
    await until(() => live().length === 1);
    assert.deepEqual(reports.shadowReport(pair).compared, 3);
    await clock.advance(16_000);
    assert.deepEqual([live(), reports.shadowReport(pair).compared], [[], 3], 'a disconnected replica may reconnect');
    cluster.remove('leases', 'injector-replica-two', 'injection');
    await until(() => reports.shadowReport(pair).compared === 0);
    assert.deepEqual(reports.shadowReport(pair), emptyShadowReport);
  });

  it('ignores the Leases of other operator classes and of the leader', async () => {
    const leader = { name: 'injector-leader-default', namespace: 'injection' };
    cluster.put('leases', { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: leader });
    const canary = { namespace: 'injection', operatorClass: 'canary' };
    const { metadata } = replicaLeaseMetadata('other', canary, { isDraining: false, serves: new Map() });
    cluster.put('leases', { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata });
    reports.start();
    await seen(lease('one'));
    assert.deepEqual(live(), ['one']);
  });

  it('deletes the Leases of dead replicas, unless a Lease has changed', async () => {
    reports.start();
    await seen(lease('gone'));
    await seen(lease('back'));
    const { signal } = new AbortController();
    await clock.advance(44_000);
    await reports.removeExpired(signal);
    assert.equal(cluster.names('leases').length, 2);
    await clock.advance(1000);
    // The replica renews its Lease, but the watch has not delivered the renewal.
    cluster.fail((method, path) => method === 'DELETE' && path.includes('back'), 409, 'Conflict', 'modified');
    await reports.removeExpired(signal);
    assert.deepEqual(cluster.names('leases'), ['injector-replica-back']);
  });

  it('restarts the durations of all Leases after the watch was interrupted', async () => {
    reports.start();
    await seen(lease('one'));
    await clock.advance(10_000);
    cluster.faults.push({ matches: (method) => method === 'GET', answer: (response) => response.destroy(), times: 1 });
    cluster.dropWatches();
    for (let turn = 0; turn < 40; turn += 1) {
      await clock.advance(100);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    assert.equal(cluster.faults.length, 0);
    await clock.advance(8000);
    assert.deepEqual(live(), ['one'], 'live 22 seconds after the last change of the Lease');
  });
});
