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
  const labelled = (value: string, more: object = {}): Partial<DecisionFacts> => ({
    labels: { [key]: value, ...more },
  });
  const annotated = (value: string): Partial<DecisionFacts> => ({ annotations: { [key]: value } });
  const aBatch = { labels: { kind: 'batch' } };
  const disabled = { policy: 'disabled' };
  const foreign = { labels: { 'sidecar.istio.io/inject': 'false' } };
  const rows: [name: string, rules: Partial<DecisionRules>, Partial<DecisionFacts>, inject: boolean, reason: string][] =
    [
      ['the policy enabled', {}, {}, true, 'PolicyEnabled'],
      ['the policy disabled', disabled, {}, false, 'PolicyDisabled'],
      ['an unknown policy', { policy: 'on' }, {}, false, 'PolicyUnknown'],
      ['an unknown policy and an opt-in', { policy: 'on' }, labelled('true'), false, 'PolicyUnknown'],
      ['the host network', {}, { hostNetwork: true, ...labelled('true') }, false, 'HostNetwork'],
      ['Windows', { skipsWindows: true }, { windows: true, ...labelled('true') }, false, 'WindowsPod'],
      ['Windows that is served', {}, { windows: true }, true, 'PolicyEnabled'],
      ['an ignored namespace', {}, { namespace: 'kube-system', ...labelled('true') }, false, 'IgnoredNamespace'],
      ['the label true', disabled, labelled('true'), true, 'OptedInByLabel'],
      ['the label false', {}, labelled('false'), false, 'OptedOutByLabel'],
      ['the annotation true', disabled, annotated('true'), true, 'OptedInByAnnotation'],
      ['the annotation false', {}, annotated('false'), false, 'OptedOutByAnnotation'],
      ['a label and an annotation', {}, { ...labelled('true'), ...annotated('false') }, true, 'OptedInByLabel'],
      ['an empty label and an annotation', {}, { ...labelled(''), ...annotated('false') }, true, 'PolicyEnabled'],
      ['a never selector', { neverInject: batch, alwaysInject: batch }, aBatch, false, 'NeverInjectSelector'],
      ['an always selector', { ...disabled, alwaysInject: batch }, aBatch, true, 'AlwaysInjectSelector'],
      ['opt-in and never selector', { neverInject: batch }, labelled('true', aBatch.labels), true, 'OptedInByLabel'],
      ['an invalid selector', { neverInject: [{ invalid: 'broken' }] }, aBatch, true, 'PolicyEnabled'],
      ['another family’s label', {}, foreign, true, 'PolicyEnabled'],
    ];
  for (const [name, changedRules, changedPod, inject, reason] of rows) {
    it(`returns ${reason} for ${name}`, () => {
      const decision = decide({ ...rules, ...changedRules }, { ...pod, ...changedPod });
      assert.deepEqual({ inject: decision.inject, reason: decision.reason }, { inject, reason });
      assert.notEqual(decision.message, '');
      assert.deepEqual(decision.warnings, []);
    });
  }

  it('warns of a value that is neither true nor false, and ignores it', () => {
    for (const kind of ['label', 'annotation']) {
      const decision = decide(rules, { ...pod, [`${kind}s`]: { [key]: 'yes' } });
      assert.equal(decision.reason, 'PolicyEnabled');
      const warning = `the pod's ${kind} mesh.example/inject is "yes", neither "true" nor "false": ignored`;
      assert.deepEqual(decision.warnings, [warning]);
    }
  });
});
