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

/** Returns all objects, with tags that serve the revision in their spec. */
function claims(configs: InjectorConfig[], tags: RevisionTag[] = []): ClaimingObjects {
  return { configs, tags, targetOf: ({ spec }) => configs.find((each) => revisionOf(each) === spec.revision) };
}

const taking = (owners: readonly WebhookOwner[]): string[] => owners.map(({ config: { metadata } }) => metadata.name);

/** Returns the rules of an InjectorConfig. */
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
  const rows: [name: string, pod: Partial<DecisionFacts>, namespace: Record<string, string>, taken: string[]][] = [
    ['no label', {}, {}, []],
    ["the namespace's injection label", {}, { 'istio-injection': 'enabled' }, ['default']],
    ["the namespace's revision", {}, { 'istio.io/rev': 'blue' }, ['blue']],
    ["the pod's revision", { labels: { 'istio.io/rev': 'blue' } }, {}, ['blue']],
    ["the pod's own label", { labels: { [inject]: 'true' } }, {}, ['default']],
    ['an opt-out', { labels: { [inject]: 'false' } }, { 'istio-injection': 'enabled' }, []],
    ['two families', {}, { ...both, logs: 'on' }, ['default', 'logs']],
    ['one has injected the pod', { annotations: { 'logs/status': '{}' } }, { ...both, logs: 'on' }, ['default']],
    ['an excluded namespace', { labels: { [inject]: 'true' } }, { 'kubernetes.io/metadata.name': 'kube-system' }, []],
    ["the operator's own namespace", {}, { 'kubernetes.io/metadata.name': 'injection', logs: 'on' }, []],
  ];
  for (const [name, fields, namespaceLabels, taken] of rows) {
    it(`${name}: ${taken.join(' and ') || 'none'}`, () => {
      assert.deepEqual(taking(selection.of(pod(fields), namespaceLabels, webhookOwners(claims(all)))), taken);
    });
  }

  it('prefers the older of two with the same revision', () => {
    const made = (name: string, day: number): InjectorConfig => {
      const config = injectorConfig(name, { revision: 'same' });
      return { ...config, metadata: { ...config.metadata, creationTimestamp: `2026-01-0${day}T00:00:00Z` } };
    };
    const [older, younger] = [made('one', 1), made('two', 2)];
    const owners = webhookOwners(claims([younger, older]));
    assert.deepEqual(taking(selection.of(pod(), { 'istio.io/rev': 'same' }, owners)), ['one']);
  });

  it('selects nothing by invalid selectors', () => {
    const odd = injectorConfig('odd', {
      webhook: { selection: 'Custom', objectSelector: { matchLabels: { 'a b': 'c' } } },
    });
    assert.deepEqual(selection.of(pod({ labels: { 'a b': 'c' } }), {}, webhookOwners(claims([odd]))), []);
  });

  it('follows tags, including the tag default', () => {
    const tags = [revisionTag('prod', { revision: 'blue' }), revisionTag('default', { revision: 'blue' })];
    const owners = webhookOwners(claims(all, tags));
    const taken = (labels: Record<string, string>) =>
      selection
        .of(pod(), labels, owners)
        .map(({ config: { metadata }, tag }) => `${metadata.name} by ${tag?.metadata.name ?? 'itself'}`);
    assert.deepEqual(taken({ 'istio.io/rev': 'prod' }), ['blue by prod']);
    assert.deepEqual(taken({ 'istio.io/rev': 'blue' }), ['blue by itself']);
    assert.deepEqual(taken({ 'istio-injection': 'enabled' }), ['blue by default']);
    assert.deepEqual(taken({ 'istio.io/rev': 'lost' }), []);
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
    ['the policy', off, {}, 'PolicyDisabled', /the policy is disabled/],
    ['a selector', never, { labels: { job: 'yes' } }, 'NeverInjectSelector', /neverInjectSelector/],
    ['no call', plain, {}, 'NotCalled', /was not called; the pod was created before the webhook or [^;]*namespace$/],
    ['perhaps no call', careless, {}, 'NotCalled', /failurePolicy is Ignore, or one of spec\.webhook\.matchConditions/],
    ['paused', injectorConfig('blue', { paused: true }), {}, 'Paused', /spec\.paused/],
  ];
  for (const [name, of, fields, reason, note] of rows) {
    it(`${name}: ${reason}`, () => {
      const explanation = explainSelected(pod(fields), { config: of }, rulesOf(of));
      assert.deepEqual([explanation?.reason, explanation?.injectorConfig], [reason, 'blue']);
      assert.match(explanation?.note ?? '', note);
      assert.equal(explanation?.isExpected, !['NotCalled', 'Paused'].includes(reason));
    });
  }

  it('names the tag', () => {
    const explanation = explainSelected(pod(), { config: plain, tag: revisionTag('prod') }, rulesOf(plain));
    assert.match(explanation?.note ?? '', /InjectorConfig blue \(revision blue, by tag prod\) selects this pod/);
  });

  it('without a published configuration: NotPublished', () => {
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
    ['a pod that does not ask', {}, {}],
    ['injected by another injector', { ...asking, annotations: { 'sidecar.istio.io/status': '{}' } }, {}],
    ['by namespace', asking, { 'istio-injection': 'disabled' }, /the namespace's label istio-injection is "disabled"$/],
    [
      'an unknown revision',
      { labels: { ...asking.labels, 'istio.io/rev': 'red' } },
      { 'istio.io/rev': 'green' },
      /namespace's label istio.io\/rev is "green" and the pod's label istio.io\/rev is "red"/,
    ],
    ['an excluded namespace', { ...asking, namespace: 'kube-system' }, {}, /namespace kube-system is never injected/],
    ['no revision label', asking, {}, /neither the pod nor its namespace has a label istio\.io\/rev/],
  ];
  for (const [name, fields, labels, note] of rows) {
    it(name, () => {
      const explanation = explainUnselected(pod(fields), labels, configs, selection);
      assert.equal(explanation?.reason, note && 'NotSelected');
      if (note) assert.match(explanation?.note ?? '', note);
    });
  }
});
