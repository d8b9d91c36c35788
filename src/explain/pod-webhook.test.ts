import assert from 'node:assert/strict';
import { formatRoute } from '../routing/route.ts';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { podWebhooks, type MutatingWebhook, type PodWebhook } from './pod-webhook.ts';
import { configuration, foreignWebhook, ourWebhook } from './testdata/webhooks.ts';

function onlyWebhook(webhook: MutatingWebhook): PodWebhook {
  const [found] = podWebhooks([configuration('a', [webhook])]);
  assert.ok(found);
  return found;
}

function webhookAt(clientConfig: MutatingWebhook['clientConfig']): PodWebhook {
  const { name, rules = [] } = ourWebhook('x', 'default');
  return onlyWebhook({ name, rules, ...(clientConfig && { clientConfig }) });
}

const hash = '00000000';
const ref = { injectorConfig: '1-24', hash };
const service = (path: string) => ({ service: { namespace: 'home', name: 'x', path } });

describe('podWebhooks', () => {
  const targets: [what: string, clientConfig: MutatingWebhook['clientConfig'], target: PodWebhook['target']][] = [
    ['with a Service', service(`/revisions/1-24/${hash}/inject`), { ...ref, namespace: 'home' }],
    ['for a tag', service(`/tags/prod/1-24/${hash}/inject`), { ...ref, tag: 'prod', namespace: 'home' }],
    ['with a URL', { url: `https://example.com/a/revisions/1-24/${hash}/inject` }, { ...ref, namespace: undefined }],
    ['at another path', service('/inject'), undefined],
    ['with an invalid hash', service('/revisions/1-24/xyz/inject'), undefined],
    ['without a path', { service: { namespace: 'home', name: 'x' } }, undefined],
    ['without clientConfig', undefined, undefined],
  ];
  for (const [what, clientConfig, target] of targets) {
    it(`finds ${target === undefined ? 'no target' : 'the target'} of a webhook ${what}`, () => {
      const found = webhookAt(clientConfig);
      assert.deepEqual(found.target, target);
      assert.equal(found.canary, undefined);
    });
  }

  for (const shadow of [false, true]) {
    it(`finds ${shadow ? 'only stable in a shadow step' : 'stable and canary in a rollout'}`, () => {
      const canary = { injectorConfig: '1-25', hash: '11111111' };
      const threshold = '8000000000000000';
      const path = formatRoute({ tag: 'prod', stable: ref, canary, threshold, shadow });
      const found = webhookAt(service(path));
      const common = { tag: 'prod', namespace: 'home' };
      assert.deepEqual(found.target, { ...ref, ...common });
      const target = { ...canary, ...common };
      assert.deepEqual(found.canary, shadow ? undefined : { tag: 'prod', threshold, target });
    });
  }

  it("finds no target of another product's webhook, even if it has our path", () => {
    const clientConfig = service(`/revisions/1-24/${hash}/inject`);
    assert.equal(onlyWebhook(foreignWebhook('x.example.com', { clientConfig })).target, undefined);
  });

  it('sorts webhook configurations by name and keeps the order of their webhooks', () => {
    const both = [foreignWebhook('two.example.com'), foreignWebhook('one.example.com')];
    const found = podWebhooks([configuration('b', both), configuration('a', both), configuration('B', both)]);
    assert.deepEqual(
      found.map(({ webhookConfiguration: name, webhook }) => `${name}/${webhook.name.split('.')[0] ?? ''}`),
      ['B/two', 'B/one', 'a/two', 'a/one', 'b/two', 'b/one'],
    );
  });

  it('omits webhooks for other resources', () => {
    const withoutRules: MutatingWebhook = { name: 'x.example.com' };
    const services = foreignWebhook('x.example.com', {
      rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['services'] }],
    });
    const empty: KubernetesObject = { ...configuration('c', []), webhooks: undefined };
    assert.deepEqual(podWebhooks([configuration('a', [withoutRules]), configuration('b', [services]), empty]), []);
  });

  it('accepts a webhook configuration that has neither a name nor a creation time', () => {
    const file: KubernetesObject = { ...configuration('a', [foreignWebhook('x.example.com')]), metadata: {} };
    const [found] = podWebhooks([configuration('a', [foreignWebhook('y.example.com')]), file]);
    assert.deepEqual([found?.webhookConfiguration, found?.createdAt], ['', undefined]);
  });
});
