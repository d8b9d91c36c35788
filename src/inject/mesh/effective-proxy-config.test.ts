import assert from 'node:assert/strict';
import type { ProxyConfigResource } from '../injection-request.ts';
import type { JsonObject } from '../patch/json-value.ts';
import { annotationProxyConfig } from './proxy-config.ts';
import { effectiveProxyConfig, proxyConfigLayers } from './effective-proxy-config.ts';
import { loadMeshConfig } from './mesh-config.ts';

const layers = proxyConfigLayers(
  loadMeshConfig('defaultConfig: {concurrency: 1, proxyMetadata: {MESH: m, ALL: mesh}}'),
);
const pod = { namespace: 'shop', labels: { app: 'web' } };

function resource(name: string, namespace: string, spec: JsonObject, creationTimestamp?: string): ProxyConfigResource {
  return { metadata: { name, namespace, ...(creationTimestamp !== undefined && { creationTimestamp }) }, spec };
}

const root = resource('root', 'istio-system', { concurrency: 2, environmentVariables: { ROOT: 'r', ALL: 'root' } });
const own = resource('own', 'shop', { environmentVariables: { OWN: 'o', ALL: 'own' } });
const workload = resource('workload', 'shop', {
  selector: { matchLabels: { app: 'web' } },
  environmentVariables: { ALL: 'workload' },
});
const other = resource('other', 'shop', { selector: { matchLabels: { app: 'db' } }, concurrency: 9 });
const invalid = resource('invalid', 'shop', { selector: { matchLabels: { 'no label': 'x' } }, concurrency: 7 });
const elsewhere = resource('elsewhere', 'bank', { concurrency: 8 });

describe('effectiveProxyConfig', () => {
  const annotation = annotationProxyConfig('concurrency: 3\nproxyMetadata: {ALL: annotation, NOTE: x}');
  const rows: [name: string, resources: ProxyConfigResource[], concurrency: number, metadata: object][] = [
    ['only the mesh', [], 1, { ALL: 'mesh', MESH: 'm' }],
    ['the root namespace over the mesh', [root], 2, { ALL: 'root', MESH: 'm', ROOT: 'r' }],
    ['the namespace over the root', [own, root], 2, { ALL: 'own', MESH: 'm', OWN: 'o', ROOT: 'r' }],
    ['a matching selector last', [workload, own, root], 2, { ALL: 'workload', MESH: 'm', OWN: 'o', ROOT: 'r' }],
    ['only matching resources', [other, elsewhere, invalid], 1, { ALL: 'mesh', MESH: 'm' }],
  ];
  for (const [name, resources, concurrency, metadata] of rows) {
    it(`applies ${name}`, () => {
      const config = effectiveProxyConfig(layers, pod, undefined, resources);
      assert.equal(config.concurrency, concurrency);
      assert.deepEqual(config.proxyMetadata, metadata);
    });
  }

  it('applies the annotation between the namespace and the workload', () => {
    const config = effectiveProxyConfig(layers, pod, annotation, [own, workload]);
    assert.equal(config.concurrency, 3);
    assert.deepEqual(config.proxyMetadata, { ALL: 'workload', MESH: 'm', NOTE: 'x', OWN: 'o' });
  });

  it('prefers the older of two resources', () => {
    const older = resource('z', 'shop', { concurrency: 5 }, '2026-01-01T00:00:00Z');
    const newer = resource('a', 'shop', { concurrency: 6 }, '2026-02-01T00:00:00Z');
    assert.equal(effectiveProxyConfig(layers, pod, undefined, [newer, older]).concurrency, 5);
    assert.equal(effectiveProxyConfig(layers, pod, undefined, [older, newer]).concurrency, 5);
  });

  it('ignores zero values of the annotation', () => {
    const config = effectiveProxyConfig(layers, pod, annotationProxyConfig('statusPort: 0\nextraStatTags: []'), []);
    assert.equal(config.statusPort, 15020);
  });

  it('ignores resources and annotations that cannot be parsed', () => {
    assert.equal(annotationProxyConfig('concurrency: [1]'), undefined);
    assert.equal(annotationProxyConfig('a: ['), undefined);
    const broken = resource('broken', 'shop', { concurrency: 'many' });
    assert.equal(effectiveProxyConfig(layers, pod, undefined, [broken]).concurrency, 1);
  });
});
