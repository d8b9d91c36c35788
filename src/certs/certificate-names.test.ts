import assert from 'node:assert/strict';
import { CertificatePolicyError } from './certificate-policy.ts';
import { subjectAltNames } from './certificate-names.ts';

const base = { service: 'sidecar-injector-a', namespace: 'injection' };
const host = 'sidecar-injector-a.injection';
const own = [`${host}.svc`, `${host}.svc.cluster.local`, host];

describe('subjectAltNames', () => {
  const good: [string, string[], { dns: string[]; ip: string[] }][] = [
    ['contains the names of the Service', [], { dns: own, ip: [] }],
    ['contains a host in lower case', ['Injector.Example.COM'], { dns: [...own, 'injector.example.com'], ip: [] }],
    ['contains an IPv4 address', ['10.0.0.1'], { dns: own, ip: ['10.0.0.1'] }],
    ['accepts an IPv6 address in brackets, as in a URL', ['[fd00::1]'], { dns: own, ip: ['fd00::1'] }],
    ['contains each name only once', ['localhost', 'localhost', own[0]!], { dns: [...own, 'localhost'], ip: [] }],
  ];
  for (const [what, hosts, expected] of good) {
    it(what, () => {
      assert.deepEqual(subjectAltNames({ ...base, hosts }), expected);
    });
  }

  const bad = ['', 'https://injector', 'injector:443', 'a b', '-a', '*.example.com', 'ünïcode.example'];
  for (const host of [...bad, `${'a'.repeat(64)}.x`]) {
    it(`refuses the host ${JSON.stringify(host)}`, () => {
      assert.throws(
        () => subjectAltNames({ ...base, hosts: ['ok.example', host] }),
        (error) =>
          error instanceof CertificatePolicyError &&
          error.field === 'hosts[1]' &&
          error.message.includes(JSON.stringify(host)),
      );
    });
  }

  it('refuses a Service name that is not a DNS label', () => {
    const refusal = { name: 'CertificatePolicyError', field: 'service' };
    assert.throws(() => subjectAltNames({ ...base, service: 'a/b' }), refusal);
  });
});
