import assert from 'node:assert/strict';
import { checkCertificatePolicy } from '../certs/certificate-policy.ts';
import {
  calledName,
  certificateNames,
  certificatePolicy,
  haveOneCertificate,
  requestedNames,
  validatorCertificateNames,
  webhookHost,
} from './certificate-terms.ts';
import { injectorConfig } from '../api/testdata/injector-config.ts';

describe('certificateNames', () => {
  it('returns the names of the Service', () => {
    const namespace = 'injection';
    assert.deepEqual(certificateNames('a', namespace, []), { service: 'sidecar-injector-a', namespace });
    const validator = { service: 'injector-validator-default', namespace };
    assert.deepEqual(validatorCertificateNames('default', namespace), validator);
  });

  it('adds the hosts of the URLs', () => {
    const hosts = ['x.example.com', '10.0.0.7'];
    assert.deepEqual(certificateNames('a', 'injection', hosts).hosts, hosts);
  });
});

describe('calledName', () => {
  it('returns the host of the url, or the name of the Service', () => {
    assert.equal(calledName(injectorConfig('a'), 'injection'), 'sidecar-injector-a.injection.svc');
    const webhook = { url: 'https://x.example.com:8443/p' };
    assert.equal(calledName(injectorConfig('a', { webhook }), 'n'), 'x.example.com');
  });
});

describe('requestedNames', () => {
  it('returns the called name, the Service and other hosts, without duplicates and brackets', () => {
    const service = 'sidecar-injector-a.n.svc';
    assert.deepEqual(requestedNames(injectorConfig('a'), 'n', ['x.example.com']), [service, 'x.example.com']);
    const config = injectorConfig('a', { webhook: { url: 'https://[fd00::1]:15017' } });
    assert.deepEqual(requestedNames(config, 'n', ['[fd00::1]']), ['fd00::1', service]);
  });
});

describe('certificatePolicy', () => {
  it('converts the spec to milliseconds', () => {
    const plain = { renewalFraction: 0.5, keySize: 3072 };
    const certificate = { leafDuration: '1h30m', caDuration: '48h', confirmationPeriod: '2m', ...plain };
    const policy = { leafDuration: 5_400_000, caDuration: 172_800_000, confirmationPeriod: 120_000, ...plain };
    const scaled = { leafDuration: 90_000, caDuration: 2_880_000, confirmationPeriod: 2000, ...plain };
    assert.deepEqual(certificatePolicy(injectorConfig('a', { certificate })), policy);
    assert.deepEqual(certificatePolicy(injectorConfig('a', { certificate }), 60), scaled);
  });

  it('is valid for the defaults and for the shortest durations that the rules allow', () => {
    for (const certificate of [
      {},
      { leafDuration: '1m', caDuration: '3m1s' },
      { leafDuration: '1m', caDuration: '61s', confirmationPeriod: '10s' },
    ]) {
      assert.doesNotThrow(() => {
        checkCertificatePolicy(certificatePolicy(injectorConfig('a', { certificate })));
      });
    }
  });
});

describe('webhookHost', () => {
  for (const [url, host] of [
    [undefined, undefined],
    ['https://injector.example.com:8443/x', 'injector.example.com'],
    ['https://10.0.0.7', '10.0.0.7'],
    ['https://[fd00::1]:15017', '[fd00::1]'],
    ['https://10.0.0.7:99999', undefined],
  ] as const) {
    it(`returns ${host ?? 'undefined'} for ${url ?? 'an unset url'}`, () => {
      assert.equal(webhookHost(injectorConfig('a', { webhook: url === undefined ? {} : { url } })), host);
    });
  }
});

describe('haveOneCertificate', () => {
  const withSecret = (name: string, secret: string) =>
    injectorConfig(name, { certificate: { provider: 'Secret', secretRef: { name: secret } } });
  it('returns true only for InjectorConfigs with the same Secret', () => {
    assert.equal(haveOneCertificate(withSecret('a', 'tls'), withSecret('b', 'tls')), true);
    assert.equal(haveOneCertificate(withSecret('a', 'tls'), withSecret('b', 'own')), false);
    assert.equal(haveOneCertificate(withSecret('a', 'tls'), injectorConfig('b')), false);
    assert.equal(haveOneCertificate(injectorConfig('a'), injectorConfig('b')), false);
  });
});
