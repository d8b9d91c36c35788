import assert from 'node:assert/strict';
import fc from 'fast-check';
import forge from 'node-forge';
import { keyPool } from '../testdata/key-pool.ts';
import { encodeCertificateRequest, keyDigest } from './encode-request.ts';

/** Returns a request as a signer reads it: each name as its type and a string of raw bytes. */
async function requestFor(names: string[]) {
  const [keys] = await keyPool();
  const pem = encodeCertificateRequest(keys!.privateKeyPem, names);
  assert.match(pem, /^-----BEGIN CERTIFICATE REQUEST-----\n[^\r]+\n-----END CERTIFICATE REQUEST-----\n$/);
  const request = forge.pki.certificationRequestFromPem(pem);
  assert.ok(request.verify());
  const attribute = request.getAttribute({ name: 'extensionRequest' }) as { extensions?: unknown } | null;
  const extensions = attribute?.extensions as { name: string; altNames: { type: number; value: string }[] }[];
  return {
    subject: request.subject.attributes.map(({ name, value }) => [name, value]),
    extensions: extensions.map(({ name, altNames }) => [name, altNames.map(({ type, value }) => [type, value])]),
  };
}

describe('encodeCertificateRequest', () => {
  for (const first of ['b.svc', 'b'.repeat(64), 'b'.repeat(65)]) {
    it(`encodes a first name of ${first.length} characters, without an organization`, async () => {
      const names = [first, 'injector.mesh.svc', '*.example.com'];
      const subject = first.length > 64 ? [] : [['commonName', first]];
      const extensions = [['subjectAltName', names.map((name) => [2, name])]];
      assert.deepEqual(await requestFor(names), { subject, extensions });
    });
  }

  it('encodes every IPv4 and IPv6 address', async () => {
    const groups = fc.array(fc.constantFrom(0, 1, 0xdb8, 0xffff), { minLength: 8, maxLength: 8 });
    const property = fc.asyncProperty(fc.ipV4(), groups, async (ipV4, ipV6) => {
      const { hostname: shortened } = new URL(`https://[${ipV6.map((group) => group.toString(16)).join(':')}]`);
      const { extensions } = await requestFor(['injector.mesh.svc', ipV4, shortened.slice(1, -1)]);
      const addresses = [ipV4.split('.').map(Number), ipV6.flatMap((group) => [group >> 8, group & 255])];
      const altNames = addresses.map((bytes) => [7, String.fromCharCode(...bytes)]);
      assert.deepEqual(extensions, [['subjectAltName', [[2, 'injector.mesh.svc'], ...altNames]]]);
    });
    await fc.assert(property);
  });
});

it('keyDigest depends only on the key and not on the encoding of the key', async () => {
  const keys = (await keyPool()).map(({ privateKeyPem }) => privateKeyPem);
  const again = keys.map((pem) => forge.pki.privateKeyToPem(forge.pki.privateKeyFromPem(pem)));
  assert.deepEqual(again.map(keyDigest), keys.map(keyDigest));
  assert.equal(new Set(keys.map(keyDigest)).size, keys.length);
});
