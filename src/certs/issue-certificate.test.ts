import assert from 'node:assert/strict';
import forge from 'node-forge';
import { issueAuthority, issueServingCertificate } from './issue-certificate.ts';
import { readChain } from './read-certificate.ts';
import { keyPool, seededBytes } from './testdata/key-pool.ts';
import { parsePair, verifyServingPair } from './verify-chain.ts';

const hour = 3_600_000;
const now = new Date('2026-03-01T12:00:00.750Z');
const hosts = ['injector.example.com', '[2001:db8::1]'];
const names = { service: 'sidecar-injector-1-24', namespace: 'injection', hosts };

async function issue({ at = now, caDuration = 24 * hour, leafDuration = hour, seed = 1 } = {}) {
  const keys = await keyPool();
  const options = { now: at, random: seededBytes(seed) };
  const authority = issueAuthority('sidecar-injector-1-24', keys[0]!, { ...options, duration: caDuration });
  const leaf = issueServingCertificate(authority, names, keys[1]!, { ...options, duration: leafDuration });
  return { authority, leaf };
}

describe('issueAuthority and issueServingCertificate', () => {
  before(keyPool);

  it('issue a chain that is valid for every name that the API server may use', async () => {
    const { authority, leaf } = await issue();
    const expected = [
      'sidecar-injector-1-24.injection.svc',
      'sidecar-injector-1-24.injection.svc.cluster.local',
      'sidecar-injector-1-24.injection',
      'injector.example.com',
      '2001:db8::1',
      '[2001:db8::1]',
    ];
    assert.deepEqual(
      verifyServingPair(parsePair({ ...leaf, caPem: authority.certificatePem }), { now, names: expected }),
      [],
    );
  });

  it('return PEM with LF line ends and a final newline', async () => {
    const { authority, leaf } = await issue();
    for (const pem of [authority.certificatePem, leaf.certificatePem]) {
      assert.doesNotMatch(pem, /\r/);
      assert.match(pem, /^-----BEGIN CERTIFICATE-----\n[^]*\n-----END CERTIFICATE-----\n$/);
    }
  });

  it('set positive 128-bit serial numbers in minimal encoding for any random bytes', async () => {
    for (let seed = 0; seed < 40; seed++) {
      const { authority, leaf } = await issue({ seed });
      for (const { certificatePem } of [authority, leaf]) {
        assert.match(readChain(certificatePem)[0].x509.serialNumber, /^[4-7][0-9A-F]{31}$/);
      }
    }
  });

  it('set notBefore to 25 hours ago, in whole seconds', async () => {
    const { authority, leaf } = await issue();
    const times = [authority, leaf].map(({ certificatePem }) => {
      const { notBefore, notAfter } = readChain(certificatePem)[0];
      return [notBefore.toISOString(), notAfter.toISOString()];
    });
    assert.deepEqual(times, [
      ['2026-02-28T11:00:00.000Z', '2026-03-02T12:00:00.000Z'],
      ['2026-02-28T11:00:00.000Z', '2026-03-01T13:00:00.000Z'],
    ]);
  });

  it('encode times before and after 2050, where X.509 changes the time format', async () => {
    const { authority, leaf } = await issue({ at: new Date('2049-12-31T23:30:00Z') });
    assert.equal(readChain(authority.certificatePem)[0].notAfter.toISOString(), '2050-01-01T23:30:00.000Z');
    assert.equal(readChain(leaf.certificatePem)[0].notAfter.toISOString(), '2050-01-01T00:30:00.000Z');
    const at = new Date('2050-01-01T00:10:00Z');
    assert.deepEqual(verifyServingPair(parsePair({ ...leaf, caPem: authority.certificatePem }), { now: at }), []);
  });

  it('issue no leaf that outlives its authority', async () => {
    const { authority, leaf } = await issue({ caDuration: hour, leafDuration: 24 * hour });
    assert.deepEqual(readChain(leaf.certificatePem)[0].notAfter, readChain(authority.certificatePem)[0].notAfter);
  });

  it('set the usages of an authority and of a leaf', async () => {
    const { authority, leaf } = await issue();
    const [ca, tls] = [authority, leaf].map(({ certificatePem }) => forge.pki.certificateFromPem(certificatePem));
    const usages = (certificate: forge.pki.Certificate | undefined): string[] =>
      ['keyUsage', 'extKeyUsage', 'basicConstraints'].flatMap((name) => {
        const extension = { ...certificate?.getExtension(name) } as Record<string, unknown>;
        return Object.keys(extension).filter((key) => extension[key] === true);
      });
    assert.deepEqual(usages(ca), ['critical', 'keyCertSign', 'cRLSign', 'critical', 'cA']);
    assert.deepEqual(usages(tls), ['critical', 'digitalSignature', 'keyEncipherment', 'serverAuth', 'critical']);
    assert.equal(readChain(authority.certificatePem)[0].x509.ca, true);
    assert.equal(readChain(leaf.certificatePem)[0].x509.ca, false);
  });

  it('set the authority key identifier to the key identifier of the issuer', async () => {
    const { authority, leaf } = await issue();
    const [ca, tls] = [authority, leaf].map(({ certificatePem }) => forge.pki.certificateFromPem(certificatePem));
    const subjectKey = (ca?.getExtension('subjectKeyIdentifier') as { subjectKeyIdentifier: string })
      .subjectKeyIdentifier;
    // AuthorityKeyIdentifier ::= SEQUENCE { keyIdentifier [0] … }: skips four header bytes.
    for (const certificate of [ca, tls]) {
      const { value } = certificate?.getExtension('authorityKeyIdentifier') as { value: string };
      assert.equal(forge.util.bytesToHex(value).slice(8), subjectKey);
    }
  });

  it('give each authority a unique subject', async () => {
    const subjects = await Promise.all(
      [1, 2].map(async (seed) => readChain((await issue({ seed })).authority.certificatePem)[0].x509.subject),
    );
    assert.notEqual(subjects[0], subjects[1]);
  });
});
