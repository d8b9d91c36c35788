import assert from 'node:assert/strict';
import { annotateConfiguration } from './configuration-annotation.ts';

describe('annotateConfiguration', () => {
  const value = 'default.0a1b2c3d';
  const path = '/metadata/annotations/sidecar-injector.io~1config';
  for (const [what, pod, operations] of [
    ['beside other annotations', { metadata: { annotations: { a: 'b' } } }, [{ op: 'add', path, value }]],
    [
      'in place of its own earlier configuration, beside those of other families',
      { metadata: { annotations: { 'sidecar-injector.io/config': 'logs.22222222,default.11111111,a.33333333' } } },
      [{ op: 'add', path, value: `logs.22222222,${value},a.33333333` }],
    ],
    [
      'after those of other families',
      { metadata: { annotations: { 'sidecar-injector.io/config': 'default-logs.22222222' } } },
      [{ op: 'add', path, value: `default-logs.22222222,${value}` }],
    ],
    [
      'in place of what is no list of configurations',
      { metadata: { annotations: { 'sidecar-injector.io/config': 'mine,,x.y' } } },
      [{ op: 'add', path, value }],
    ],
    [
      'in place of what is no text',
      { metadata: { annotations: { 'sidecar-injector.io/config': 7 } } },
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
      assert.deepEqual(annotateConfiguration(pod, 'default', '0a1b2c3d'), operations);
    });
  }
});
