import assert from 'node:assert/strict';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { remainingResize, resizePatch, resizeProgress } from './pod-resize.ts';

const amounts = (cpu: string | number, memory = '64Mi') => ({ requests: { cpu }, limits: { memory } });
const claims = [{ name: 'gpu' }];

function pod(cpu: string, status: object = {}): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web-0', namespace: 'shop', uid: 'u', resourceVersion: '7' },
    spec: {
      initContainers: [{ name: 'proxy', image: 'proxy:1', resources: { ...amounts(cpu), claims } }],
      containers: [{ name: 'web', image: 'web:1' }],
    },
    status: { phase: 'Running', ...status },
  };
}

const key = 'initContainers/proxy';

describe('remainingResize', () => {
  it('compares amounts, not their spelling', () => {
    assert.deepEqual(remainingResize(pod('100m'), { [key]: amounts('0.1', '65536Ki') }), {});
    assert.deepEqual(remainingResize(pod('100m'), { [key]: amounts('0.2') }), { [key]: amounts('0.2') });
    assert.deepEqual(remainingResize(pod('100m'), { 'containers/gone': amounts('1') }), {});
  });
});

describe('resizePatch', () => {
  it('replaces requests and limits, and keeps all else', () => {
    assert.deepEqual(resizePatch(pod('100m'), { [key]: amounts('200m') }), {
      metadata: { uid: 'u', resourceVersion: '7' },
      spec: { initContainers: [{ name: 'proxy', image: 'proxy:1', resources: { ...amounts('200m'), claims } }] },
    });
  });
});

describe('resizeProgress', () => {
  const reported = (cpu: string | number) => ({ initContainerStatuses: [{ name: 'proxy', resources: amounts(cpu) }] });
  const condition = (type: string, reason: string, message?: string, status = 'True') => ({
    conditions: [{ type, reason, status, message }],
  });
  it('needs nothing of a container that the pod does not have', () => {
    assert.equal(resizeProgress(pod('1'), { at: 0 }, ['containers/gone'], { readyTimeout: '1m' }, 1000), 'Done');
  });
  for (const [title, status, seconds, expected] of [
    ['is over when the kubelet reports it', reported('0.2'), 1, 'Done'],
    ['goes on while the kubelet reports other amounts', reported('100m'), 1, 'Updating'],
    ['goes on while the kubelet reports nothing', {}, 1, 'Updating'],
    ['is over while the pod has no node', condition('PodScheduled', 'Unschedulable', 'x', 'False'), 1, 'Done'],
    [
      'goes on while the kubelet applies it',
      { ...reported('200m'), ...condition('PodResizeInProgress', '') },
      1,
      'Updating',
    ],
    [
      'is over when a condition ended',
      { ...reported('200m'), ...condition('PodResizePending', 'Infeasible', 'x', 'False') },
      1,
      'Done',
    ],
    [
      'waits for the node',
      { ...reported('100m'), ...condition('PodResizePending', 'Deferred', 'full') },
      59,
      'Updating',
    ],
    [
      'does not wait for ever',
      { ...reported('100m'), ...condition('PodResizePending', 'Deferred', 'full') },
      60,
      { failed: 'the pod does not have its new resources after 1m: full' },
    ],
    [
      'fails at once when no node of this size can',
      { ...reported('100m'), ...condition('PodResizePending', 'Infeasible') },
      1,
      { failed: 'the node cannot give the pod its resources' },
    ],
    ['goes on if the status names no container', { initContainerStatuses: [] }, 1, 'Updating'],
  ] as const) {
    it(title, () => {
      const found = resizeProgress(pod('200m', status), { at: 0 }, [key], { readyTimeout: '1m' }, seconds * 1000);
      assert.deepEqual(found, expected);
    });
  }
});
