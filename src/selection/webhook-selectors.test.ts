import assert from 'node:assert/strict';
import type { InjectorConfig } from '../api/injector-config/injector-config.ts';
import { revisionTag } from '../api/testdata/revision-tag.ts';
import { istioKeys, type WebhookKeys } from '../api/injector-config/webhook-keys.ts';
import { injectorConfig } from '../api/testdata/injector-config.ts';
import { matches } from './testdata/matches.ts';
import { webhookSelectors, type WebhookSelectors } from './webhook-selectors.ts';

const excluded = ['kube-system', 'injection'];

/** The labels that decide about one pod; undefined means that the label is absent. */
interface Case {
  readonly namespace: { readonly injection: string | undefined; readonly revision: string | undefined };
  readonly pod: { readonly inject: string | undefined; readonly revision: string | undefined };
}

/** Each label is absent, has one of two values with a meaning, or has a value without meaning. */
const cases: Case[] = [undefined, 'enabled', 'disabled', 'other'].flatMap((injection) =>
  [undefined, 'default', '1-24', 'unknown'].flatMap((namespaceRevision) =>
    [undefined, 'true', 'false', 'other'].flatMap((inject) =>
      [undefined, 'default', '1-24', 'unknown'].map((podRevision) => ({
        namespace: { injection, revision: namespaceRevision },
        pod: { inject, revision: podRevision },
      })),
    ),
  ),
);

/** Returns the revision that injects the pod according to the documented table, if any. */
function contract({ namespace, pod }: Case, byDefault: boolean): string | undefined {
  if (namespace.injection !== undefined) {
    return namespace.injection === 'enabled' && pod.inject !== 'false' ? 'default' : undefined;
  }
  if (pod.inject === 'false') return undefined;
  const named = namespace.revision ?? pod.revision;
  if (named !== undefined) return named === 'unknown' ? undefined : named;
  if (pod.inject === 'true') return 'default';
  return pod.inject === undefined && byDefault ? 'default' : undefined;
}

function label(key: string, value: string | undefined): Record<string, string> {
  return value === undefined ? {} : { [key]: value };
}

/** Returns every webhook of these configurations that selects the pod, as `revision/webhook`. */
function selecting(configs: readonly InjectorConfig[], each: Case, keys: WebhookKeys, inNamespace = 'app'): string[] {
  return configs.flatMap((config) =>
    selectingOf(config.metadata.name, webhookSelectors({ config }, excluded), each, keys, inNamespace),
  );
}

function selectingOf(
  of: string,
  webhooks: readonly WebhookSelectors[],
  { namespace, pod }: Case,
  keys: WebhookKeys,
  inNamespace = 'app',
): string[] {
  const namespaceLabels = {
    'kubernetes.io/metadata.name': inNamespace,
    ...label(keys.injection, namespace.injection),
    ...label(keys.revision, namespace.revision),
  };
  const podLabels = { ...label(keys.inject, pod.inject), ...label(keys.revision, pod.revision) };
  return webhooks
    .filter(
      (webhook) => matches(webhook.namespaceSelector, namespaceLabels) && matches(webhook.objectSelector, podLabels),
    )
    .map((webhook) => `${of}/${webhook.name}`);
}

const ownKeys: WebhookKeys = {
  injection: 'logs.example.com/injection',
  revision: 'logs.example.com/revision',
  inject: 'logs.example.com/inject',
  status: 'logs.example.com/status',
};

