import assert from 'node:assert/strict';
import { defaultMeshConfig, loadMeshConfig } from './mesh-config.ts';

describe('loadMeshConfig', () => {
  it('returns Istio’s default for an empty text', () => {
    assert.deepEqual(loadMeshConfig(''), defaultMeshConfig);
  });

  it('replaces fields and merges defaultConfig', () => {
    const mesh = loadMeshConfig('trustDomain: td\ndefaultConfig: {concurrency: 4, proxyMetadata: {A: b}}\n');
    assert.equal(mesh.trustDomain, 'td');
    assert.deepEqual(mesh.defaultConfig, {
      ...(defaultMeshConfig.defaultConfig as object),
      concurrency: 4,
      proxyMetadata: { A: 'b' },
    });
  });

  it('merges providers by name and default providers by kind', () => {
    const mesh = loadMeshConfig(
      'extensionProviders: [{name: envoy, zipkin: {service: z, port: 1}}, {name: own, prometheus: {}}]\ndefaultProviders: {tracing: [own]}\n',
    );
    assert.deepEqual(mesh.extensionProviders, [
      { name: 'prometheus', prometheus: {} },
      { name: 'stackdriver', stackdriver: {} },
      { name: 'envoy', zipkin: { service: 'z', port: 1 } },
      { name: 'own', prometheus: {} },
    ]);
    assert.deepEqual(mesh.defaultProviders, { tracing: ['own'] });
  });

  it('sorts and deduplicates aliases of the trust domain', () => {
    assert.deepEqual(loadMeshConfig('trustDomainAliases: [b, a, b]').trustDomainAliases, ['a', 'b']);
  });

  const wrong: [name: string, text: string, message: RegExp][] = [
    ['invalid YAML', 'a: [', /^cannot parse mesh config: /],
    ['a list', '- a', /cannot unmarshal array/],
    ['a value of the wrong type', 'trustDomain: 1', /cannot unmarshal number into Go value of type string/],
    ['an unknown enum value', 'outboundTrafficPolicy: {mode: NEVER}', /unknown value "\\"NEVER\\"" for enum/],
    [
      'an invalid ProxyConfig',
      'defaultConfig: {drainDuration: 0s, statusPort: -1}',
      /defaultConfig: invalid drain duration.*; invalid status port/,
    ],
  ];
  for (const [name, text, message] of wrong) {
    it(`rejects ${name}`, () => {
      assert.throws(() => loadMeshConfig(text), { name: 'ConfigurationError', message });
    });
  }
});
