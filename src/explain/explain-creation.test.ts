import assert from 'node:assert/strict';
import { formatRoute } from '../routing/route.ts';
import { explainCreation, type ExplanationInputs } from './explain-creation.ts';
import type { PodCreation } from './pod-creation.ts';
import {
  configuration,
  creation,
  foreignWebhook,
  injectorNamed,
  ourWebhook,
  selectors,
  surroundings,
} from './testdata/webhooks.ts';

const enabled = { 'istio-injection': 'enabled' };
const optOut = { 'sidecar.istio.io/inject': 'false' };
const never = { never: 'yes' };
const other = { 'inject.istio.io/templates': 'other' };
const standard = configuration('sidecar-injector-default', [
  ourWebhook('namespace', 'default', selectors.namespace),
  ourWebhook('object', 'default', selectors.object),
]);
const plain = surroundings([standard], { default: injectorNamed('default') });
const strict = surroundings([standard], {
  default: injectorNamed('default', { policy: 'disabled', neverInjectSelector: [{ matchLabels: never }] }),
});

describe('explainCreation', () => {
  const table: [what: string, podCreation: PodCreation, cluster: ExplanationInputs, outcome: string, reason: string][] =
    [
      ['an enabled namespace', creation({}, enabled), plain, 'Injected', 'Injected'],
      ['an unlabelled namespace', creation(), plain, 'NotInjected', 'NotSelected'],
      ['a pod that opts out by label', creation({ labels: optOut }, enabled), plain, 'NotInjected', 'OptedOutByLabel'],
      [
        'a pod that opts out by annotation if the webhook has no matchCondition',
        creation({ annotations: optOut }, enabled),
        plain,
        'NotInjected',
        'OptedOutByAnnotation',
      ],
      ['a host-network pod', creation({ spec: { hostNetwork: true } }, enabled), plain, 'NotInjected', 'HostNetwork'],
      ['an excluded namespace', creation({}, enabled, 'kube-system'), plain, 'NotInjected', 'ExcludedNamespace'],
      ['a disabled policy', creation({}, enabled), strict, 'NotInjected', 'PolicyDisabled'],
      ['a neverInjectSelector', creation({ labels: never }, enabled), strict, 'NotInjected', 'NeverInjectSelector'],
      ['a forbidden annotation', creation({ annotations: other }, enabled), plain, 'Refused', 'AnnotationNotAllowed'],
      ['a cluster without webhooks', creation({}, enabled), surroundings([], {}), 'NotInjected', 'NoWebhook'],
      ['a lost configuration', creation({}, enabled), surroundings([standard], {}), 'Unknown', 'ConfigurationUnknown'],
    ];
  for (const [what, podCreation, cluster, ...expected] of table) {
    it(`reports ${expected.join(', ')} for ${what}`, () => {
      const { outcome, reason } = explainCreation(podCreation, cluster);
      assert.deepEqual([outcome, reason], expected);
    });
  }

  it('names the webhook of the family whose label is set, not the closest of another', () => {
    const other = { namespaceSelector: { matchLabels: { logs: 'on' } } };
    const meant = {
      namespaceSelector: { matchLabels: { 'istio.io/rev': 'a' } },
      objectSelector: { matchLabels: { x: 'y' } },
    };
    const both = [ourWebhook('logs', 'logs', other), ourWebhook('rev', 'a', meant)];
    const cluster = surroundings([configuration('c', both)], {});
    assert.match(explainCreation(creation({}, { 'istio.io/rev': 'b' }), cluster).message, /closest is c\/rev\./);
    assert.match(explainCreation(creation(), cluster).message, /closest is c\/logs\./);
  });

  it('returns the injecting configurations and all steps', () => {
    const { injectedBy, webhooks, pod } = explainCreation(creation({}, enabled), plain);
    assert.deepEqual(injectedBy, ['default.00000000']);
    assert.deepEqual(
      webhooks.map(({ outcome }) => outcome),
      ['Injected', 'NotCalled'],
    );
    assert.deepEqual(
      webhooks[0]?.steps.map(({ step, result }) => `${step} ${result}`),
      ['NamespaceSelector Yes', 'ObjectSelector Yes', 'Configuration Yes', 'Decision Yes', 'Injection Yes'],
    );
    const { annotations } = pod.metadata as { annotations: Record<string, string> };
    assert.equal(annotations['sidecar-injector.io/config'], 'default.00000000');
  });

  it('distinguishes a tag from a revision', () => {
    const tagged = configuration('sidecar-injector-tag-prod', [ourWebhook('rev.namespace', 'default', {}, 'prod')]);
    const cluster = surroundings([tagged], { default: injectorNamed('default') });
    const { webhooks, injectedBy } = explainCreation(creation(), cluster);
    const ref = { injectorConfig: 'default', hash: '00000000' };
    assert.deepEqual(webhooks[0]?.target, { ...ref, tag: 'prod', namespace: 'home' });
    assert.deepEqual(injectedBy, ['default.00000000']);
  });

  it('uses the configuration of the workload in a rollout, and the stable configuration in shadow', () => {
    const rollout = {
      tag: 'prod',
      stable: { injectorConfig: 'old', hash: '00000000' },
      canary: { injectorConfig: 'new', hash: '11111111' },
    };
    const ask = (threshold: string, shadow = false) => {
      const path = formatRoute({ ...rollout, threshold, shadow });
      const webhook = ourWebhook('rev.namespace', 'old', { clientConfig: { service: { namespace: 'home', path } } });
      const injectors = { old: injectorNamed('old'), new: injectorNamed('new') };
      const tagged = configuration('sidecar-injector-tag-prod', [webhook]);
      const { webhooks, injectedBy } = explainCreation(creation(), surroundings([tagged], injectors));
      assert.equal(webhooks[0]?.target?.tag, 'prod');
      return injectedBy;
    };
    assert.deepEqual(ask('0000000000000000'), ['old.00000000']);
    assert.deepEqual(ask('ffffffffffffffff'), ['new.11111111']);
    assert.deepEqual(ask('ffffffffffffffff', true), ['old.00000000']);
  });

  it('calls webhooks in name order and passes the pod from each webhook to the next', () => {
    const second = { objectSelector: { matchLabels: { 'with-first': 'yes' } } };
    const configurations = [
      configuration('b', [ourWebhook('x', 'second', second)]),
      configuration('a', [ourWebhook('x', 'first')]),
    ];
    const injectors = { first: injectorNamed('first'), second: injectorNamed('second', {}, 'other/status') };
    const { injectedBy } = explainCreation(creation(), surroundings(configurations, injectors));
    assert.deepEqual(injectedBy, ['first.00000000', 'second.00000000']);
    const reversed = configurations.map(({ webhooks }, index) => {
      return configuration(['a', 'b'][index] ?? '', webhooks as Parameters<typeof configuration>[1]);
    });
    assert.deepEqual(explainCreation(creation(), surroundings(reversed, injectors)).injectedBy, ['first.00000000']);
  });

  it('calls webhooks with IfNeeded again after a later webhook changed the pod', () => {
    const once = { reinvocationPolicy: 'IfNeeded' } as const;
    const configurations = [
      configuration('a', [ourWebhook('x', 'first', once)]),
      configuration('b', [ourWebhook('x', 'second')]),
    ];
    const injectors = { first: injectorNamed('first'), second: injectorNamed('second', {}, 'other/status') };
    const { reinvoked, injectedBy } = explainCreation(creation(), surroundings(configurations, injectors));
    assert.deepEqual(reinvoked, ['a/x.sidecar-injector.io']);
    assert.deepEqual(injectedBy, ['first.00000000', 'second.00000000']);
  });

  it("reports another product's webhook, and a refusal if its condition fails", () => {
    const careless = [{ name: 'careless', expression: "object.metadata.labels.none == 'x'" }];
    const explainWithForeign = (webhook: Parameters<typeof foreignWebhook>[1], pod = {}) => {
      const foreign = configuration('a', [foreignWebhook('x.example.com', webhook)]);
      const cluster = surroundings([foreign, standard], { default: injectorNamed('default') });
      return explainCreation(creation(pod, enabled), cluster);
    };
    const outcomes = explainWithForeign({}).webhooks.map(({ outcome }) => outcome);
    assert.deepEqual(outcomes, ['Called', 'Injected', 'NotCalled']);
    const { outcome, reason, webhooks } = explainWithForeign({ matchConditions: careless }, { labels: {} });
    assert.deepEqual([outcome, reason, webhooks.length], ['Refused', 'MatchConditionFailed', 1]);
  });

  it("reports an injected pod that the API server refuses, unless another product's webhook may correct it", () => {
    const injectors = {
      default: injectorNamed('default', { templates: { sidecar: 'spec: {containers: [{name: a}]}' } }),
    };
    const { outcome, reason, message, injectedBy } = explainCreation(
      creation({}, enabled),
      surroundings([standard], injectors),
    );
    assert.deepEqual([outcome, reason, injectedBy], ['Refused', 'InvalidPod', []]);
    assert.match(message, /^the API server refuses the injected pod: spec\.containers\[\d\]\.image: Required value$/);
    const foreign = configuration('a', [foreignWebhook('x.example.com')]);
    const unsure = explainCreation(creation({}, enabled), surroundings([foreign, standard], injectors));
    assert.deepEqual([unsure.outcome, unsure.doubt], ['Injected', message]);
  });

  it('reports Unknown for an unknown condition of our webhook, but not of a foreign webhook under Ignore', () => {
    const undecidable = { matchConditions: [{ name: 'undecidable', expression: "quantity('1').isInteger()" }] };
    const injectors = { default: injectorNamed('default') };
    const ours = surroundings([configuration('a', [ourWebhook('x', 'default', undecidable)])], injectors);
    assert.equal(explainCreation(creation(), ours).outcome, 'Unknown');
    const foreign = configuration('a', [foreignWebhook('x.example.com', { ...undecidable, failurePolicy: 'Ignore' })]);
    const withForeign = surroundings([foreign, standard], injectors);
    assert.equal(explainCreation(creation({}, enabled), withForeign).outcome, 'Injected');
  });
});
