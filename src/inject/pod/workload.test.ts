import assert from 'node:assert/strict';
import { normalisePod } from '../kubernetes/typed-pod.ts';
import type { Pod } from './pod.ts';
import { workloadOf } from './workload.ts';

function controlledBy(kind: string, name: string, labels: Record<string, string> = {}, apiVersion = 'apps/v1'): Pod {
  const owner = { apiVersion, kind, name, uid: 'u', controller: true };
  return normalisePod({
    metadata: { generateName: `${name}-`, namespace: 'shop', labels, ownerReferences: [owner] },
  }) as Pod;
}

describe('workloadOf', () => {
  const rows: [name: string, pod: Pod, workload: [apiVersion: string, kind: string, name: string]][] = [
    [
      'a Deployment’s pod',
      controlledBy('ReplicaSet', 'web-abc', { 'pod-template-hash': 'abc' }),
      ['apps/v1', 'Deployment', 'web'],
    ],
    ['a ReplicaSet of its own', controlledBy('ReplicaSet', 'web'), ['apps/v1', 'ReplicaSet', 'web']],
    [
      'a ReplicaSet whose name lacks the hash',
      controlledBy('ReplicaSet', 'web', { 'pod-template-hash': 'abc' }),
      ['apps/v1', 'ReplicaSet', 'web'],
    ],
    [
      'a Rollout’s pod',
      controlledBy('ReplicaSet', 'web-x1', { 'rollouts-pod-template-hash': 'x1' }),
      ['v1alpha1', 'Rollout', 'web'],
    ],
    ['a CronJob’s pod', controlledBy('Job', 'backup-28391040', {}, 'batch/v1'), ['batch/v1', 'CronJob', 'backup']],
    ['a Job with a short number', controlledBy('Job', 'backup-12', {}, 'batch/v1'), ['batch/v1', 'Job', 'backup-12']],
    [
      'a DeploymentConfig’s pod',
      controlledBy('ReplicationController', 'dc-1', { deploymentconfig: 'dc' }, 'v1'),
      ['v1', 'DeploymentConfig', 'dc'],
    ],
    [
      'a ReplicationController',
      controlledBy('ReplicationController', 'rc', {}, 'v1'),
      ['v1', 'ReplicationController', 'rc'],
    ],
    ['a StatefulSet', controlledBy('StatefulSet', 'db'), ['apps/v1', 'StatefulSet', 'db']],
  ];
  for (const [name, pod, [apiVersion, kind, workload]] of rows) {
    it(name, () => {
      assert.deepEqual(workloadOf(pod), { apiVersion, kind, name: workload, namespace: 'shop' });
    });
  }

  it('is the pod itself without a generated name', () => {
    const pod = normalisePod({
      metadata: {
        name: 'one',
        ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: 'u', controller: true }],
      },
    });
    assert.deepEqual(workloadOf(pod as Pod), { apiVersion: 'v1', kind: 'Pod', name: 'one', namespace: '' });
  });

  it('is the pod itself without a controller', () => {
    const pod = normalisePod({
      metadata: { generateName: 'x-', ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: 'u' }] },
    });
    assert.deepEqual(workloadOf(pod as Pod), { apiVersion: 'v1', kind: 'Pod', name: '', namespace: '' });
  });
});
