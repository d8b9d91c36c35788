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
    it(`calls the same place with the same trust: ${JSON.stringify(webhook)}`, () => {
      const twin = first(probeConfiguration(input({ webhook }), context));
      assert.deepEqual(twin.clientConfig, first(webhookConfiguration(input({ webhook }), context)).clientConfig);
    });
  }

  it('can stop nothing but the dry run of one ConfigMap in our own namespace', () => {
    const twin = first(probeConfiguration(input(), context));
    assert.deepEqual(twin['rules'], [
      { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'], scope: 'Namespaced' },
    ]);
    assert.deepEqual(twin['namespaceSelector'], {
      matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: ['injection'] }],
    });
    const named = "has(object.metadata.name) && object.metadata.name == 'sidecar-injector-probe-blue'";
    const expression = `has(request.dryRun) && request.dryRun == true && ${named}`;
    assert.deepEqual(twin['matchConditions'], [{ name: 'probe', expression }]);
    assert.deepEqual([twin['failurePolicy'], twin['sideEffects']], ['Fail', 'None']);
  });

  it('waits 5 s at most, and less where the webhook does', () => {
    const timeout = (timeoutSeconds: number): number =>
      first(probeConfiguration(input({ webhook: { timeoutSeconds } }), context)).timeoutSeconds;
    assert.deepEqual([1, 5, 30].map(timeout), [1, 5, 5]);
  });

  it('belongs to the InjectorConfig and goes with the owner', () => {
    const owner = { apiVersion: 'v1', kind: 'Owner', name: 'owner', uid: 'u' };
    const { metadata } = probeConfiguration(input(), { ...context, owner });
    const real = webhookConfiguration(input(), { ...context, owner }).metadata;
    assert.deepEqual(metadata, { ...real, name: 'sidecar-injector-probe-blue' });
    assert.equal(probeConfiguration(input(), context).metadata.ownerReferences, undefined);
  });
});

describe('probeConfigMap', () => {
  it('carries the nonce under the name that the twin takes', () => {
    assert.deepEqual(probeConfigMap('blue', 'n', 'injection'), {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'sidecar-injector-probe-blue', namespace: 'injection' },
      data: { nonce: 'n' },
    });
  });
});
