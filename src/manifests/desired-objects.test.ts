import assert from 'node:assert/strict';
import type { InjectorConfig } from '../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { objectNames } from '../api/names.ts';
import { nameRules } from '../api/injector-config/injector-config-rules.ts';
import { configurationFiles } from './configuration-files.ts';
import { type CertificateMaterial, configurationObjects, rotationSecret, servingObjects } from './desired-objects.ts';
import type { ManifestContext } from './manifest-context.ts';
import { injectorConfig } from '../api/testdata/injector-config.ts';
import { context } from './testdata/manifest-context.ts';
import { webhookConfiguration } from './webhook-configuration.ts';

const hash = '0123abcd';
const certificates: CertificateMaterial = {
  stored: { 'rotation.json': '{"version":1}', 'ca.key': 'the key of the authority' },
  serving: { certificatePem: 'leaf', privateKeyPem: 'key', caPem: 'authority' },
  caBundlePem: 'old\nnew\n',
};

/** Returns all objects of an InjectorConfig, in the order of application. */
function desired(config: InjectorConfig, where: ManifestContext = context): KubernetesObject[] {
  return [
    rotationSecret(config, certificates.stored, where),
    ...servingObjects(config, certificates.serving, where),
    ...configurationObjects(config, configurationFiles(config), hash, where),
    webhookConfiguration({ config, hash, caBundlePem: certificates.caBundlePem }, where),
  ];
}

interface Webhook {
  name: string;
  clientConfig: { url?: string; caBundle: string; service?: Record<string, unknown> };
  namespaceSelector: { matchExpressions: { key: string; values?: string[] }[] };
  matchConditions: { name: string }[];
  rules: unknown;
  [field: string]: unknown;
}

function webhooks(config: InjectorConfig, where: ManifestContext = context): Webhook[] {
  return webhookConfiguration({ config, hash, caBundlePem: certificates.caBundlePem }, where).webhooks as Webhook[];
}

const advertised: ManifestContext = { ...context, advertise: { host: 'localhost', port: 40123 } };
const systemNamespaces = ['injection', 'kube-node-lease', 'kube-public', 'kube-system', 'local-path-storage'];
const decode = (text: unknown) => Buffer.from(String(text), 'base64').toString();
const summary = ({ kind, metadata }: KubernetesObject) =>
  `${kind} ${metadata.namespace ?? '-'}/${String(metadata.name)}`;

describe('the objects of an InjectorConfig', () => {
  it('have these kinds and names', () => {
    assert.deepEqual(desired(injectorConfig('1-24')).map(summary), [
      'Secret injection/sidecar-injector-1-24',
      'Secret injection/sidecar-injector-1-24-serving',
      'Service injection/sidecar-injector-1-24',
      'ConfigMap injection/sidecar-injector-1-24-0123abcd',
      'ConfigMap injection/sidecar-injector-1-24',
      'MutatingWebhookConfiguration -/sidecar-injector-1-24',
    ]);
  });

  it('have the labels of the revision and no label of Istio', () => {
    for (const { metadata } of desired(injectorConfig('mesh-a', { revision: '1-24', operatorClass: 'blue' }))) {
      const { 'sidecar-injector.io/configuration-hash': labelled, ...labels } = metadata.labels ?? {};
      assert.deepEqual(labels, {
        'app.kubernetes.io/managed-by': 'sidecar-injector',
        'sidecar-injector.io/operator-class': 'blue',
        'sidecar-injector.io/injector-config': 'mesh-a',
        'sidecar-injector.io/revision': '1-24',
      });
      assert.equal(labelled, metadata.name?.endsWith(`-${hash}`) === true ? hash : undefined);
    }
  });

  it('have different names for different InjectorConfigs', () => {
    const names = ['a', 'a-b', 'default'].flatMap((name) => desired(injectorConfig(name)).map(summary));
    assert.equal(new Set(names).size, names.length);
    assert.ok(nameRules.every(({ holds }) => holds({ self: injectorConfig('a-b') })));
  });

  it('include Secrets of types Opaque and kubernetes.io/tls', () => {
    const [authority, serving] = desired(injectorConfig('a'));
    assert.equal(authority?.type, 'Opaque');
    assert.equal(decode((authority.data as Record<string, string>)['ca.key']), 'the key of the authority');
    assert.equal(serving?.type, 'kubernetes.io/tls');
    const { 'ca.crt': ca, 'tls.crt': leaf, 'tls.key': key, ...others } = serving.data as Record<string, string>;
    assert.deepEqual([ca, leaf, key].map(decode), ['authority', 'leaf', 'key']);
    assert.deepEqual(others, {});
  });

  it("contain the authority's key only in the Secret of the rotation", () => {
    const key = Buffer.from('the key of the authority').toString('base64');
    const holders = desired(injectorConfig('a')).filter((object) => JSON.stringify(object).includes(key));
    assert.deepEqual(holders.map(summary), ['Secret injection/sidecar-injector-a']);
  });

  it('contain the configuration in an immutable ConfigMap named by hash, and in a mutable ConfigMap', () => {
    const config = injectorConfig('a');
    const [hashed, plain] = configurationObjects(config, configurationFiles(config), hash, context);
    assert.ok(hashed && plain);
    assert.deepEqual(hashed.data, { ...configurationFiles(config) });
    assert.deepEqual(plain.data, hashed.data);
    assert.deepEqual([hashed.immutable, plain.immutable], [true, undefined]);
  });

  it('include a Service that selects the replicas or names an advertised host', () => {
    const service = (where: ManifestContext) => servingObjects(injectorConfig('a'), undefined, where)[0]?.spec;
    assert.deepEqual(service(context), {
      type: 'ClusterIP',
      selector: { 'app.kubernetes.io/name': 'injector-operator' },
      ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 15017 }],
    });
    assert.deepEqual(service(advertised), { type: 'ExternalName', externalName: 'localhost' });
  });
});

