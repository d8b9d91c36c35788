import assert from 'node:assert/strict';
import { normalisePod } from '../kubernetes/typed-pod.ts';
import type { Pod } from './pod.ts';
import { workloadOf } from './workload.ts';

const podWith = (metadata: object): Pod => normalisePod({ metadata }) as Pod;

describe('workloadOf', () => {
  const hashed = { 'pod-template-hash': 'a1' };
  const hashedByArgo = { 'rollouts-pod-template-hash': 'x1' };
  const deployed = { deploymentconfig: 'dc' };
  const rows: [title: string, owner: string, labels: object, name: string, workload: string][] = [
    ['a Deployment’s pod', 'apps/v1 ReplicaSet', hashed, 'web-a1', 'apps/v1 Deployment web'],
    ['a ReplicaSet without a Deployment', 'apps/v1 ReplicaSet', {}, 'web', 'apps/v1 ReplicaSet web'],
    ['a ReplicaSet without the hash', 'apps/v1 ReplicaSet', hashed, 'web', 'apps/v1 ReplicaSet web'],
    ['a Rollout’s pod', 'apps/v1 ReplicaSet', hashedByArgo, 'web-x1', 'v1alpha1 Rollout web'],
    [
      'a pod with both labels',
      'apps/v1 ReplicaSet',
      { ...hashedByArgo, 'pod-template-hash': 'x1' },
      'web-x1',
      'apps/v1 Deployment web',
    ],
    ['a CronJob’s pod', 'batch/v1 Job', {}, 'backup-28391040', 'batch/v1 CronJob backup'],
    ['a Job with a short number', 'batch/v1 Job', {}, 'backup-12', 'batch/v1 Job backup-12'],
    ['a DeploymentConfig’s pod', 'v1 ReplicationController', deployed, 'dc-1', 'v1 DeploymentConfig dc'],
    ['a ReplicationController', 'v1 ReplicationController', {}, 'rc', 'v1 ReplicationController rc'],
    ['a StatefulSet', 'apps/v1 StatefulSet', {}, 'db', 'apps/v1 StatefulSet db'],
  ];
  for (const [title, owner, labels, name, workload] of rows) {
    it(`returns the workload for ${title}`, () => {
      const [apiVersion, kind] = owner.split(' ');
      const ownerReferences = [{ apiVersion, kind, name, uid: 'u', controller: true }];
      const found = workloadOf(podWith({ generateName: `${name}-`, namespace: 'shop', labels, ownerReferences }));
      assert.equal(found.namespace, 'shop');
      assert.equal(`${found.apiVersion} ${found.kind} ${found.name}`, workload);
    });
  }

  const owner = { apiVersion: 'v1', kind: 'X', name: 'x', uid: 'u' };

  it('returns the pod itself when it has no generateName', () => {
    const pod = podWith({ name: 'one', ownerReferences: [{ ...owner, controller: true }] });
    assert.deepEqual(workloadOf(pod), { apiVersion: 'v1', kind: 'Pod', name: 'one', namespace: '' });
  });

  it('returns the pod itself when it has no controller', () => {
    const pod = podWith({ generateName: 'x-', ownerReferences: [owner] });
    assert.deepEqual(workloadOf(pod), { apiVersion: 'v1', kind: 'Pod', name: '', namespace: '' });
  });
});
