import assert from 'node:assert/strict';
import { annotateConfiguration } from './configuration-annotation.ts';

describe('annotateConfiguration', () => {
  const value = 'default.0a1b2c3d';
  const path = '/metadata/annotations/sidecar-injector.io~1config';
  for (const [what, pod, operations] of [
    ['beside other annotations', { metadata: { annotations: { a: 'b' } } }, [{ op: 'add', path, value }]],
    [
      'in place of another configuration',
      { metadata: { annotations: { 'sidecar-injector.io/config': 'old.11111111' } } },
      [{ op: 'add', path, value }],
    ],
    ['not when it is there already', { metadata: { annotations: { 'sidecar-injector.io/config': value } } }, []],
    [
      'without annotations',
      { metadata: { name: 'a' } },
      [{ op: 'add', path: '/metadata/annotations', value: { 'sidecar-injector.io/config': value } }],
    ],
    [
      'with annotations that are null',
      { metadata: { annotations: null } },
      [{ op: 'add', path: '/metadata/annotations', value: { 'sidecar-injector.io/config': value } }],
    ],
    [
      'without metadata',
      {},
      [{ op: 'add', path: '/metadata', value: { annotations: { 'sidecar-injector.io/config': value } } }],
    ],
  ] as const) {
    it(what, () => {
      assert.deepEqual(annotateConfiguration(pod, value), operations);
    });
  }
});
