import assert from 'node:assert/strict';
import { gateOf } from '../api/names.ts';
import { injectorConfig } from '../api/testdata/injector-config.ts';
import { holdObjects } from './hold-objects.ts';
import { context } from './testdata/manifest-context.ts';
import { webhookConfiguration } from './webhook-configuration.ts';

describe('the manifests of failurePolicy Hold', () => {
  const webhook = {
    failurePolicy: 'Hold',
    fallback: 'Ignore',
    matchConditions: [{ name: 'mine', expression: 'true' }],
  };
  const config = injectorConfig('default', { webhook });
  const input = { config, hash: '00000000', caBundlePem: '' };
  interface Entry {
    readonly name: string;
    readonly failurePolicy: string;
    readonly timeoutSeconds: number;
    readonly matchConditions: readonly { readonly name: string }[];
  }
  const entries = (isHolding: boolean): Entry[] =>
    webhookConfiguration({ ...input, isHolding }, context).webhooks as Entry[];

  it('have two webhooks for each pair of selectors, with conditions that exclude each other', () => {
    const found = entries(true);
    assert.deepEqual(
      found.map(({ name, failurePolicy, timeoutSeconds, matchConditions }) => [
        name,
        failurePolicy,
        timeoutSeconds,
        matchConditions.at(-1)?.name,
      ]),
      ['rev.namespace', 'rev.object', 'namespace', 'object'].flatMap((short) => [
        [`${short}.sidecar-injector.io`, 'Ignore', 3, 'cannot-be-held'],
        [`hold.${short}.sidecar-injector.io`, 'Ignore', 3, 'can-be-held'],
      ]),
    );
    assert.ok(found.every(({ matchConditions }) => matchConditions.some(({ name }) => name === 'mine')));
  });

  it('have the fallback for all pods while the policy does not act', () => {
    const found = entries(false);
    assert.deepEqual(
      found.map(({ failurePolicy }) => failurePolicy),
      ['Ignore', 'Ignore', 'Ignore', 'Ignore'],
    );
    assert.ok(found.every(({ matchConditions }) => matchConditions.every(({ name }) => !name.includes('be-held'))));
  });

  it('hold exactly the pods that the webhook selects', () => {
    for (const isHolding of [true, false]) {
      const configuration = webhookConfiguration({ ...input, isHolding }, context);
      const [policy, ...bindings] = holdObjects(configuration, input, context, 'admissionregistration.k8s.io/v1');
      const held = webhookConfiguration({ ...input, isHolding: true }, context).webhooks as (Entry &
        Record<string, unknown>)[];
      const own = held.filter(({ name }) => name.startsWith('hold.'));
      const spec = policy?.spec as Record<string, unknown>;
      assert.deepEqual(spec.matchConditions, own[0]?.matchConditions);
      assert.deepEqual(
        bindings.map(({ spec: binding }) => (binding as { matchResources: unknown }).matchResources),
        own.map(({ namespaceSelector, objectSelector }) => ({
          matchPolicy: 'Equivalent',
          namespaceSelector,
          objectSelector,
        })),
      );
      assert.equal(spec.failurePolicy, 'Ignore');
      assert.ok(JSON.stringify(spec.mutations).includes(gateOf('sidecar-injector-default')));
    }
  });

  it('give each gate its own name, which Kubernetes accepts, also for the longest names', () => {
    const names = ['a'.repeat(46), 'default', `tag-${'a'.repeat(63)}`, `tag-${'a'.repeat(62)}b`];
    const parts = names.map((name) => gateOf(`sidecar-injector-${name}`).split('/')[1] ?? '');
    for (const part of parts) assert.match(part, /^[a-z0-9][-a-z0-9.]{0,61}[a-z0-9]$/);
    assert.equal(new Set(parts).size, names.length);
  });
});
