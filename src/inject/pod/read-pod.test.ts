import assert from 'node:assert/strict';
import { InjectionFailure } from '../injection-failure.ts';
import { readPodFacts } from './pod-facts.ts';
import { readPod } from './read-pod.ts';

describe('readPod', () => {
  it('fills in the namespace and drops managedFields', () => {
    const raw = { metadata: { name: 'p', managedFields: [{ manager: 'm' }] }, spec: { containers: [] }, status: {} };
    assert.deepEqual(readPod(raw, 'shop').metadata, { name: 'p', namespace: 'shop' });
    assert.equal(readPod({ metadata: { namespace: 'own' } }, 'shop').metadata.namespace, 'own');
    assert.equal(readPod({ metadata: { namespace: null } }, 'shop').metadata.namespace, 'shop');
  });

  it('returns a canonical pod itself', () => {
    const raw = { metadata: { namespace: 'own' }, spec: { containers: [] }, status: {} };
    assert.equal(readPod(raw, 'shop'), raw);
  });

  it('refuses a field of the wrong type in Go’s words', () => {
    assert.throws(() => readPod({ spec: { containers: 'none' } }, ''), {
      name: 'InjectionFailure',
      reason: 'InvalidPod',
      message: /cannot unmarshal string into Go struct field .*containers of type \[\]v1\.Container/,
    });
  });
});

describe('readPod, for a value that is not a pod', () => {
  it('refuses the value in Go’s words', () => {
    assert.throws(() => readPod('text', ''), { message: 'json: cannot unmarshal string into Go value of type v1.Pod' });
  });
});

describe('readPodFacts', () => {
  it('reads an almost empty pod', () => {
    assert.deepEqual(readPodFacts({}, 'shop'), { namespace: 'shop', hostNetwork: false, labels: {}, annotations: {} });
    assert.deepEqual(readPodFacts({ metadata: null, spec: null }, '').hostNetwork, false);
    assert.deepEqual(readPodFacts({ metadata: { labels: { a: null, b: 'c' } } }, '').labels, { a: '', b: 'c' });
  });

  const wrong: [name: string, pod: unknown, message: string][] = [
    ['null', null, 'the pod must be an object, not null'],
    ['a list', [], 'the pod must be an object, not an array'],
    ['metadata', { metadata: 'x' }, "the pod's metadata must be an object, not string"],
    ['spec', { spec: 'x' }, "the pod's spec must be an object, not string"],
    ['hostNetwork', { spec: { hostNetwork: 'yes' } }, "the pod's spec.hostNetwork must be a boolean, not string"],
    ['the namespace', { metadata: { namespace: 1 } }, "the pod's metadata.namespace must be a string, not number"],
    ['labels', { metadata: { labels: [] } }, "the pod's metadata.labels must be an object, not an array"],
    ['a label', { metadata: { labels: { a: true } } }, 'the pod\'s metadata.labels["a"] must be a string, not boolean'],
  ];
  for (const [name, pod, message] of wrong) {
    it(`refuses ${name} of the wrong type`, () => {
      const isExpected = (error: unknown) =>
        error instanceof InjectionFailure && error.reason === 'InvalidPod' && error.message === message;
      assert.throws(() => readPodFacts(pod, ''), isExpected);
    });
  }
});
