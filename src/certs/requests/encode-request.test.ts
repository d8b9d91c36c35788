import assert from 'node:assert/strict';
import fc from 'fast-check';
import forge from 'node-forge';
import { keyPool } from '../testdata/key-pool.ts';
import { encodeCertificateRequest, keyDigest } from './encode-request.ts';

/** What a signer reads of a request; of each name its type and its bytes, one per character. */
async function requestFor(names: string[]) {
  const [keys] = await keyPool();
  const pem = encodeCertificateRequest(keys!.privateKeyPem, names);
  assert.match(pem, /^-----BEGIN CERTIFICATE REQUEST-----\n[^\r]+\n-----END CERTIFICATE REQUEST-----\n$/);
  const request = forge.pki.certificationRequestFromPem(pem);
  assert.ok(request.verify());
  assert.deepEqual(request.publicKey, forge.pki.publicKeyFromPem(keys!.publicKeyPem));
  const attribute = request.getAttribute({ name: 'extensionRequest' }) as { extensions?: unknown } | null;
  const extensions = attribute?.extensions as { name: string; altNames: { type: number; value: string }[] }[];
  return {
    subject: request.subject.attributes.map(({ name, value }) => [name, value]),
    extensions: extensions.map(({ name, altNames }) => [name, altNames.map(({ type, value }) => [type, value])]),
  };
}

const ofLength = (length: number): string => 'a.'.repeat(99).slice(-length);

describe('encodeCertificateRequest', () => {
  const table: [string, string[], string | undefined][] = [
    ['several names', ['b.example.com', 'injector.mesh.svc', '*.example.com'], 'b.example.com'],
    ['a first name of 64 characters', [ofLength(64), 'injector.mesh.svc'], ofLength(64)],
    ['a first name of 65 characters', [ofLength(65), 'injector.mesh.svc'], undefined],
  ];
  for (const [what, names, commonName] of table) {
    it(`asks for ${what}, with no more of a subject than the common name where it fits`, async () => {
      const subject = commonName === undefined ? [] : [['commonName', commonName]];
      const extensions = [['subjectAltName', names.map((name) => [2, name])]];
      assert.deepEqual(await requestFor(names), { subject, extensions });
    });
  }

  it('asks for any IPv4 and IPv6 address', async () => {
    const groups = fc.array(fc.constantFrom(0, 1, 0xdb8, 0xffff), { minLength: 8, maxLength: 8 });
    const property = fc.asyncProperty(fc.ipV4(), groups, async (ipV4, ipV6) => {
      // Shortened as in the URL of a webhook.
      const { hostname } = new URL(`https://[${ipV6.map((group) => group.toString(16)).join(':')}]`);
      const { extensions } = await requestFor(['injector.mesh.svc', ipV4, hostname.slice(1, -1)]);
      const addresses = [ipV4.split('.').map(Number), ipV6.flatMap((group) => [group >> 8, group & 255])];
      const altNames = addresses.map((bytes) => [7, String.fromCharCode(...bytes)]);
      assert.deepEqual(extensions, [['subjectAltName', [[2, 'injector.mesh.svc'], ...altNames]]]);
    });
    await fc.assert(property);
  });
});

it('keyDigest is the same for a key however it is written, and another for every other key', async () => {
  const keys = (await keyPool()).map(({ privateKeyPem }) => privateKeyPem);
  const digests = keys.map(keyDigest);
  assert.deepEqual(
    keys.map((pem) => keyDigest(forge.pki.privateKeyToPem(forge.pki.privateKeyFromPem(pem)))),
    digests,
  );
  assert.equal(new Set(digests).size, keys.length);
  for (const digest of digests) assert.match(digest, /^[0-9a-f]{12}$/);
});
