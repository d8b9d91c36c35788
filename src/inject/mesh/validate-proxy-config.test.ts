import assert from 'node:assert/strict';
import { without } from '../pod/without.ts';
import { applyProxyConfig, defaultProxyConfig } from './proxy-config.ts';
import { proxyConfigProblems } from './validate-proxy-config.ts';

const withoutPort = 'unable to split "x": address x: missing port in address';
const twoSources =
  'invalid tracing TLS config: cannot specify client certificates or CA certificate or CA CRL If credentialName is set';
const keyProvider = 'invalid private key provider configuration:';

describe('proxyConfigProblems', () => {
  it('accepts the defaults', () => {
    assert.deepEqual(proxyConfigProblems(defaultProxyConfig), []);
  });

  const zipkin = { address: 'z:1' };
  const withTls = (tlsSettings: object): object => ({ tracing: { zipkin, tlsSettings } });
  const mutual = { mode: 'MUTUAL', clientCertificate: '/c', privateKey: '/k' };
  const simple = { mode: 'SIMPLE', caCertificates: '/ca' };
  const insecure = { insecureSkipVerify: true, caCertificates: '/ca' };
  /** Changes to the defaults, and the resulting problems. */
  const rows: [changes: object, ...problems: string[]][] = [
    [{ configPath: '', binaryPath: '' }, 'config path must be set', 'binary path must be set'],
    [{ serviceCluster: '' }, 'service cluster must be specified'],
    [{ tracingServiceName: 'CANONICAL_NAME_ONLY' }],
    [{ drainDuration: '0s' }, 'invalid drain duration: duration must be greater than 1ms'],
    [{ drainDuration: '-5s' }, 'invalid drain duration: duration must be greater than 1ms'],
    [{ drainDuration: '1000001us' }, 'invalid drain duration: only durations to ms precision are supported'],
    [{ drainDuration: '1.5s' }, 'drain time only supports durations to seconds precision'],
    [{ discoveryAddress: '' }, 'discovery address must be set to the proxy discovery service'],
    [{ discoveryAddress: 'x' }, `invalid discovery address: ${withoutPort}`],
    [{ statusPort: 70000 }, 'invalid status port: port number 70000 must be in the range 1..65535'],
    [
      { controlPlaneAuthPolicy: 'INHERIT' },
      'invalid authentication policy: unrecognized control plane auth policy "INHERIT"',
    ],
    [{ tracing: { zipkin: { address: '$(HOST_IP):9411' } } }],
    [{ tracing: { datadog: { address: 'x' } } }, `invalid datadog config: ${withoutPort}`],
    [
      { tracing: { lightstep: {} } },
      'invalid lightstep config: address is required',
      'invalid lightstep config: invalid lightstep address: unable to split "": missing port in address',
      'invalid lightstep config: access token is required',
    ],
    [{ statsdUdpAddress: 'x' }, `invalid statsd udp address "x": ${withoutPort}`],
    [
      { envoyAccessLogService: { address: 'als:0' } },
      'invalid envoy access log service address "als:0": port number 0 must be in the range 1..65535',
    ],
    [
      withTls({ mode: 'MUTUAL' }),
      'invalid tracing TLS config: client certificate required for mutual tls',
      'invalid tracing TLS config: private key required for mutual tls',
    ],
    [withTls({ ...simple, credentialName: 'c' }), twoSources],
    [withTls({ mode: 'SIMPLE', caCrl: '/crl', credentialName: 'c' }), twoSources],
    [
      withTls({ ...simple, ...insecure }),
      'invalid tracing TLS config: cannot specify CaCertificates or CredentialName or SubjectAltNames when InsecureSkipVerify is set true',
    ],
    [
      withTls({ ...mutual, ...insecure }),
      'invalid tracing TLS config: cannot specify CaCertificates or SubjectAltNames when InsecureSkipVerify is set true',
    ],
    [
      { privateKeyProvider: {} },
      `${keyProvider} private key provider configuration is required`,
      `${keyProvider} unknown private key provider`,
    ],
    [{ privateKeyProvider: { qat: {} } }, `${keyProvider} pollDelay is required`],
    [{ privateKeyProvider: { cryptomb: { pollDelay: '0s' } } }, `${keyProvider} pollDelay must be non zero`],
    [{ privateKeyProvider: { cryptomb: { pollDelay: '10ms' } } }],
    [
      {
        connectionSettings: { httpIdleTimeout: '-1s', listenerConnectionLimit: 0, http2InitialStreamWindowSize: 65534 },
      },
      ...[
        'http_idle_timeout must be non-negative',
        'http2_initial_stream_window_size must be at least 65535',
        'listener_connection_limit must be positive',
      ].map((problem) => `invalid connection settings: ${problem}`),
    ],
    [
      {
        connectionSettings: { httpIdleTimeout: '0s', listenerConnectionLimit: 1, http2InitialStreamWindowSize: 65535 },
      },
    ],
  ];
  for (const [changes, ...problems] of rows) {
    it(`finds ${problems.length} problems in ${JSON.stringify(changes)}`, () => {
      assert.deepEqual(proxyConfigProblems(applyProxyConfig(defaultProxyConfig, changes)), problems);
    });
  }

  it('requires a cluster name', () => {
    const nameless = without(defaultProxyConfig, 'serviceCluster');
    assert.deepEqual(proxyConfigProblems(nameless), [
      'oneof service cluster or tracing service name must be specified',
    ]);
  });
});
