import assert from 'node:assert/strict';
import { adviseOn, type Change, withChanges } from './advice.ts';
import { explainCreation } from './explain-creation.ts';
import type { PodCreation } from './pod-creation.ts';
import { configuration, creation, injectorNamed, ourWebhook, selectors, surroundings } from './testdata/webhooks.ts';

const inject = 'sidecar.istio.io/inject';
const cluster = surroundings(
  [
    configuration('sidecar-injector-default', [
      ourWebhook('namespace', 'default', selectors.namespace),
      ourWebhook('object', 'default', selectors.object),
    ]),
  ],
  { default: injectorNamed('default', { neverInjectSelector: [{ matchLabels: { never: 'yes' } }] }) },
);
const enabled = { 'istio-injection': 'enabled' };

function adviceFor(subject: PodCreation): string[] {
  return adviseOn(subject, cluster, explainCreation(subject, cluster)).map(({ changes, outcome }) => {
    const words = changes.map((change) => {
      return change.field === 'hostNetwork'
        ? 'hostNetwork'
        : `${change.of} ${change.field} ${change.key}=${String(change.value)}`;
    });
    return `${outcome}: ${words.join(' and ')}`;
  });
}

const byLabel = `Injected: Pod label ${inject}=true`;
const byNamespace = 'Injected: Namespace label istio-injection=enabled';
const out = [`NotInjected: Pod label ${inject}=false`, 'NotInjected: Namespace label istio-injection=disabled'];
const templates = 'inject.istio.io/templates';
const table: [suggestion: string, subject: PodCreation, advice: string[]][] = [
  ['a label for the namespace or the pod if neither has one', creation(), [byNamespace, byLabel]],
  ['a namespace label if the namespace is disabled', creation({}, { 'istio-injection': 'disabled' }), [byNamespace]],
  [
    'removing the label with which a pod opts out',
    creation({ labels: { [inject]: 'false' } }, enabled),
    [`Injected: Pod label ${inject}=null`],
  ],
  ['a label that overrides the annotation', creation({ annotations: { [inject]: 'false' } }, enabled), [byLabel]],
  ['a label that overrides a neverInjectSelector', creation({ labels: { never: 'yes' } }, enabled), [byLabel]],
  ['disabling hostNetwork', creation({ spec: { hostNetwork: true } }, enabled), ['Injected: hostNetwork']],
  ['nothing if the webhooks exclude the namespace by its name', creation({}, enabled, 'closed'), []],
  ['nothing in kube-system', creation({}, enabled, 'kube-system'), []],
  ['ways to opt out for an injected pod', creation({}, enabled), out],
  [
    'removing an annotation from a refused pod, or opting out',
    creation({ annotations: { [templates]: 'other' } }, enabled),
    [`Injected: Pod annotation ${templates}=null`, ...out],
  ],
];

describe('adviseOn', () => {
  for (const [suggestion, subject, advice] of table) {
    it(`suggests ${suggestion}`, () => {
      assert.deepEqual(adviceFor(subject), advice);
    });
  }

  it('tries corrections first', () => {
    const corrections: Change[] = [{ of: 'Pod', field: 'label', key: inject, value: 'true' }];
    const subject = creation();
    assert.equal(adviseOn(subject, cluster, explainCreation(subject, cluster), corrections)[0]?.changes, corrections);
  });

  it('returns only changes that work', () => {
    for (const [, subject] of table) {
      for (const { changes, outcome, injectedBy } of adviseOn(subject, cluster, explainCreation(subject, cluster))) {
        const then = explainCreation(withChanges(subject, changes), cluster);
        assert.deepEqual([then.outcome, then.injectedBy], [outcome, injectedBy]);
      }
    }
  });
});
