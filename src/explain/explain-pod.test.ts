import assert from 'node:assert/strict';
import { revisionOf, type InjectorConfig } from '../api/injector-config/injector-config.ts';
import type { RevisionTag } from '../api/revision-tag/revision-tag.ts';
import { revisionTag } from '../api/testdata/revision-tag.ts';
import type { DecisionFacts, DecisionRules } from '../inject/decide.ts';
import { loadInjector } from '../inject/injector.ts';
import { explainSelected, explainUnselected } from './explain-pod.ts';
import type { ClaimingObjects } from '../selection/pod-claims.ts';
import { PodSelection, webhookOwners } from '../selection/webhook-owners.ts';
import type { WebhookOwner } from '../selection/webhook-selectors.ts';
import { injectorConfig } from '../api/testdata/injector-config.ts';

const inject = 'sidecar.istio.io/inject';

function pod(fields: Partial<DecisionFacts> = {}): DecisionFacts {
  return { namespace: 'shop', hostNetwork: false, labels: {}, annotations: {}, ...fields };
}

/** Returns all objects. Each tag has as its target the InjectorConfig of spec.revision. */
function claimsFor(configs: InjectorConfig[], tags: RevisionTag[] = []): ClaimingObjects {
  return { configs, tags, targetOf: ({ spec }) => configs.find((each) => revisionOf(each) === spec.revision) };
}

const namesOf = (owners: readonly WebhookOwner[]): string[] => owners.map(({ config: { metadata } }) => metadata.name);

function rulesOf({ spec: { injection, webhook } }: InjectorConfig): DecisionRules {
  const { policy = 'enabled', templates, neverInjectSelector } = injection;
  const config = JSON.stringify({ policy, templates, neverInjectSelector });
  return loadInjector({ config, values: '', mesh: '', settings: JSON.stringify({ keys: webhook.keys }) }).rules;
}

describe('PodSelection', () => {
  const selection = new PodSelection('injection');
  const all = [
    injectorConfig('default'),
    injectorConfig('blue'),
    injectorConfig('logs', {
      webhook: {
        selection: 'Custom',
        keys: { injection: 'logs', revision: 'logs/rev', inject: 'logs/inject', status: 'logs/status' },
        objectSelector: {},
        namespaceSelector: { matchLabels: { logs: 'on' } },
      },
    }),
  ];
  const both = { 'istio-injection': 'enabled' };
  const rows: [name: string, pod: Partial<DecisionFacts>, namespace: Record<string, string>, selected: string[]][] = [
    ['a pod without labels', {}, {}, []],
    ["the namespace's injection label", {}, { 'istio-injection': 'enabled' }, ['default']],
    ["the namespace's revision", {}, { 'istio.io/rev': 'blue' }, ['blue']],
    ["the pod's revision", { labels: { 'istio.io/rev': 'blue' } }, {}, ['blue']],
    ["the pod's inject label", { labels: { [inject]: 'true' } }, {}, ['default']],
    ['a pod that opts out', { labels: { [inject]: 'false' } }, { 'istio-injection': 'enabled' }, []],
    ['labels of two families', {}, { ...both, logs: 'on' }, ['default', 'logs']],
    ['a pod with the status of logs', { annotations: { 'logs/status': '{}' } }, { ...both, logs: 'on' }, ['default']],
    ['an excluded namespace', { labels: { [inject]: 'true' } }, { 'kubernetes.io/metadata.name': 'kube-system' }, []],
    ["the operator's own namespace", {}, { 'kubernetes.io/metadata.name': 'injection', logs: 'on' }, []],
  ];
  for (const [name, fields, namespaceLabels, selected] of rows) {
    it(`selects ${selected.join(' and ') || 'nothing'} for ${name}`, () => {
      assert.deepEqual(namesOf(selection.of(pod(fields), namespaceLabels, webhookOwners(claimsFor(all)))), selected);
    });
  }

  it('prefers the older of two InjectorConfigs with the same revision', () => {
    const createdOn = (name: string, day: number): InjectorConfig => {
      const config = injectorConfig(name, { revision: 'same' });
      return { ...config, metadata: { ...config.metadata, creationTimestamp: `2026-01-0${day}T00:00:00Z` } };
    };
    const [older, younger] = [createdOn('one', 1), createdOn('two', 2)];
    const owners = webhookOwners(claimsFor([younger, older]));
    assert.deepEqual(namesOf(selection.of(pod(), { 'istio.io/rev': 'same' }, owners)), ['one']);
  });

  it('selects nothing if a selector is invalid', () => {
    const odd = injectorConfig('odd', {
      webhook: { selection: 'Custom', objectSelector: { matchLabels: { 'a b': 'c' } } },
    });
    assert.deepEqual(selection.of(pod({ labels: { 'a b': 'c' } }), {}, webhookOwners(claimsFor([odd]))), []);
  });

  it('follows tags, including the tag default', () => {
    const tags = [revisionTag('prod', { revision: 'blue' }), revisionTag('default', { revision: 'blue' })];
    const owners = webhookOwners(claimsFor(all, tags));
    const selected = (labels: Record<string, string>) =>
      selection
        .of(pod(), labels, owners)
        .map(({ config: { metadata }, tag }) => `${metadata.name} by ${tag?.metadata.name ?? 'itself'}`);
    assert.deepEqual(selected({ 'istio.io/rev': 'prod' }), ['blue by prod']);
    assert.deepEqual(selected({ 'istio.io/rev': 'blue' }), ['blue by itself']);
    assert.deepEqual(selected({ 'istio-injection': 'enabled' }), ['blue by default']);
    assert.deepEqual(selected({ 'istio.io/rev': 'lost' }), []);
  });
});

