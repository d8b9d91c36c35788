import assert from 'node:assert/strict';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { probeConfigMap, probeConfiguration } from './probe-objects.ts';
import { injectorConfig } from '../api/testdata/injector-config.ts';
import { context } from './testdata/manifest-context.ts';
import { webhookConfiguration } from './webhook-configuration.ts';

type Webhook = Record<string, unknown> & { clientConfig: unknown; timeoutSeconds: number };
const input = (spec: Record<string, unknown> = {}) => ({
  config: injectorConfig('blue', spec),
  hash: '0123abcd',
  caBundlePem: 'authority',
});
const first = ({ webhooks }: KubernetesObject): Webhook => (webhooks as Webhook[])[0]!;

describe('probeConfiguration', () => {
  for (const webhook of [{}, { url: 'https://injector.example.com:9443/base/' }, { timeoutSeconds: 30 }]) {
    it(`uses the webhook's endpoint and CA bundle if spec.webhook is ${JSON.stringify(webhook)}`, () => {
      const probe = first(probeConfiguration(input({ webhook }), context));
      assert.deepEqual(probe.clientConfig, first(webhookConfiguration(input({ webhook }), context)).clientConfig);
    });
  }

  it("selects only the dry-run creation of one ConfigMap in the operator's namespace", () => {
    const probe = first(probeConfiguration(input(), context));
    assert.deepEqual(probe['rules'], [
      { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'], scope: 'Namespaced' },
    ]);
    assert.deepEqual(probe['namespaceSelector'], {
      matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: ['injection'] }],
    });
    const named = "has(object.metadata.name) && object.metadata.name == 'sidecar-injector-probe-blue'";
    const expression = `has(request.dryRun) && request.dryRun == true && ${named}`;
    assert.deepEqual(probe['matchConditions'], [{ name: 'probe', expression }]);
    assert.deepEqual([probe['failurePolicy'], probe['sideEffects']], ['Fail', 'None']);
  });

  it("has the webhook's timeout, but at most 5 s", () => {
    const timeout = (timeoutSeconds: number): number =>
      first(probeConfiguration(input({ webhook: { timeoutSeconds } }), context)).timeoutSeconds;
    assert.deepEqual([1, 5, 30].map(timeout), [1, 5, 5]);
  });

  it("has the labels and owner of the InjectorConfig's webhook", () => {
    const owner = { apiVersion: 'v1', kind: 'Owner', name: 'owner', uid: 'u' };
    const { metadata } = probeConfiguration(input(), { ...context, owner });
    const real = webhookConfiguration(input(), { ...context, owner }).metadata;
    assert.deepEqual(metadata, { ...real, name: 'sidecar-injector-probe-blue' });
    assert.equal(probeConfiguration(input(), context).metadata.ownerReferences, undefined);
  });
});

describe('probeConfigMap', () => {
  it('contains the nonce and has the name that the probe webhook selects', () => {
    assert.deepEqual(probeConfigMap('blue', 'n', 'injection'), {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'sidecar-injector-probe-blue', namespace: 'injection' },
      data: { nonce: 'n' },
    });
  });
});
