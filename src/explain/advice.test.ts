import assert from 'node:assert/strict';
import { adviseOn } from './advice.ts';
import { type Change, withChanges } from './changes.ts';
import { explainCreation } from './explain-creation.ts';
import type { PodCreation } from './pod-creation.ts';
import { configuration, creation, injectorNamed, ourWebhook, selectors, surroundings } from './testdata/webhooks.ts';

const inject = 'sidecar.istio.io/inject';
const around = surroundings(
  [
    configuration('sidecar-injector-default', [
      ourWebhook('namespace', 'default', selectors.namespace),
      ourWebhook('object', 'default', selectors.object),
    ]),
  ],
  { default: injectorNamed('default', { neverInjectSelector: [{ matchLabels: { never: 'yes' } }] }) },
);
const enabled = { 'istio-injection': 'enabled' };

function adviceFor(asked: PodCreation): string[] {
  return adviseOn(asked, around, explainCreation(asked, around)).map(({ changes, outcome }) => {
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
const table: [what: string, asked: PodCreation, advice: string[]][] = [
  ['an unlabelled namespace: its label, or the pod’s', creation(), [byNamespace, byLabel]],
  ['a disabled namespace: only its label helps', creation({}, { 'istio-injection': 'disabled' }), [byNamespace]],
  [
    'a pod that opts out: without its label',
    creation({ labels: { [inject]: 'false' } }, enabled),
    [`Injected: Pod label ${inject}=null`],
  ],
  ['an annotation that the label overrides', creation({ annotations: { [inject]: 'false' } }, enabled), [byLabel]],
  ['a never-selector: the label overrules it', creation({ labels: { never: 'yes' } }, enabled), [byLabel]],
  ['the host network', creation({ spec: { hostNetwork: true } }, enabled), ['Injected: hostNetwork']],
  ['a namespace that the webhooks exclude by its name: no advice', creation({}, enabled, 'closed'), []],
  ['kube-system: no advice', creation({}, enabled, 'kube-system'), []],
  ['an injected pod: opt out', creation({}, enabled), out],
  [
    'a refused pod: without the annotation, or without a sidecar',
    creation({ annotations: { [templates]: 'other' } }, enabled),
    [`Injected: Pod annotation ${templates}=null`, ...out],
  ],
];

describe('adviseOn', () => {
  for (const [what, asked, advice] of table) {
    it(what, () => {
      assert.deepEqual(adviceFor(asked), advice);
    });
  }

  it('tries corrections first', () => {
    const meant: Change[] = [{ of: 'Pod', field: 'label', key: inject, value: 'true' }];
    const asked = creation();
    assert.equal(adviseOn(asked, around, explainCreation(asked, around), meant)[0]?.changes, meant);
  });

  it('returns only changes that work', () => {
    for (const [, asked] of table) {
      for (const { changes, outcome, injectedBy } of adviseOn(asked, around, explainCreation(asked, around))) {
        const then = explainCreation(withChanges(asked, changes), around);
        assert.deepEqual([then.outcome, then.injectedBy], [outcome, injectedBy]);
      }
    }
  });
});
