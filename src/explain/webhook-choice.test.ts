import assert from 'node:assert/strict';
import type { LabelSelectorRequirement } from '../api/kubernetes/kubernetes.ts';
import type { MutatingWebhook } from './pod-webhook.ts';
import type { PodCreation } from './pod-creation.ts';
import { chooseWebhook } from './webhook-choice.ts';

const creation: PodCreation = {
  pod: { metadata: { name: 'web', labels: { app: 'web' } }, spec: {} },
  namespace: { name: 'shop', labels: { team: 'blue' } },
};
const yes = { name: 'yes', expression: 'true' };
const no = { name: 'no', expression: 'false' };
const error = { name: 'broken', expression: "object.metadata.labels.none == 'x'" };
const unknown = { name: 'strange', expression: "quantity('1').isInteger()" };

const pods = (key: string, operator: LabelSelectorRequirement['operator'], values?: string[]) => {
  return { objectSelector: { matchExpressions: [{ key, operator, ...(values && { values }) }] } };
};
const generated = { name: 'not-host-network', expression: 'false' };
const table: [what: string, webhook: Partial<MutatingWebhook>, choice: string][] = [
  ['a webhook without selectors', {}, 'Yes Selected'],
  ['empty selectors', { namespaceSelector: {}, objectSelector: {} }, 'Yes Selected'],
  ['matchLabels that do not match', { namespaceSelector: { matchLabels: { team: 'red' } } }, 'No NotSelected'],
  ['NotIn with an absent label', pods('x', 'NotIn', ['y']), 'Yes Selected'],
  ['Exists with an absent label', pods('x', 'Exists'), 'No NotSelected'],
  ['DoesNotExist with a present label', pods('app', 'DoesNotExist'), 'No NotSelected'],
  ['true conditions', { matchConditions: [yes, yes] }, 'Yes Selected'],
  ['a false condition', { matchConditions: [yes, no] }, 'No MatchCondition'],
  ['a failing condition under Fail', { matchConditions: [yes, error] }, 'Refused MatchConditionFailed'],
  [
    'a failing condition under the default policy',
    { matchConditions: [error], failurePolicy: undefined } as never,
    'Refused MatchConditionFailed',
  ],
  ['a failure under Ignore', { matchConditions: [error], failurePolicy: 'Ignore' }, 'No MatchConditionFailed'],
  ['a failing and a false condition', { matchConditions: [error, no] }, 'No MatchCondition'],
  ['an unknown and a false condition', { matchConditions: [unknown, no] }, 'No MatchCondition'],
  ['a failing and an unknown condition', { matchConditions: [error, unknown] }, 'Unknown MatchCondition'],
  ['a generated condition', { matchConditions: [generated] }, 'No HostNetwork'],
];

describe('chooseWebhook', () => {
  for (const [what, webhook, choice] of table) {
    it(`returns ${choice} for ${what}`, () => {
      const { called, reason } = chooseWebhook({ name: 'a.example.com', ...webhook }, creation, creation.pod);
      assert.equal(`${called} ${reason}`, choice);
    });
  }

  it('describes the unmet requirements of both selectors', () => {
    const both = { namespaceSelector: { matchLabels: { team: 'red' } }, ...pods('app', 'NotIn', ['web']) };
    const choice = chooseWebhook({ name: 'a.example.com', ...both }, creation, creation.pod);
    assert.equal(
      choice.message,
      'the namespace\'s label team is "blue", needs "red"; the pod\'s label app is "web", which is excluded',
    );
    assert.equal(choice.unmet.namespace.length + choice.unmet.pod.length, 2);
  });
});