describe('webhookConfiguration', () => {
  it('sets every field of a webhook', () => {
    const [webhook] = webhooks(injectorConfig('1-24'));
    assert.ok(webhook);
    const { matchConditions, namespaceSelector, objectSelector, ...rest } = webhook;
    const path = '/revisions/1-24/0123abcd/inject';
    assert.deepEqual(rest, {
      name: 'rev.namespace.sidecar-injector.io',
      admissionReviewVersions: ['v1', 'v1beta1'],
      clientConfig: {
        caBundle: Buffer.from('old\nnew\n').toString('base64'),
        service: { namespace: 'injection', name: 'sidecar-injector-1-24', path, port: 443 },
      },
      failurePolicy: 'Fail',
      matchPolicy: 'Equivalent',
      reinvocationPolicy: 'Never',
      rules: [
        { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'], scope: 'Namespaced' },
      ],
      sideEffects: 'None',
      timeoutSeconds: 10,
    });
    assert.ok(objectSelector);
    assert.equal(matchConditions.length, 3);
    assert.deepEqual(namespaceSelector.matchExpressions.at(-1)?.values, systemNamespaces);
  });

  it('sets the fields of the spec in every webhook', () => {
    const spec = {
      failurePolicy: 'Ignore',
      timeoutSeconds: 3,
      reinvocationPolicy: 'IfNeeded',
      matchPolicy: 'Exact',
      matchConditions: [{ name: 'mine', expression: 'true' }],
      excludedNamespaces: ['vault', 'kube-system'],
    };
    for (const webhook of webhooks(injectorConfig('default', { webhook: spec }))) {
      const { failurePolicy, timeoutSeconds, reinvocationPolicy, matchPolicy } = webhook;
      assert.deepEqual({ ...spec, failurePolicy, timeoutSeconds, reinvocationPolicy, matchPolicy }, spec);
      assert.deepEqual(webhook.matchConditions.at(-1), { name: 'mine', expression: 'true' });
      const excluded = webhook.namespaceSelector.matchExpressions.at(-1);
      assert.equal(excluded?.key, 'kubernetes.io/metadata.name');
      assert.deepEqual(excluded.values, [...systemNamespaces, 'vault']);
    }
  });

  it('calls a url instead of the Service, with the path of the configuration', () => {
    for (const url of ['https://injector.example.com:8443/mesh', 'https://injector.example.com:8443/mesh/']) {
      const [webhook] = webhooks(injectorConfig('a', { webhook: { url } }));
      assert.equal(webhook?.clientConfig.url, 'https://injector.example.com:8443/mesh/revisions/a/0123abcd/inject');
      assert.equal(webhook.clientConfig.service, undefined);
    }
  });

  it('names the advertised port', () => {
    const [webhook] = webhooks(injectorConfig('a'), advertised);
    assert.equal(webhook?.clientConfig.service?.port, 40123);
  });

  it("gives every webhook a unique name with at least three parts and without Istio's suffix", () => {
    const injection = { templates: { sidecar: 'x' }, enableNamespacesByDefault: true };
    const names = webhooks(injectorConfig('default', { injection })).map(({ name }) => name);
    assert.equal(new Set(names).size, 5);
    for (const name of names) assert.ok(name.endsWith('.sidecar-injector.io') && name.split('.').length >= 3, name);
  });

  it('sets the owner reference if the installation has an owner', () => {
    const kind = 'MutatingWebhookConfiguration';
    const owner = { apiVersion: 'admissionregistration.k8s.io/v1', kind, name: 'o', uid: 'u' };
    const owned = (where: ManifestContext) =>
      desired(injectorConfig('a'), where).filter(({ metadata }) => metadata.ownerReferences);
    const found = owned({ ...context, owner });
    assert.deepEqual(found.map(summary), ['MutatingWebhookConfiguration -/sidecar-injector-a']);
    assert.deepEqual(found[0]?.metadata.ownerReferences, [owner]);
    assert.deepEqual(owned(context), []);
  });

  it('puts the webhooks of the default revision into one object', () => {
    const object = webhookConfiguration({ config: injectorConfig('default'), hash, caBundlePem: '' }, context);
    assert.equal(object.metadata.name, 'sidecar-injector-default');
    assert.equal(objectNames('default').webhookConfiguration, 'sidecar-injector-default');
  });
});
