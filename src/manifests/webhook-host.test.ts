import assert from 'node:assert/strict';
import { injectorConfig } from './testdata/injector-config.ts';
import { haveOneCertificate, webhookHost } from './webhook-host.ts';

describe('webhookHost', () => {
  for (const [url, host] of [
    [undefined, undefined],
    ['https://injector.example.com:8443/x', 'injector.example.com'],
    ['https://10.0.0.7', '10.0.0.7'],
    ['https://[fd00::1]:15017', '[fd00::1]'],
    ['https://10.0.0.7:99999', undefined],
  ] as const) {
    it(`of ${url ?? 'no url'}: ${host ?? 'none'}`, () => {
      assert.equal(webhookHost(injectorConfig('a', { webhook: url === undefined ? {} : { url } })), host);
    });
  }
});

describe('haveOneCertificate', () => {
  const given = (name: string, secret: string) =>
    injectorConfig(name, { certificate: { provider: 'Secret', secretRef: { name: secret } } });
  it('is of those that take it from one Secret', () => {
    assert.equal(haveOneCertificate(given('a', 'tls'), given('b', 'tls')), true);
    assert.equal(haveOneCertificate(given('a', 'tls'), given('b', 'own')), false);
    assert.equal(haveOneCertificate(given('a', 'tls'), injectorConfig('b')), false);
    assert.equal(haveOneCertificate(injectorConfig('a'), injectorConfig('b')), false);
  });
});
