import assert from 'node:assert/strict';
import { Environment } from '@marcbachmann/cel-js';
import fc from 'fast-check';
import { irreplaceable, replaceable } from './replaceable-pods.ts';

type Fields = Readonly<Record<string, unknown>>;

const environment = new Environment({ unlistedVariablesAreDyn: false }).registerVariable('object', 'dyn');
const evaluate = (expression: string, object: Fields): unknown => environment.evaluate(expression, { object });
const owner = (apiVersion: string, kind: string, controller: unknown = true): Fields => ({
  apiVersion,
  kind,
  controller,
});
const jobMetadata = {
  ownerReferences: [owner('batch/v1', 'Job')],
  labels: { 'batch.kubernetes.io/controller-uid': 'u' },
  finalizers: ['batch.kubernetes.io/job-tracking'],
};

describe('the condition for replaceable pods', () => {
  const rows: [string, Fields, Fields, boolean][] = [
    ['a pod of a ReplicaSet', { ownerReferences: [owner('apps/v1', 'ReplicaSet')] }, {}, true],
    ['a pod of a StatefulSet', { ownerReferences: [owner('apps/v1', 'StatefulSet')] }, {}, true],
    ['a pod of a DaemonSet', { ownerReferences: [owner('apps/v1', 'DaemonSet')] }, {}, true],
    ['a pod of a Job', jobMetadata, {}, true],
    ['a pod of a Job with manualSelector', { ...jobMetadata, labels: { mine: 'yes' } }, {}, false],
    [
      'a pod of a Job that another controller manages',
      { ...jobMetadata, finalizers: ['other.io/tracking'] },
      {},
      false,
    ],
    ['a pod of a Job without labels', { ownerReferences: jobMetadata.ownerReferences }, {}, false],
    [
      'a pod that Kueue manages',
      { ...jobMetadata, labels: { ...jobMetadata.labels, 'kueue.x-k8s.io/queue-name': 'q' } },
      {},
      false,
    ],
    ['a pod on a node', { ownerReferences: [owner('apps/v1', 'DaemonSet')] }, { nodeName: 'node-1' }, false],
    ['a pod with an empty nodeName', { ownerReferences: [owner('apps/v1', 'DaemonSet')] }, { nodeName: '' }, true],
    ['a bare pod', {}, {}, false],
    ['a pod whose owner is no controller', { ownerReferences: [owner('apps/v1', 'ReplicaSet', false)] }, {}, false],
    ['a pod whose owner says nothing', { ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet' }] }, {}, false],
    ['a pod of another group', { ownerReferences: [owner('extensions/v1beta1', 'ReplicaSet')] }, {}, false],
    [
      'a pod with two owners',
      { ownerReferences: [owner('v1', 'ConfigMap', false), owner('apps/v1', 'ReplicaSet')] },
      {},
      true,
    ],
  ];
  for (const [what, metadata, spec, expected] of rows) {
    it(`is ${expected} for ${what}`, () => {
      const pod = { metadata, spec };
      assert.equal(evaluate(replaceable.expression, pod), expected);
      assert.equal(evaluate(irreplaceable.expression, pod), !expected);
    });
  }

  it('and its opposite never fail, and exactly one is true, for pods with any fields missing', () => {
    const text = fc.constantFrom('', 'apps/v1', 'batch/v1', 'ReplicaSet', 'Job', 'x');
    const optional = { requiredKeys: [] as never[] };
    const reference = fc.record(
      { apiVersion: text, kind: text, controller: fc.boolean() },
      { requiredKeys: ['apiVersion', 'kind'] },
    );
    const labels = fc.dictionary(
      fc.constantFrom('batch.kubernetes.io/controller-uid', 'kueue.x-k8s.io/queue-name', 'a'),
      text,
    );
    const finalizers = fc.array(fc.constantFrom('batch.kubernetes.io/job-tracking', 'x'), { maxLength: 2 });
    const metadata = fc.record(
      { labels, finalizers, ownerReferences: fc.array(reference, { maxLength: 3 }) },
      optional,
    );
    fc.assert(
      fc.property(metadata, fc.record({ nodeName: text }, optional), (given, spec) => {
        const pod = { metadata: given, spec };
        const results = [replaceable, irreplaceable].map(({ expression }) => evaluate(expression, pod)).sort();
        assert.deepEqual(results, [false, true]);
      }),
    );
  });
});
