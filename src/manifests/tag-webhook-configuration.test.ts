import assert from 'node:assert/strict';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import type { RevisionTag } from '../api/revision-tag/revision-tag.ts';
import { revisionTag } from '../api/testdata/revision-tag.ts';
import { injectorConfig } from '../api/testdata/injector-config.ts';
import { context } from './testdata/manifest-context.ts';
import { webhookConfiguration } from './webhook-configuration.ts';

const spec = {
  revision: '1-24',
  webhook: {
    failurePolicy: 'Ignore',
    timeoutSeconds: 3,
    reinvocationPolicy: 'IfNeeded',
    excludedNamespaces: ['quiet'],
    matchConditions: [{ name: 'not-tests', expression: "!object.metadata.name.startsWith('test-')" }],
    keys: { inject: 'example.com/inject' },
  },
};
const config = injectorConfig('mesh-a', spec);
const published = { config, hash: '0123abcd', caBundlePem: 'PEM' };

interface Webhook {
  name: string;
  clientConfig: { service?: { name: string; path: string }; url?: string };
  namespaceSelector: unknown;
  objectSelector: unknown;
  [field: string]: unknown;
}

const webhooksOf = (object: KubernetesObject): Webhook[] => object.webhooks as Webhook[];
const names = (object: KubernetesObject): string[] => webhooksOf(object).map(({ name }) => name);

describe('webhookConfiguration of a tag', () => {
  const taggedBy = (tag: RevisionTag, target = config) =>
    webhookConfiguration({ ...published, config: target, tag }, context);
  const tagged = taggedBy(revisionTag('prod'));

  it('has the name of the tag and labels for its InjectorConfig and revision', () => {
    assert.equal(tagged.metadata.name, 'sidecar-injector-tag-prod');
    assert.deepEqual(tagged.metadata.labels, {
      'app.kubernetes.io/managed-by': 'sidecar-injector',
      'sidecar-injector.io/operator-class': 'default',
      'sidecar-injector.io/injector-config': 'mesh-a',
      'sidecar-injector.io/revision': '1-24',
      'sidecar-injector.io/tag': 'prod',
    });
  });

  it('calls the Service of the InjectorConfig with the path of the tag', () => {
    for (const { clientConfig } of webhooksOf(tagged)) {
      assert.equal(clientConfig.service?.name, 'sidecar-injector-mesh-a');
      assert.equal(clientConfig.service.path, '/tags/prod/mesh-a/0123abcd/inject');
    }
    const atUrl = injectorConfig('mesh-a', { ...spec, webhook: { url: 'https://injector.example.com/x/' } });
    const [first] = webhooksOf(taggedBy(revisionTag('prod'), atUrl));
    assert.equal(first?.clientConfig.url, 'https://injector.example.com/x/tags/prod/mesh-a/0123abcd/inject');
  });

  it("has the fields of the InjectorConfig's webhook, except selectors and path", () => {
    const shared = (object: KubernetesObject) => {
      const [{ clientConfig, ...webhook } = { clientConfig: {} }] = webhooksOf(object);
      const { service } = clientConfig as { service: object };
      const client = { ...clientConfig, service: { ...service, path: 0 } };
      return { ...webhook, namespaceSelector: 0, objectSelector: 0, clientConfig: client };
    };
    assert.deepEqual(shared(tagged), shared(webhookConfiguration(published, context)));
  });

  it("selects by the name of the tag, with the InjectorConfig's keys and excluded namespaces", () => {
    assert.deepEqual(names(tagged), ['rev.namespace.sidecar-injector.io', 'rev.object.sidecar-injector.io']);
    const [first] = webhooksOf(tagged);
    assert.deepEqual(first?.namespaceSelector, {
      matchExpressions: [
        { key: 'istio.io/rev', operator: 'In', values: ['prod'] },
        { key: 'istio-injection', operator: 'DoesNotExist' },
        {
          key: 'kubernetes.io/metadata.name',
          operator: 'NotIn',
          values: ['injection', 'kube-node-lease', 'kube-public', 'kube-system', 'local-path-storage', 'quiet'],
        },
      ],
    });
    assert.deepEqual(first.objectSelector, {
      matchExpressions: [{ key: 'example.com/inject', operator: 'NotIn', values: ['false'] }],
    });
  });

  it('is the webhook configuration of the default revision if the tag has the name default', () => {
    const object = taggedBy(revisionTag('default'));
    const own = webhookConfiguration({ ...published, config: injectorConfig('default') }, context);
    assert.equal(object.metadata.name, own.metadata.name);
    assert.deepEqual(names(object), names(own));
  });

  it('selects unlabelled namespaces if the tag or the InjectorConfig enables this selection', () => {
    const injection = { templates: { sidecar: 'x' }, enableNamespacesByDefault: true };
    const byDefault = injectorConfig('mesh-a', { injection });
    const hasAuto = (target: typeof config, tag: RevisionTag) =>
      names(taggedBy(tag, target)).includes('auto.sidecar-injector.io');
    const plain = revisionTag('default', { enableNamespacesByDefault: false });
    assert.equal(hasAuto(config, plain), false);
    assert.equal(hasAuto(config, revisionTag('default', { enableNamespacesByDefault: true })), true);
    assert.equal(hasAuto(byDefault, plain), true);
    assert.equal(hasAuto(byDefault, revisionTag('prod')), false);
  });
});