describe('webhookSelectors', () => {
  for (const byDefault of [false, true]) {
    for (const [family, keys] of Object.entries({ istio: istioKeys, own: ownKeys })) {
      it(`selects each of 256 combinations for at most one revision (${family} keys, enableNamespacesByDefault ${byDefault})`, () => {
        const injection = { templates: { sidecar: 'x' }, enableNamespacesByDefault: byDefault };
        const configs = ['default', '1-24'].map((name) => injectorConfig(name, { injection, webhook: { keys } }));
        assert.equal(cases.length, 256);
        for (const each of cases) {
          const selected = selecting(configs, each, keys);
          const expected = contract(each, byDefault);
          assert.ok(selected.length <= 1, `${JSON.stringify(each)} is selected by ${selected.join(' and ')}`);
          assert.equal(selected[0]?.split('/')[0], expected, JSON.stringify(each));
        }
      });
    }
  }

  it('selects each of 256 combinations for at most one revision or tag', () => {
    const configs = ['default', '1-24'].map((name) => injectorConfig(name));
    // The value that had no meaning is now the name of a tag.
    const tag = webhookSelectors({ tag: revisionTag('unknown'), config: injectorConfig('1-24') }, excluded);
    for (const each of cases) {
      const selected = [...selecting(configs, each, istioKeys), ...selectingOf('unknown', tag, each, istioKeys)];
      const { namespace, pod } = each;
      const named =
        namespace.injection === undefined && pod.inject !== 'false' ? (namespace.revision ?? pod.revision) : '';
      const expected = named === 'unknown' ? 'unknown' : contract(each, false);
      assert.ok(selected.length <= 1, `${JSON.stringify(each)} is selected by ${selected.join(' and ')}`);
      assert.equal(selected[0]?.split('/')[0], expected, JSON.stringify(each));
    }
  });

  it('writes the same selectors for tag default as for the default revision', () => {
    const byTag = webhookSelectors({ tag: revisionTag('default'), config: injectorConfig('1-24') }, excluded);
    assert.deepEqual(byTag, webhookSelectors({ config: injectorConfig('default') }, excluded));
  });

  it('selects no pod in excluded namespaces, whatever its labels', () => {
    const injection = { templates: { sidecar: 'x' }, enableNamespacesByDefault: true };
    const configs = [
      injectorConfig('default', { injection }),
      injectorConfig('1-24'),
      injectorConfig('logs', { webhook: { selection: 'Custom', namespaceSelector: {}, keys: ownKeys } }),
    ];
    for (const each of cases) {
      for (const namespace of excluded) assert.deepEqual(selecting(configs, each, istioKeys, namespace), []);
    }
  });

  it('selects by the revision of an InjectorConfig, not by its name', () => {
    const [byNamespace, byPod] = webhookSelectors({ config: injectorConfig('mesh-a', { revision: '1-24' }) }, excluded);
    const expected = { key: 'istio.io/rev', operator: 'In', values: ['1-24'] };
    assert.deepEqual(byNamespace?.namespaceSelector.matchExpressions?.[0], expected);
    assert.deepEqual(byPod?.objectSelector.matchExpressions?.[1], expected);
  });

  it('writes the webhooks for the injection labels only for the default revision', () => {
    const injection = { templates: { sidecar: 'x' }, enableNamespacesByDefault: true };
    const names = (config: InjectorConfig) => webhookSelectors({ config }, excluded).map(({ name }) => name);
    assert.deepEqual(names(injectorConfig('1-24', { injection })), ['rev.namespace', 'rev.object']);
    const plain = ['rev.namespace', 'rev.object', 'namespace', 'object'];
    assert.deepEqual(names(injectorConfig('default')), plain);
    assert.deepEqual(names(injectorConfig('default', { injection })), [...plain, 'auto']);
  });

  it('copies custom selectors and adds the excluded namespaces', () => {
    const namespaceSelector = {
      matchLabels: { team: 'a' },
      matchExpressions: [{ key: 'kubesphere.io/workspace', operator: 'Exists' }],
    };
    const objectSelector = { matchLabels: { logs: 'yes' } };
    const webhook = { selection: 'Custom', namespaceSelector, objectSelector };
    const notExcluded = { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: excluded };
    const of = (fields: object) => webhookSelectors({ config: injectorConfig('logs', { webhook: fields }) }, excluded);
    const matchExpressions = [...namespaceSelector.matchExpressions, notExcluded];
    const both = { namespaceSelector: { ...namespaceSelector, matchExpressions }, objectSelector };
    assert.deepEqual(of(webhook), [{ name: 'custom', ...both }]);
    const one = { namespaceSelector: { matchExpressions: [notExcluded] }, objectSelector };
    assert.deepEqual(of({ selection: 'Custom', objectSelector }), [{ name: 'custom', ...one }]);
  });
});
