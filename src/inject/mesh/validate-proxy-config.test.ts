import assert from 'node:assert/strict';
import { without } from '../pod/without.ts';
import { applyProxyConfig, defaultProxyConfig } from './proxy-config.ts';
import { proxyConfigProblems } from './validate-proxy-config.ts';

describe('proxyConfigProblems', () => {
  it('has nothing against the defaults', () => {
    assert.deepEqual(proxyConfigProblems(defaultProxyConfig), []);
  });

  const rows: [name: string, changes: object, problems: string[]][] = [
    ['paths', { configPath: '', binaryPath: '' }, ['config path must be set', 'binary path must be set']],
    ['an empty service cluster', { serviceCluster: '' }, ['service cluster must be specified']],
    ['a tracing service name instead', { tracingServiceName: 'CANONICAL_NAME_ONLY' }, []],
    ['no drain duration', { drainDuration: '0s' }, ['invalid drain duration: duration must be greater than 1ms']],
    [
      'a negative drain duration',
      { drainDuration: '-5s' },
      ['invalid drain duration: duration must be greater than 1ms'],
    ],
    [
      'microseconds of draining',
      { drainDuration: '1000001us' },
      ['invalid drain duration: only durations to ms precision are supported'],
    ],
    [
      'half seconds of draining',
      { drainDuration: '1.5s' },
      ['drain time only supports durations to seconds precision'],
    ],
    [
      'no discovery address',
      { discoveryAddress: '' },
      ['discovery address must be set to the proxy discovery service'],
    ],
    [
      'a discovery address without port',
      { discoveryAddress: 'istiod' },
      ['invalid discovery address: unable to split "istiod": address istiod: missing port in address'],
    ],
    [
      'a status port out of range',
      { statusPort: 70000 },
      ['invalid status port: port number 70000 must be in the range 1..65535'],
    ],
    [
      'an unknown authentication',
      { controlPlaneAuthPolicy: 'INHERIT' },
      ['invalid authentication policy: unrecognized control plane auth policy "INHERIT"'],
    ],
    ['a node’s address for zipkin', { tracing: { zipkin: { address: '$(HOST_IP):9411' } } }, []],
    [
      'a bad datadog address',
      { tracing: { datadog: { address: 'x' } } },
      ['invalid datadog config: unable to split "x": address x: missing port in address'],
    ],
    [
      'an empty lightstep',
      { tracing: { lightstep: {} } },
      [
        'invalid lightstep config: address is required',
        'invalid lightstep config: invalid lightstep address: unable to split "": address : missing port in address',
        'invalid lightstep config: access token is required',
      ],
    ],
    [
      'statsd',
      { statsdUdpAddress: 'x' },
      ['invalid statsd udp address "x": unable to split "x": address x: missing port in address'],
    ],
    [
      'an access log service',
      { envoyAccessLogService: { address: 'als:0' } },
      ['invalid envoy access log service address "als:0": port number 0 must be in the range 1..65535'],
    ],
    [
      'mutual TLS without files',
      { tracing: { zipkin: { address: 'z:1' }, tlsSettings: { mode: 'MUTUAL' } } },
      [
        'invalid tracing TLS config: client certificate required for mutual tls',
        'invalid tracing TLS config: private key required for mutual tls',
      ],
    ],
    [
      'a credential name and files',
      { tracing: { tlsSettings: { mode: 'SIMPLE', credentialName: 'c', caCertificates: '/ca' } } },
      [
        'invalid tracing TLS config: cannot specify client certificates or CA certificate or CA CRL If credentialName is set',
      ],
    ],
    [
      'skipping verification with a CA',
      { tracing: { tlsSettings: { mode: 'SIMPLE', insecureSkipVerify: true, caCertificates: '/ca' } } },
      [
        'invalid tracing TLS config: cannot specify CaCertificates or CredentialName or SubjectAltNames when InsecureSkipVerify is set true',
      ],
    ],
    [
      'skipping mutual verification with a CA',
      {
        tracing: {
          tlsSettings: {
            mode: 'MUTUAL',
            insecureSkipVerify: true,
            caCertificates: '/ca',
            clientCertificate: '/c',
            privateKey: '/k',
          },
        },
      },
      [
        'invalid tracing TLS config: cannot specify CaCertificates or SubjectAltNames when InsecureSkipVerify is set true',
      ],
    ],
    [
      'a key provider that is none',
      { privateKeyProvider: {} },
      ['invalid private key provider configuration: private key provider configuration is required'],
    ],
    [
      'a key provider without delay',
      { privateKeyProvider: { qat: {} } },
      ['invalid private key provider configuration: pollDelay is required'],
    ],
    [
      'a key provider that never waits',
      { privateKeyProvider: { cryptomb: { pollDelay: '0s' } } },
      ['invalid private key provider configuration: pollDelay must be non zero'],
    ],
    ['a sound key provider', { privateKeyProvider: { cryptomb: { pollDelay: '10ms' } } }, []],
  ];
  for (const [name, changes, problems] of rows) {
    it(name, () => {
      assert.deepEqual(proxyConfigProblems(applyProxyConfig(defaultProxyConfig, changes)), problems);
    });
  }

  it('wants a name for the cluster', () => {
    const nameless = without(defaultProxyConfig, 'serviceCluster');
    assert.deepEqual(proxyConfigProblems(nameless), [
      'oneof service cluster or tracing service name must be specified',
    ]);
  });
});
