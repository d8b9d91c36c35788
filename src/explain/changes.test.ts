import assert from 'node:assert/strict';
import type { LabelSelectorRequirement } from '../api/kubernetes/kubernetes.ts';
import type { JsonObject } from '../inject/patch/json-value.ts';
import { changesToMeet, withChanges, type Change } from './advice.ts';

const namespace = { name: 'shop', labels: { a: '1' } };

describe('withChanges', () => {
  const label = (key: string, value: string): Change => ({ of: 'Pod', field: 'label', key, value });
  const annotation = (key: string, value: string | null): Change => ({ of: 'Pod', field: 'annotation', key, value });
  const hostNetwork: Change = { of: 'Pod', field: 'hostNetwork' };
  const labelled = (labels: unknown) => ({ metadata: { name: 'web', labels } });
  const annotated = (annotations: object) => ({ metadata: { annotations } });
  const pods: [what: string, pod: JsonObject, change: Change, after: JsonObject][] = [
    ['adds a label', labelled({ a: '1' }), label('b', '2'), labelled({ a: '1', b: '2' })],
    ['replaces a label', labelled({ a: '1' }), label('a', '2'), labelled({ a: '2' })],
    ['removes an annotation', annotated({ a: '1', b: '2' }), annotation('a', null), annotated({ b: '2' })],
    ['adds metadata to a pod without metadata', {}, annotation('a', '1'), annotated({ a: '1' })],
    ['replaces invalid labels', labelled(7), label('a', '1'), labelled({ a: '1' })],
    [
      'disables hostNetwork',
      { spec: { hostNetwork: true, x: 1 } },
      hostNetwork,
      { spec: { hostNetwork: false, x: 1 } },
    ],
    ['adds a spec to a pod without a spec', {}, hostNetwork, { spec: { hostNetwork: false } }],
  ];
  for (const [what, pod, change, after] of pods) {
    it(what, () => {
      const before = structuredClone(pod);
      assert.deepEqual(withChanges({ pod, namespace }, [change]), { pod: after, namespace });
      assert.deepEqual(pod, before, 'the argument must not change');
    });
  }

  it('applies several changes of a namespace in order', () => {
    const changes: Change[] = [
      { of: 'Namespace', field: 'label', key: 'b', value: '2' },
      { of: 'Namespace', field: 'label', key: 'a', value: null },
      { of: 'Namespace', field: 'label', key: 'b', value: '3' },
    ];
    const { pod, namespace: after } = withChanges({ pod: {}, namespace }, changes);
    assert.deepEqual([pod, after], [{}, { name: 'shop', labels: { b: '3' } }]);
  });
});

describe('changesToMeet', () => {
  const met: [unmet: LabelSelectorRequirement, value: string | null][] = [
    [{ key: 'a', operator: 'In', values: ['x', 'y'] }, 'x'],
    [{ key: 'a', operator: 'NotIn', values: ['x'] }, null],
    [{ key: 'a', operator: 'Exists' }, 'true'],
    [{ key: 'a', operator: 'DoesNotExist' }, null],
  ];
  for (const [unmet, value] of met) {
    it(`meets ${unmet.operator} with the label value ${String(value)}`, () => {
      assert.deepEqual(changesToMeet('Pod', [unmet]), [{ of: 'Pod', field: 'label', key: 'a', value }]);
    });
  }

  it('returns undefined if a requirement concerns the name of the namespace', () => {
    const name: LabelSelectorRequirement = { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['shop'] };
    assert.equal(changesToMeet('Namespace', [{ key: 'a', operator: 'Exists' }, name]), undefined);
    assert.deepEqual(changesToMeet('Namespace', []), []);
  });
});
