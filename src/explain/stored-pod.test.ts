import assert from 'node:assert/strict';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { type CreationFinding, explainCreation } from './explain-creation.ts';
import { compareStoredPod } from './stored-pod.ts';
import { configuration, creation, injectorNamed, ourWebhook, selectors, surroundings } from './testdata/webhooks.ts';

const cluster = surroundings([configuration('a', [ourWebhook('namespace', 'default', selectors.namespace)])], {
  default: injectorNamed('default'),
});
const injected = explainCreation(creation({}, { 'istio-injection': 'enabled' }), cluster);
const plain = explainCreation(creation(), cluster);

function stored(config: string | undefined, creationTimestamp = '2026-01-03T00:00:00Z'): KubernetesObject {
  const annotations = config === undefined ? {} : { 'sidecar-injector.io/config': config };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', creationTimestamp, annotations } };
}

const spec = { schedulingGates: [{ name: 'example.com/quota' }, { name: 'hold.sidecar-injector.io/a' }] };
const held = { ...stored(undefined), spec };

const table: [what: string, pod: KubernetesObject, now: typeof injected, state: string, mention: RegExp][] = [
  ['the same configuration', stored('default.00000000'), injected, 'Current', /default\.00000000/],
  ['another hash', stored('default.11111111'), injected, 'Stale', /now it would be injected by default\.00000000/],
  ['an additional InjectorConfig', stored('default.00000000,logs.11111111'), injected, 'Stale', /recreate it/],
  ['a pod that is still not injected', stored(undefined), plain, 'Plain', /not injected/],
  ['a pod that would no longer be injected', stored('default.00000000'), plain, 'Leftover', /would not be now/],
  ['an older pod', stored(undefined, '2026-01-01T00:00:00Z'), injected, 'Missing', /before webhook configuration a/],
  ['a younger pod', stored(undefined), injected, 'Missing', /changed since/],
  ['a held pod', held, injected, 'Missing', /^it is not injected, because it is held$/],
  ['an invalid annotation', stored('rubbish,default'), plain, 'Plain', /not injected/],
];

describe('compareStoredPod', () => {
  for (const [what, pod, now, state, mention] of table) {
    it(`reports ${state} for ${what}`, () => {
      const found = compareStoredPod(pod, now, cluster.webhooks);
      assert.equal(found.state, state);
      assert.match(found.message, mention);
    });
  }

  const ends: [outcome: CreationFinding['outcome'], end: RegExp][] = [
    ['Injected', /^held since 2026-01-03T00:00:00Z by scheduling gate hold\.sidecar-injector\.io\/a: .*replaces it/],
    ['NotInjected', /lets it start without a sidecar, because none is due; `injector release --all` lets/],
    ['Refused', /as soon as a new pod is accepted/],
    ['Unknown', /as soon as injection works/],
  ];
  for (const [outcome, end] of ends) {
    it(`says what ends the hold of a pod whose creation is ${outcome}`, () => {
      assert.match(compareStoredPod(held, { ...injected, outcome }, cluster.webhooks).held?.message ?? '', end);
    });
  }

  const unclear: [outcome: 'Unknown' | 'Refused', config: string | undefined, message: string][] = [
    ['Unknown', undefined, 'it is not injected; the result of recreating it is unknown'],
    ['Refused', 'a.00000000', 'it was injected by a.00000000; recreating it would be refused'],
  ];
  for (const [outcome, config, message] of unclear) {
    it(`reports a creation that is ${outcome}`, () => {
      const found = compareStoredPod(stored(config), { ...injected, outcome }, cluster.webhooks);
      assert.deepEqual([found.state, found.message], [outcome, message]);
    });
  }

  it('names failurePolicy Ignore or an unknown webhook as a possible reason', () => {
    const [webhook] = injected.webhooks;
    assert.ok(webhook);
    const messageFor = (finding: typeof webhook): string =>
      compareStoredPod(stored(undefined), { ...injected, webhooks: [finding] }, cluster.webhooks).message;
    const unavailable = messageFor({ ...webhook, failurePolicy: 'Ignore' });
    assert.match(unavailable, /a has failurePolicy Ignore, and may have been unavailable/);
    const unknown = messageFor({ ...webhook, configuration: 'gone' });
    assert.match(unknown, /have changed since it was created, or the webhook did not exist then/);
  });

  it('names a namespace label that was written after the creation of the pod as the reason', () => {
    const messageFor = (time: string): string => {
      const fieldsV1 = { 'f:metadata': { 'f:labels': { 'f:istio-injection': {} } } };
      const metadata = { name: 'shop', managedFields: [{ manager: 'kubectl', time, fieldsV1 }] };
      const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata };
      return compareStoredPod(stored(undefined), injected, cluster.webhooks, namespace).message;
    };
    const late = messageFor('2026-01-04T00:00:00Z');
    assert.match(late, /label istio-injection of its namespace was written later by kubectl/);
    assert.doesNotMatch(messageFor('2026-01-02T00:00:00Z'), /kubectl/);
  });
});
