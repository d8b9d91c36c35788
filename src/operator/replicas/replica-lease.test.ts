import assert from 'node:assert/strict';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { readReplicaLease, replicaLeaseMetadata, replicaOf, type ServedConfiguration } from './replica-lease.ts';

const place = { namespace: 'injection', operatorClass: 'default' };
const certificate = 'c'.repeat(64);

function lease(serves: [string, ServedConfiguration][], isDraining = false) {
  const { metadata, omitted } = replicaLeaseMetadata('webhook-1', place, { isDraining, serves: new Map(serves) });
  const object: KubernetesObject = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata };
  return { object, omitted };
}

describe("a replica's Lease", () => {
  it('contains the served configurations and the draining flag, and survives a round trip', () => {
    // `constructor` is also a property of every object.
    const serves: [string, ServedConfiguration][] = [
      ['blue', { hashes: ['01234567', '89abcdef'], certificate }],
      ['constructor', { hashes: [] }],
    ];
    const { object, omitted } = lease(serves, true);
    assert.equal(omitted, 0);
    assert.equal(replicaOf(object), 'webhook-1');
    assert.deepEqual(readReplicaLease(object), {
      isDraining: true,
      serves: new Map(serves),
      pathFormats: ['1'],
      holdsPods: true,
    });
    assert.equal(readReplicaLease(lease([]).object).isDraining, false);
  });

  it('has room for 1000 InjectorConfigs with the longest names and three hashes each', () => {
    const many = (count: number): [string, ServedConfiguration][] =>
      Array.from({ length: count }, (_, index) => [
        `n${index}`.padEnd(46, 'x'),
        { hashes: ['00000000', '11111111', '22222222'], certificate },
      ]);
    const bytes = ({ object }: { object: KubernetesObject }): number =>
      Object.entries(object.metadata.annotations ?? {}).join('').length;
    assert.ok(bytes(lease(many(50))) < 10_000, String(bytes(lease(many(50)))));
    assert.equal(lease(many(1000)).omitted, 0);
    const tooMany = lease(many(2000));
    assert.ok(tooMany.omitted > 0 && bytes(tooMany) < 256 * 1024);
    const { serves } = readReplicaLease(tooMany.object);
    assert.equal(serves.size + tooMany.omitted, 2000);
    const isWhole = [...serves.values()].every(({ hashes }) => hashes.length === 3);
    assert.ok(isWhole, 'an entry is complete or absent');
  });

  it('lists the path formats of this version; a missing list means that the replica reads format 1', () => {
    const { object } = lease([]);
    const named = object.metadata.annotations ?? {};
    assert.equal(named['sidecar-injector.io/path-formats'], '1');
    named['sidecar-injector.io/path-formats'] = '3,2';
    assert.deepEqual(readReplicaLease(object).pathFormats, ['3', '2']);
    delete named['sidecar-injector.io/path-formats'];
    assert.deepEqual(readReplicaLease(object).pathFormats, ['1']);
  });

  it('contains shadow reports and failures, if there are any', () => {
    const configuration = { injectorConfig: 'blue', hash: '01234567' };
    const found = { compared: 2, failed: 1, differing: 1, changed: ['spec.containers[proxy].image'], error: 'because' };
    const shadow = [
      { tag: 'prod', stable: configuration, canary: { ...configuration, injectorConfig: 'green' }, ...found },
    ];
    const failure = { count: 2, first: 1, last: 2, reason: 'TemplateFailed', message: 'm', pod: 'shop/web-' };
    const failures = [{ injectorConfig: 'blue', hash: '01234567', ...failure }];
    const state = { isDraining: false, serves: new Map(), shadow, failures };
    const { metadata } = replicaLeaseMetadata('webhook-1', place, state);
    const read = readReplicaLease({ apiVersion: 'v1', kind: 'Lease', metadata });
    assert.deepEqual(read, { ...state, pathFormats: ['1'], holdsPods: true });
    assert.equal('sidecar-injector.io/shadow' in (lease([]).object.metadata.annotations ?? {}), false);
  });

  const beyondBounds = [
    JSON.stringify({ blue: { hashes: Array.from({ length: 65 }, () => '01234567') } }),
    JSON.stringify({ blue: { hashes: ['0'.repeat(9)] } }),
    JSON.stringify({ ['n'.repeat(64)]: { hashes: [] } }),
    JSON.stringify({ blue: { hashes: [], certificate: 'c'.repeat(65) } }),
  ];
  for (const text of ['{', '[]', '"x"', '{"blue":{"hashes":"0"}}', '{"blue":null}', undefined, ...beyondBounds]) {
    it(`counts as serving nothing when its report is invalid: ${String(text).slice(0, 80)}`, () => {
      const { object } = lease([]);
      object.metadata.annotations = text === undefined ? {} : { 'sidecar-injector.io/serves': text };
      assert.deepEqual([...readReplicaLease(object).serves], []);
    });
  }
});
