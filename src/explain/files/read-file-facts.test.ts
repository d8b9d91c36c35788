import assert from 'node:assert/strict';
import { configurationHash } from '../../api/injector-config/configuration-hash.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { podWebhooks, type WebhookTarget } from '../pod-webhook.ts';
import type { FileFacts } from './facts.ts';
import { namespacesIn, readFileFacts } from './read-file-facts.ts';

const ours = 'sidecar-injector.io/v1alpha1';
const templates = { sidecar: 'spec: {containers: [{name: hello, image: busybox}]}' };

function config(name: string, spec: Record<string, unknown> = {}): KubernetesObject {
  return { apiVersion: ours, kind: 'InjectorConfig', metadata: { name }, spec: { injection: { templates }, ...spec } };
}

function tag(name: string, revision: string): KubernetesObject {
  return { apiVersion: ours, kind: 'RevisionTag', metadata: { name }, spec: { revision } };
}

function configMap(name: string, data: Record<string, string>, namespace?: string): KubernetesObject {
  const metadata = { name, ...(namespace === undefined ? {} : { namespace }) };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
}

function webhooks(name: string, path: string): KubernetesObject {
  const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }];
  const clientConfig = { service: { namespace: 'home', name: 'x', path } };
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name },
    webhooks: [{ name: 'x.sidecar-injector.io', rules, clientConfig }],
  };
}

function read(...objects: KubernetesObject[]): FileFacts {
  return readFileFacts(objects, 'home');
}

function targetOf({ configurations }: FileFacts, index = 0): WebhookTarget {
  const target = podWebhooks(configurations)[index]?.target;
  assert.ok(target);
  return target;
}

function names({ configurations }: FileFacts): string[] {
  return configurations.map(({ metadata: { name = '' } }) => name).sort();
}

describe('readFileFacts', () => {
  it('generates the webhooks of each InjectorConfig and each tag with a target', () => {
    const facts = read(config('1-24'), tag('prod', '1-24'));
    assert.deepEqual(names(facts), ['sidecar-injector-1-24', 'sidecar-injector-tag-prod']);
    assert.deepEqual(facts.notes, []);
  });

  it('adds a note for a tag without a target', () => {
    const facts = read(config('1-24'), tag('prod', '1-99'));
    assert.deepEqual(names(facts), ['sidecar-injector-1-24']);
    const note = 'RevisionTag prod points to revision 1-99, which no InjectorConfig in the files has';
    assert.deepEqual(facts.notes, [note]);
  });

  it('keeps a webhook configuration from the files unchanged', () => {
    const manual = webhooks('sidecar-injector-1-24', '/revisions/1-24/00000000/inject');
    assert.deepEqual(read(config('1-24'), manual).configurations, [manual]);
  });

  it('reads the Namespaces in the files', () => {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } };
    const odd = { apiVersion: 'other/v1', kind: 'Namespace', metadata: { name: 'odd' } };
    const nameless = { apiVersion: 'v1', kind: 'Namespace', metadata: {} };
    assert.deepEqual([...namespacesIn([namespace, odd, nameless]).keys()], ['shop', '']);
  });

  it('reads the references of an InjectorConfig from ConfigMaps in the files', () => {
    const from = { configFrom: { namespace: 'mesh', name: 'istio', key: 'config' }, values: {} };
    const text = JSON.stringify({ templates });
    const found = (...maps: KubernetesObject[]): string => {
      const facts = read(config('1-24', { injection: from }), ...maps);
      const files = facts.filesOf(targetOf(facts));
      return 'unavailable' in files ? files.unavailable : files.config;
    };
    assert.equal(found(configMap('istio', { config: 'other' }), configMap('istio', { config: text }, 'mesh')), text);
    const absent: [title: string, maps: KubernetesObject[]][] = [
      ['another namespace', [configMap('istio', { config: text }, 'elsewhere')]],
      ['namespace default', [configMap('istio', { config: text })]],
      ['another key', [configMap('istio', { values: text }, 'mesh')]],
      ['no ConfigMap', []],
    ];
    for (const [title, maps] of absent) assert.throws(() => found(...maps), /mesh\/istio/, title);
  });

  it('reads the configuration of a webhook from its ConfigMap, or names the missing ConfigMap', () => {
    const own = read(config('1-24'));
    const files = own.filesOf(targetOf(own));
    assert.ok(!('unavailable' in files));
    const hash = configurationHash(files);
    const manual = webhooks('manual', `/revisions/1-24/${hash}/inject`);
    const stored = configMap(`sidecar-injector-1-24-${hash}`, { ...files }, 'home');
    const with_ = read(manual, stored);
    assert.deepEqual(with_.filesOf(targetOf(with_)), files);
    const without = read(manual);
    const answer = without.filesOf(targetOf(without));
    const why = 'unavailable' in answer ? answer.unavailable : '';
    assert.match(why, /neither the ConfigMap sidecar-injector-1-24-[0-9a-f]{8} nor an InjectorConfig 1-24/);
  });

  const refused: [title: string, object: KubernetesObject, mention: RegExp][] = [
    ['an InjectorConfig with an unknown field', config('a', { paussed: true }), /spec\.paussed/],
    ['an InjectorConfig that only the operator refuses', config('a', { revision: 'A_b' }), /spec\.revision/],
    ['a tag that points to itself', tag('prod', 'prod'), /own name/],
    ['a tag with an unknown field', { ...tag('prod', 'x'), spec: { revison: 'x' } }, /revis/],
  ];
  for (const [title, object, mention] of refused) {
    it(`refuses ${title}`, () => {
      assert.throws(() => read(object), mention);
    });
  }
});