describe('explainSelected', () => {
  const plain = injectorConfig('blue');
  const off = injectorConfig('blue', { injection: { policy: 'disabled', templates: { sidecar: 'spec: {}' } } });
  const never = injectorConfig('blue', {
    injection: { templates: { sidecar: 'spec: {}' }, neverInjectSelector: [{ matchLabels: { job: 'yes' } }] },
  });
  const careless = injectorConfig('blue', {
    webhook: { failurePolicy: 'Ignore', matchConditions: [{ name: 'a', expression: 'true' }] },
  });
  const rows: [name: string, config: InjectorConfig, pod: Partial<DecisionFacts>, reason: string, note: RegExp][] = [
    ['hostNetwork', plain, { hostNetwork: true }, 'HostNetwork', /InjectorConfig blue \(revision blue\).*host network/],
    ['a disabled policy', off, {}, 'PolicyDisabled', /the policy is disabled/],
    ['a neverInjectSelector', never, { labels: { job: 'yes' } }, 'NeverInjectSelector', /neverInjectSelector/],
    ['an old pod', plain, {}, 'NotCalled', /was not called; possible causes: the pod was created [^;]*label$/],
    ['a lax webhook', careless, {}, 'NotCalled', /failurePolicy is Ignore, or one of spec\.webhook\.matchConditions/],
    ['a paused InjectorConfig', injectorConfig('blue', { paused: true }), {}, 'Paused', /spec\.paused/],
  ];
  for (const [name, config, fields, reason, note] of rows) {
    it(`reports ${reason} for ${name}`, () => {
      const explanation = explainSelected(pod(fields), { config }, rulesOf(config));
      assert.deepEqual([explanation?.reason, explanation?.injectorConfig], [reason, 'blue']);
      assert.match(explanation?.note ?? '', note);
      assert.equal(explanation?.isExpected, !['NotCalled', 'Paused'].includes(reason));
    });
  }

  it('names the tag', () => {
    const explanation = explainSelected(pod(), { config: plain, tag: revisionTag('prod') }, rulesOf(plain));
    assert.match(explanation?.note ?? '', /InjectorConfig blue \(revision blue, by tag prod\) selects this pod/);
  });

  it('reports NotPublished if no configuration is published', () => {
    assert.equal(explainSelected(pod(), { config: plain }, undefined)?.reason, 'NotPublished');
  });

  it('returns undefined when the pod opted out', () => {
    for (const where of ['labels', 'annotations']) {
      const asked = pod({ [where]: { [inject]: 'false' } });
      assert.equal(explainSelected(asked, { config: plain }, rulesOf(plain)), undefined);
    }
  });
});

describe('explainUnselected', () => {
  const selection = new PodSelection('injection');
  const configs = [injectorConfig('blue')];
  const asking = { labels: { [inject]: 'true' } };
  const rows: [name: string, pod: Partial<DecisionFacts>, namespace: Record<string, string>, note?: RegExp][] = [
    ['a pod that does not ask for injection', {}, {}],
    ['a pod that is injected already', { ...asking, annotations: { 'sidecar.istio.io/status': '{}' } }, {}],
    ['an opt-out', asking, { 'istio-injection': 'disabled' }, /the namespace's label istio-injection is "disabled"$/],
    [
      'an unknown revision',
      { labels: { ...asking.labels, 'istio.io/rev': 'red' } },
      { 'istio.io/rev': 'green' },
      /namespace's label istio.io\/rev is "green" and the pod's label istio.io\/rev is "red"/,
    ],
    ['an excluded namespace', { ...asking, namespace: 'kube-system' }, {}, /namespace kube-system is never injected/],
    ['a missing revision label', asking, {}, /neither the pod nor its namespace has a label istio\.io\/rev/],
  ];
  for (const [name, fields, labels, note] of rows) {
    it(`${note ? 'explains' : 'ignores'} ${name}`, () => {
      const explanation = explainUnselected(pod(fields), labels, configs, selection);
      assert.equal(explanation?.reason, note && 'NotSelected');
      if (note) assert.match(explanation?.note ?? '', note);
    });
  }
});
