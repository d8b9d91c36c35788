import assert from 'node:assert/strict';
import { applyToMessage, decodeMessage } from './decode-message.ts';
import { messageType } from './message-type.ts';

const proxyConfig = messageType('istio.mesh.v1alpha1.ProxyConfig');
const meshConfig = messageType('istio.mesh.v1alpha1.MeshConfig');

describe('decodeMessage', () => {
  const zeros = { concurrency: 0, holdApplicationUntilProxyStarts: false };
  const ofObject: unknown = JSON.parse('{"__proto__":"x"}');
  const rows: [name: string, json: unknown, canonical: unknown][] = [
    ['omits zero scalars', { statusPort: 0, configPath: '', proxyAdminPort: 1 }, { proxyAdminPort: 1 }],
    ['omits empty lists and maps', { extraStatTags: [], proxyMetadata: {} }, {}],
    ['keeps a wrapper with value zero', zeros, zeros],
    ['keeps an empty message', { image: {} }, { image: {} }],
    ['keeps an empty member of a oneof', { serviceCluster: '' }, { serviceCluster: '' }],
    ['accepts both spellings', { drain_duration: '3s', status_port: 7 }, { drainDuration: '3s', statusPort: 7 }],
    ['accepts quoted integers', { statusPort: '15021' }, { statusPort: 15021 }],
    ['accepts enums by number', { interceptionMode: 1 }, { interceptionMode: 'TPROXY' }],
    ['keeps unknown numbers of enums', { controlPlaneAuthPolicy: 77 }, { controlPlaneAuthPolicy: 77 }],
    ['omits the enum’s zero', { interceptionMode: 'REDIRECT' }, {}],
    ['ignores null', { statusPort: null, image: null, drainDuration: null }, {}],
    ['ignores unknown fields', { noSuchField: { deep: [] } }, {}],
    ['sorts the keys of maps', { proxyMetadata: { b: '2', a: '1' } }, { proxyMetadata: { a: '1', b: '2' } }],
    ['keeps a key named __proto__', { proxyMetadata: ofObject }, { proxyMetadata: ofObject }],
    [
      'makes durations canonical',
      { drainDuration: '1m', terminationDrainDuration: '1500ms' },
      { drainDuration: '60s', terminationDrainDuration: '1.500s' },
    ],
  ];
  for (const [name, json, canonical] of rows) {
    it(name, () => {
      assert.equal(JSON.stringify(decodeMessage(proxyConfig, json)), JSON.stringify(canonical));
    });
  }

  it('writes fields in order of declaration', () => {
    const message = applyToMessage(proxyConfig, {}, { statusPort: 1, configPath: '/x' });
    assert.deepEqual(Object.keys(message), ['configPath', 'statusPort']);
  });

  it('keeps only the last member of a oneof', () => {
    const base = applyToMessage(proxyConfig, {}, { serviceCluster: 'a' });
    assert.deepEqual(applyToMessage(proxyConfig, base, { tracingServiceName: 'CANONICAL_NAME_ONLY' }), {
      tracingServiceName: 'CANONICAL_NAME_ONLY',
    });
  });

  it('clears a field that is set to its zero value', () => {
    const base = applyToMessage(proxyConfig, {}, { statusPort: 15020, extraStatTags: ['a'] });
    assert.deepEqual(applyToMessage(proxyConfig, base, { statusPort: 0, extraStatTags: [] }), {});
  });

  it('reads nested messages and 64-bit integers', () => {
    const provider = { name: 'p', zipkin: { service: 's', port: 9411 } };
    const json = { localityLbSetting: { enabled: false }, extensionProviders: [provider] };
    assert.deepEqual(decodeMessage(meshConfig, json), json);
  });

  const accessLog = (labels: unknown): object => ({
    extensionProviders: [{ name: 'log', envoyFileAccessLog: { logFormat: { labels } } }],
  });

  it('keeps free-form objects as they are', () => {
    const json = accessLog({ a: '%PROTOCOL%', nested: { list: [1, null] } });
    assert.deepEqual(decodeMessage(meshConfig, json), json);
    assert.throws(() => decodeMessage(meshConfig, accessLog([])), {
      message: /^bad StructValue: json: cannot unmarshal array/,
    });
  });

  it('reads nulls in lists and maps as zero values', () => {
    const json = { extraStatTags: [null], proxyMetadata: { a: null }, caCertificatesPem: ['x'] };
    const expected = { proxyMetadata: { a: '' }, extraStatTags: [''], caCertificatesPem: ['x'] };
    assert.deepEqual(decodeMessage(proxyConfig, json), expected);
  });

  it('reads NaN, and exact 64-bit integers', () => {
    assert.deepEqual(decodeMessage(proxyConfig, { tracing: { sampling: 'NaN' } }), { tracing: { sampling: 'NaN' } });
    const keepalive = { tcpKeepalive: { probes: 3, time: '10s' } };
    assert.deepEqual(decodeMessage(meshConfig, keepalive), { tcpKeepalive: { probes: 3, time: '10s' } });
  });

  const ofType: [name: string, json: unknown, found: string, goType: string][] = [
    ['a list instead of the message', [], 'array', 'map[string]json.RawMessage'],
    ['a string instead of the message', 'x', 'string', 'map[string]json.RawMessage'],
    ['a number instead of a string', { configPath: 1 }, 'number', 'string'],
    ['a string instead of a boolean', { holdApplicationUntilProxyStarts: 'true' }, 'string', 'bool'],
    ['a fraction instead of an integer', { statusPort: 1.5 }, 'number 1.5', 'int32'],
    ['a number out of range', { statusPort: 2 ** 31 }, 'number 2147483648', 'int32'],
    ['a negative unsigned number', { fileFlushMinSizeKb: -1 }, 'number -1', 'uint32'],
    ['a number instead of a duration', { drainDuration: 10 }, 'number', 'string'],
    ['an object instead of a list', { extraStatTags: {} }, 'object', '[]json.RawMessage'],
    ['a list instead of a map', { proxyMetadata: [] }, 'array', 'map[string]json.RawMessage'],
    ['a boolean as a map value', { proxyMetadata: { a: true } }, 'bool', 'string'],
    ['an object instead of a number', { tracing: { sampling: {} } }, 'object', 'float64'],
  ];
  const wrong: [name: string, json: unknown, message: string][] = [
    ...ofType.map(([name, json, found, goType]): [string, unknown, string] => [
      name,
      json,
      `json: cannot unmarshal ${found} into Go value of type ${goType}`,
    ]),
    ['a word instead of an integer', { statusPort: 'http' }, "invalid character 'h' looking for beginning of value"],
    ['an empty string instead of an integer', { statusPort: '' }, 'unexpected end of JSON input'],
    [
      'an unknown enum value',
      { interceptionMode: 'BAD' },
      'unknown value "\\"BAD\\"" for enum istio.mesh.v1alpha1.ProxyConfig.InboundInterceptionMode',
    ],
    ['a duration without unit', { drainDuration: '10' }, 'bad Duration: time: missing unit in duration "10"'],
    ['a word for a number', { tracing: { sampling: 'much' } }, "invalid character 'm' looking for beginning of value"],
  ];
  for (const [name, json, message] of wrong) {
    it(`rejects ${name}`, () => {
      assert.throws(() => decodeMessage(proxyConfig, json), { name: 'MessageError', message });
    });
  }
});
