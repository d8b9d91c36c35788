import assert from 'node:assert/strict';
import { formatRoute } from '../routing/route.ts';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { podWebhooks, type MutatingWebhook, type PodWebhook } from './pod-webhook.ts';
import { configuration, foreignWebhook, ourWebhook } from './testdata/webhooks.ts';

function only(webhook: MutatingWebhook): PodWebhook {
  const [found] = podWebhooks([configuration('a', [webhook])]);
  assert.ok(found);
  return found;
}

function at(clientConfig: MutatingWebhook['clientConfig']): PodWebhook {
  const { name, rules = [] } = ourWebhook('x', 'default');
  return only({ name, rules, ...(clientConfig && { clientConfig }) });
}

const hash = '00000000';
const ref = { injectorConfig: '1-24', hash };
const service = (path: string) => ({ service: { namespace: 'home', name: 'x', path } });

describe('podWebhooks', () => {
  const targets: [what: string, clientConfig: MutatingWebhook['clientConfig'], target: PodWebhook['target']][] = [
    ['by a Service', service(`/revisions/1-24/${hash}/inject`), { ...ref, namespace: 'home' }],
    ['of a tag', service(`/tags/prod/1-24/${hash}/inject`), { ...ref, tag: 'prod', namespace: 'home' }],
    ['by URL', { url: `https://example.com/hooks/revisions/1-24/${hash}/inject` }, { ...ref, namespace: undefined }],
    ['at another path', service('/inject'), undefined],
    ['with an invalid hash', service('/revisions/1-24/xyz/inject'), undefined],
    ['without a path', { service: { namespace: 'home', name: 'x' } }, undefined],
    ['without clientConfig', undefined, undefined],
  ];
  for (const [what, clientConfig, target] of targets) {
    it(`our webhook ${what}: ${target === undefined ? 'no target' : 'its configuration'}`, () => {
      const found = at(clientConfig);
      assert.deepEqual(found.target, target);
      assert.equal(found.canary, undefined);
    });
  }

  for (const shadow of [false, true]) {
    it(`in a rollout${shadow ? ' in shadow: only stable' : ': stable and canary'}`, () => {
      const canary = { injectorConfig: '1-25', hash: '11111111' };
      const threshold = '8000000000000000';
      const path = formatRoute({ tag: 'prod', stable: ref, canary, threshold, shadow });
      const found = at(service(path));
      const common = { tag: 'prod', namespace: 'home' };
      assert.deepEqual(found.target, { ...ref, ...common });
      const target = { ...canary, ...common };
      assert.deepEqual(found.canary, shadow ? undefined : { tag: 'prod', threshold, target });
    });
  }

  it("another injector's webhook has no target, even with our path", () => {
    const clientConfig = service(`/revisions/1-24/${hash}/inject`);
    assert.equal(only(foreignWebhook('x.example.com', { clientConfig })).target, undefined);
  });

  it('sorts configurations by name and keeps the order of webhooks', () => {
    const both = [foreignWebhook('two.example.com'), foreignWebhook('one.example.com')];
    const found = podWebhooks([configuration('b', both), configuration('a', both), configuration('B', both)]);
    assert.deepEqual(
      found.map(({ configuration: name, webhook }) => `${name}/${webhook.name.split('.')[0] ?? ''}`),
      ['B/two', 'B/one', 'a/two', 'a/one', 'b/two', 'b/one'],
    );
  });

  it('omits webhooks for other resources', () => {
    const without: MutatingWebhook = { name: 'x.example.com' };
    const services = foreignWebhook('x.example.com', {
      rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['services'] }],
    });
    const empty: KubernetesObject = { ...configuration('c', []), webhooks: undefined };
    assert.deepEqual(podWebhooks([configuration('a', [without]), configuration('b', [services]), empty]), []);
  });

  it('accepts a configuration without name and time', () => {
    const file: KubernetesObject = { ...configuration('a', [foreignWebhook('x.example.com')]), metadata: {} };
    const [found] = podWebhooks([configuration('a', [foreignWebhook('y.example.com')]), file]);
    assert.deepEqual([found?.configuration, found?.createdAt], ['', undefined]);
  });
});
