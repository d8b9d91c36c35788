import assert from 'node:assert/strict';
import { decide, type DecisionFacts, type DecisionRules } from './decide.ts';
import { compileLabelSelector } from '../selection/label-selector.ts';

const key = 'mesh.example/inject';
const rules: DecisionRules = {
  policy: 'enabled',
  neverInject: [],
  alwaysInject: [],
  ignoredNamespaces: new Set(['kube-system']),
  injectKey: key,
};
const pod: DecisionFacts = { namespace: 'shop', hostNetwork: false, labels: {}, annotations: {} };
const batch = [compileLabelSelector({ matchLabels: { kind: 'batch' } }, 'nothing')];

describe('decide', () => {
  const rows: [
    name: string,
    rules: Partial<DecisionRules>,
    pod: Partial<DecisionFacts>,
    inject: boolean,
    reason: string,
  ][] = [
    ['the policy enabled', {}, {}, true, 'PolicyEnabled'],
    ['the policy disabled', { policy: 'disabled' }, {}, false, 'PolicyDisabled'],
    ['an unknown policy', { policy: 'on' }, {}, false, 'PolicyUnknown'],
    ['an unknown policy against an opt-in', { policy: 'on' }, { labels: { [key]: 'true' } }, false, 'PolicyUnknown'],
    ['host network', {}, { hostNetwork: true, labels: { [key]: 'true' } }, false, 'HostNetwork'],
    ['an ignored namespace', {}, { namespace: 'kube-system', labels: { [key]: 'true' } }, false, 'IgnoredNamespace'],
    ['the label true', { policy: 'disabled' }, { labels: { [key]: 'true' } }, true, 'OptedInByLabel'],
    ['the label false', {}, { labels: { [key]: 'false' } }, false, 'OptedOutByLabel'],
    ['the annotation true', { policy: 'disabled' }, { annotations: { [key]: 'true' } }, true, 'OptedInByAnnotation'],
    ['the annotation false', {}, { annotations: { [key]: 'false' } }, false, 'OptedOutByAnnotation'],
    [
      'the label against the annotation',
      {},
      { labels: { [key]: 'true' }, annotations: { [key]: 'false' } },
      true,
      'OptedInByLabel',
    ],
    [
      'an empty label against the annotation',
      {},
      { labels: { [key]: '' }, annotations: { [key]: 'false' } },
      true,
      'PolicyEnabled',
    ],
    [
      'a never selector',
      { neverInject: batch, alwaysInject: batch },
      { labels: { kind: 'batch' } },
      false,
      'NeverInjectSelector',
    ],
    [
      'an always selector',
      { policy: 'disabled', alwaysInject: batch },
      { labels: { kind: 'batch' } },
      true,
      'AlwaysInjectSelector',
    ],
    [
      'an opt-in against a never selector',
      { neverInject: batch },
      { labels: { kind: 'batch', [key]: 'true' } },
      true,
      'OptedInByLabel',
    ],
    [
      'an invalid selector',
      { neverInject: [{ invalid: 'broken' }] },
      { labels: { kind: 'batch' } },
      true,
      'PolicyEnabled',
    ],
    ['another family’s label', {}, { labels: { 'sidecar.istio.io/inject': 'false' } }, true, 'PolicyEnabled'],
  ];
  for (const [name, changedRules, changedPod, inject, reason] of rows) {
    it(`${name}: ${reason}`, () => {
      const decision = decide({ ...rules, ...changedRules }, { ...pod, ...changedPod });
      assert.deepEqual({ inject: decision.inject, reason: decision.reason }, { inject, reason });
      assert.notEqual(decision.message, '');
      assert.deepEqual(decision.warnings, []);
    });
  }

  it('warns of a value that is neither true nor false and goes on', () => {
    const decision = decide(rules, { ...pod, labels: { [key]: 'yes' } });
    assert.equal(decision.reason, 'PolicyEnabled');
    assert.deepEqual(decision.warnings, [
      'the pod\'s label mesh.example/inject is "yes", neither "true" nor "false": ignored',
    ]);
  });
});
