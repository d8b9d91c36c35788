import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { issueAuthority } from '../issue-certificate.ts';
import { keyPool, seededBytes } from '../testdata/key-pool.ts';
import { readRequestSecret, writeRequestSecret, type RequestState } from './request-state.ts';

const now = new Date('2026-03-01T12:00:00.750Z');
const terms = { signerName: 'example.com/mesh', keySize: 2048, names: ['injector.mesh.svc'] };
const time = fc.date({ min: new Date(0), max: new Date('9999-12-31T00:00:00Z'), noInvalidDate: true });

describe('readRequestSecret', () => {
  let whole: Required<RequestState>;
  before(async () => {
    const keys = await keyPool();
    const issued = issueAuthority('tests', keys[0]!, { now, duration: 1e6, random: seededBytes(1) });
    const pending = { privateKeyPem: keys[1]!.privateKeyPem, terms, attempt: 2, since: now };
    whole = { issued: { ...issued, terms, takenAt: now }, pending };
  });

  it('reads back what writeRequestSecret writes, with and without each part', () => {
    const has = fc.subarray(['issued', 'pending', 'uid', 'seconds']);
    const property = fc.property(has, fc.string(), fc.nat(), time, (has, text, count, at) => {
      const seconds = has.includes('seconds') && { expirationSeconds: count };
      const terms = { signerName: text, keySize: count, names: [text, text], ...seconds };
      const uid = has.includes('uid') && { uid: text };
      const state: RequestState = {
        ...(has.includes('issued') && { issued: { ...whole.issued, terms, takenAt: at } }),
        ...(has.includes('pending') && { pending: { ...whole.pending, terms, attempt: count, since: at, ...uid } }),
      };
      const secret = writeRequestSecret(state);
      assert.deepEqual(readRequestSecret(secret), state);
      assert.doesNotMatch(secret['request.json'] ?? '', /PRIVATE KEY/);
    });
    fc.assert(property);
  });

  const ecKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' });
  const missing = (): undefined => undefined;
  const half = (text: string): string => text.slice(0, text.length / 2);
  const table: [string, string, (text: string) => string | undefined, (keyof RequestState)[]][] = [
    ['no record', 'request.json', missing, []],
    ['a truncated record', 'request.json', half, []],
    ['a record of a later version', 'request.json', (text) => text.replace('"version":1', '"version":2'), []],
    ['a record that lacks a time', 'request.json', (text) => text.replace(':00:00.750Z', ''), []],
    ['no certificate', 'tls.crt', missing, ['pending']],
    ['a truncated certificate', 'tls.crt', half, ['pending']],
    ['no key', 'tls.key', missing, ['pending']],
    ['an EC key', 'tls.key', () => ecKey as string, ['pending']],
    ['no pending key', 'pending.key', missing, ['issued']],
    ['an EC pending key', 'pending.key', () => ecKey as string, ['issued']],
  ];
  for (const [what, key, damage, remaining] of table) {
    it(`reads ${remaining.join() || 'no'} data from a Secret with ${what}`, () => {
      const { [key]: value = '', ...others } = writeRequestSecret(whole);
      const damaged = damage(value);
      const read = readRequestSecret(damaged === undefined ? others : { ...others, [key]: damaged });
      assert.deepEqual(read, Object.fromEntries(remaining.map((part) => [part, whole[part]])));
    });
  }

  it('never throws, for any content, and reads only terms that were written', () => {
    const text = writeRequestSecret(whole);
    const value = fc.oneof(fc.string(), fc.json(), fc.constantFrom(...Object.values(text)));
    const cut = fc.tuple(value, fc.nat(2000)).map(([all, length]) => all.slice(0, length));
    const property = fc.property(fc.dictionary(fc.constantFrom(...Object.keys(text)), cut), (damaged) => {
      const { issued, pending } = readRequestSecret({ ...text, ...damaged });
      assert.deepEqual([issued?.terms ?? terms, pending?.terms ?? terms], [terms, terms]);
    });
    fc.assert(property);
  });
});
