import assert from 'node:assert/strict';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { containerDefaults, withContainerDefaults } from './pod-resources.ts';

function limitRange(...limits: object[]): KubernetesObject {
  return { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'l' }, spec: { limits } };
}

describe('LimitRange defaults', () => {
  it('takes the defaults for containers; the first LimitRange wins', () => {
    const ranges = [
      limitRange({ type: 'Pod', default: { cpu: '9' } }, { type: 'Container', default: { cpu: '1' } }),
      limitRange({ type: 'Container', default: { cpu: '2', memory: '1Gi' }, defaultRequest: { cpu: '100m' } }),
      { ...limitRange(), spec: { limits: [null, 1] } },
    ];
    assert.deepEqual(containerDefaults(ranges), {
      requests: { cpu: '100m' },
      limits: { cpu: '1', memory: '1Gi' },
    });
  });

  it('sets only what a container lacks', () => {
    const defaults = { requests: { cpu: '100m' }, limits: { memory: '1Gi' } };
    const spec = { containers: [{ name: 'a' }, { name: 'b', resources: { requests: { cpu: '2' } } }] };
    assert.deepEqual(withContainerDefaults({ spec }, defaults), {
      spec: {
        containers: [
          { name: 'a', resources: { limits: { memory: '1Gi' }, requests: { cpu: '100m' } } },
          { name: 'b', resources: { limits: { memory: '1Gi' }, requests: { cpu: '2' } } },
        ],
      },
    });
    const pod = { spec };
    assert.equal(withContainerDefaults(pod, { requests: {}, limits: {} }), pod);
  });
});
