import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parseInjectorConfig } from '../../api/injector-config/parse-injector-config.ts';
import { gateOf } from '../../api/names.ts';
import { evaluateCondition } from '../../explain/cel-condition.ts';
import type { JsonObject } from '../../inject/patch/json-value.ts';
import { holdObjects } from '../../manifests/hold-objects.ts';
import { irreplaceable, replaceable } from '../../manifests/replaceable-pods.ts';
import { webhookConfiguration } from '../../manifests/webhook-configuration.ts';
import { context, injectorConfig } from '../testdata/operator-fixture.ts';

const owner = (apiVersion: string, kind: string, controller: unknown = true): JsonObject => ({
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
  const rows: [string, JsonObject, JsonObject, boolean][] = [
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
  const evaluate = (expression: string, pod: JsonObject): string =>
    evaluateCondition(expression, { object: pod, request: {} }).result;
  for (const [what, metadata, spec, expected] of rows) {
    it(`is ${expected} for ${what}`, () => {
      const pod = { metadata, spec };
      assert.equal(evaluate(replaceable.expression, pod), String(expected));
      assert.equal(evaluate(irreplaceable.expression, pod), String(!expected));
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
        const pod = { metadata: given, spec } as JsonObject;
        const results = [replaceable, irreplaceable].map(({ expression }) => evaluate(expression, pod)).sort();
        assert.deepEqual(results, ['false', 'true']);
      }),
    );
  });
});

describe('the manifests of failurePolicy Hold', () => {
  const webhook = {
    failurePolicy: 'Hold',
    fallback: 'Ignore',
    matchConditions: [{ name: 'mine', expression: 'true' }],
  };
  const config = parseInjectorConfig(injectorConfig('default', { webhook }));
  const input = { config, hash: '00000000', caBundlePem: '' };
  interface Entry {
    readonly name: string;
    readonly failurePolicy: string;
    readonly timeoutSeconds: number;
    readonly matchConditions: readonly { readonly name: string }[];
  }
  const entries = (isHolding: boolean): Entry[] =>
    webhookConfiguration({ ...input, isHolding }, context).webhooks as Entry[];

  it('have two webhooks for each pair of selectors, with conditions that exclude each other', () => {
    const found = entries(true);
    assert.deepEqual(
      found.map(({ name, failurePolicy, timeoutSeconds, matchConditions }) => [
        name,
        failurePolicy,
        timeoutSeconds,
        matchConditions.at(-1)?.name,
      ]),
      ['rev.namespace', 'rev.object', 'namespace', 'object'].flatMap((short) => [
        [`${short}.sidecar-injector.io`, 'Ignore', 3, 'cannot-be-held'],
        [`hold.${short}.sidecar-injector.io`, 'Ignore', 3, 'can-be-held'],
      ]),
    );
    assert.ok(found.every(({ matchConditions }) => matchConditions.some(({ name }) => name === 'mine')));
  });

  it('have the fallback for all pods while the policy does not act', () => {
    const found = entries(false);
    assert.deepEqual(
      found.map(({ failurePolicy }) => failurePolicy),
      ['Ignore', 'Ignore', 'Ignore', 'Ignore'],
    );
    assert.ok(found.every(({ matchConditions }) => matchConditions.every(({ name }) => !name.includes('be-held'))));
  });

  it('hold exactly the pods that the webhook selects', () => {
    for (const isHolding of [true, false]) {
      const configuration = webhookConfiguration({ ...input, isHolding }, context);
      const { policy, bindings } = holdObjects(configuration, input, context, 'admissionregistration.k8s.io/v1');
      const held = webhookConfiguration({ ...input, isHolding: true }, context).webhooks as (Entry &
        Record<string, unknown>)[];
      const own = held.filter(({ name }) => name.startsWith('hold.'));
      const spec = policy.spec as Record<string, unknown>;
      assert.deepEqual(spec.matchConditions, own[0]?.matchConditions);
      assert.deepEqual(
        bindings.map(({ spec: binding }) => (binding as { matchResources: unknown }).matchResources),
        own.map(({ namespaceSelector, objectSelector }) => ({
          matchPolicy: 'Equivalent',
          namespaceSelector,
          objectSelector,
        })),
      );
      assert.equal(spec.failurePolicy, 'Ignore');
      assert.ok(JSON.stringify(spec.mutations).includes(gateOf('sidecar-injector-default')));
    }
  });

  it('give each gate its own name, which Kubernetes accepts, also for the longest names', () => {
    const names = ['a'.repeat(46), 'default', `tag-${'a'.repeat(63)}`, `tag-${'a'.repeat(62)}b`];
    const parts = names.map((name) => gateOf(`sidecar-injector-${name}`).split('/')[1] ?? '');
    for (const part of parts) assert.match(part, /^[a-z0-9][-a-z0-9.]{0,61}[a-z0-9]$/);
    assert.equal(new Set(parts).size, names.length);
  });
});
