import assert from 'node:assert/strict';
import fc from 'fast-check';
import { everyWorkload, getsCanary, noWorkload, rankOf, workloadKey, workloadOfPod } from './workload-key.ts';

describe('workloadOfPod', () => {
  const controlledBy = (kind: string, name: string, apiVersion = 'apps/v1') => ({
    ownerReferences: [
      { apiVersion: 'v1', kind: 'Node', name: 'not-the-controller' },
      { apiVersion, kind, name, controller: true },
    ],
  });
  const hashed = { labels: { 'pod-template-hash': '7d9f' }, ...controlledBy('ReplicaSet', 'cart-7d9f') };
  const unhashed = controlledBy('ReplicaSet', 'cart');
  const argo = { 'rollouts-pod-template-hash': 'ab' };
  const openShift = controlledBy('ReplicationController', 'web-3', 'v1');
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x' };
  const cases: readonly (readonly [string, unknown, string])[] = [
    ['a pod of a Deployment', { generateName: 'cart-7d9f-', ...hashed }, 'shop/Deployment/cart'],
    ['a pod of a ReplicaSet without a hash label', { generateName: 'cart-', ...unhashed }, 'shop/ReplicaSet/cart'],
    ["a pod of Argo's Rollout", { labels: argo, ...controlledBy('ReplicaSet', 'cart-ab') }, 'shop/Rollout/cart'],
    ['a pod of a CronJob', controlledBy('Job', 'report-28391040', 'batch/v1'), 'shop/CronJob/report'],
    ['a pod of a Job without a CronJob', controlledBy('Job', 'migrate-42', 'batch/v1'), 'shop/Job/migrate-42'],
    ['a pod of a StatefulSet', { name: 'db-0', ...controlledBy('StatefulSet', 'db') }, 'shop/StatefulSet/db'],
    ['a pod of a DeploymentConfig', { labels: { deploymentconfig: 'web' }, ...openShift }, 'shop/DeploymentConfig/web'],
    ['a pod of another controller', controlledBy('Cluster', 'pg', 'postgresql.cnpg.io/v1'), 'shop/Cluster/pg'],
    ['a pod whose name is not generated yet', { generateName: 'one-' }, 'shop/Pod/one-'],
    ['a pod with a generated name', { generateName: 'one-', name: 'one-x7k2p' }, 'shop/Pod/one-'],
    ['a bare pod', { name: 'one' }, 'shop/Pod/one'],
    ['a bare pod whose owner does not control it', { name: 'one', ownerReferences: [owner] }, 'shop/Pod/one'],
    ['a pod without any name', {}, 'shop/Pod/'],
  ];
  for (const [title, pod, expected] of cases) {
    it(`returns ${expected} for ${title}`, () => {
      assert.equal(workloadKey(workloadOfPod({ metadata: pod }, 'shop')), expected);
    });
  }

  it('is the same for the pods of all ReplicaSets of a Deployment', () => {
    const pod = (hash: string) => ({
      metadata: { labels: { 'pod-template-hash': hash }, ...controlledBy('ReplicaSet', `cart-${hash}`) },
    });
    assert.deepEqual(workloadOfPod(pod('aaaa'), 'shop'), workloadOfPod(pod('bbbb'), 'shop'));
  });

  it('replaces an owner that cannot exist, but not in the key, so that all versions rank it alike', () => {
    const workload = workloadOfPod({ metadata: controlledBy('Deployment', 'a/b\u0080') }, 'shop');
    assert.deepEqual([workload.kind, workload.name], ['Deployment', 'INVALID']);
    assert.equal(workloadKey(workload), 'shop/Deployment/a/b\u0080');
    // printf 'prod/shop/Deployment/a/b\xc2\x80' | sha256sum | cut -c1-16
    assert.equal(rankOf('prod', workload), '78708d817477df43');
  });
});

describe('workloadOfPod, given objects that no API server sends,', () => {
  const controller = (fields: object, labels?: unknown) => ({
    metadata: { name: 'one', ownerReferences: [{ controller: true, ...fields }], labels },
  });
  const replicaSet = { kind: 'ReplicaSet', name: 'a-1' };
  const cases: readonly (readonly [string, unknown, string])[] = [
    ['an undefined pod', undefined, 'shop/Pod/'],
    ['a string', 'pod', 'shop/Pod/'],
    ['null for metadata', { metadata: null }, 'shop/Pod/'],
    ['a number for a name', { metadata: { name: 7, generateName: null } }, 'shop/Pod/'],
    ['null for the owners', { metadata: { name: 'one', ownerReferences: null } }, 'shop/Pod/one'],
    ['null among the owners', { metadata: { name: 'one', ownerReferences: [null] } }, 'shop/Pod/one'],
    ['a string controller', { metadata: { name: 'one', ownerReferences: [{ controller: 'true' }] } }, 'shop/Pod/one'],
    ['a controller without a name', controller({ kind: 'Job', name: 3 }), 'shop/Job/'],
    ['a number for a label', controller(replicaSet, { 'pod-template-hash': 1 }), 'shop/ReplicaSet/a-1'],
    ['string labels', controller({ kind: 'ReplicationController', name: 'a' }, 'x'), 'shop/ReplicationController/a'],
  ];
  for (const [title, pod, expected] of cases) {
    it(`treats ${title} as absent`, () => {
      assert.equal(workloadKey(workloadOfPod(pod, 'shop')), expected);
    });
  }
});

describe('rankOf', () => {
  // printf prod/shop/Deployment/cart | sha256sum | cut -c1-16
  it('equals the output of sha256sum', () => {
    assert.equal(rankOf('prod', { namespace: 'shop', kind: 'Deployment', name: 'cart' }), 'e41730f6cafc9caa');
    assert.equal(rankOf('prod', { namespace: 'shop', kind: 'Pod', name: 'one-' }), '49eaa3e5560b6bec');
  });

  it('differs between tags', () => {
    const workload = { namespace: 'shop', kind: 'Deployment', name: 'cart' };
    assert.notEqual(rankOf('prod', workload), rankOf('test', workload));
  });
});

describe('getsCanary', () => {
  const hex = fc.bigInt(0n, 0xffff_ffff_ffff_ffffn).map((rank) => rank.toString(16).padStart(16, '0'));
  const edges = fc.constantFrom(noWorkload, '0000000000000001', 'fffffffffffffffe', everyWorkload);
  const rank = fc.oneof({ weight: 1, arbitrary: edges }, { weight: 3, arbitrary: hex });

  it('includes no workload at the lowest threshold and all at the highest', () => {
    fc.assert(
      fc.property(rank, (one) => {
        assert.equal(getsCanary(one, noWorkload), false);
        assert.equal(getsCanary(one, everyWorkload), true);
      }),
    );
  });

  it('includes all workloads of a smaller threshold in a larger threshold', () => {
    fc.assert(
      fc.property(rank, rank, rank, (one, a, b) => {
        const [smaller, larger] = a < b ? [a, b] : [b, a];
        assert.ok(!getsCanary(one, smaller) || getsCanary(one, larger));
      }),
    );
  });

  it('compares ranks as numbers', () => {
    fc.assert(
      fc.property(rank, rank, (one, threshold) => {
        fc.pre(threshold !== everyWorkload);
        assert.equal(getsCanary(one, threshold), BigInt(`0x${one}`) < BigInt(`0x${threshold}`));
      }),
    );
  });
});
