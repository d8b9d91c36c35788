import assert from 'node:assert/strict';
import { createPublicKey } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { issueAuthority, issueServingCertificate } from '../issue-certificate.ts';
import type { CertifiedKey, KeyPair } from '../key-pair.ts';
import { pemOf } from '../read-certificate.ts';
import { keyPool, pooledKeys, seededBytes } from '../testdata/key-pool.ts';
import { parsePair, verifyServingPair } from '../verify-chain.ts';
import { readRequestSecret, writeRequestSecret } from './request-state.ts';
import { backOff, decideRequest, type ObservedRequest, type RequestDecision } from './request-steps.ts';

const names = ['injector.mesh.svc'];
const random = seededBytes(1);
const firstTerms = { signerName: 'example.com/mesh', keySize: 2048, names };
const authorities = new Map<string, CertifiedKey>();
const otherTerms = [
  { signerName: 'example.com/other' },
  { keySize: 3072 },
  { names: [...names, 'more.svc'] },
  { expirationSeconds: 600 },
];

/** A signer, the Secret, and operators that may stop at any time; checks every decision. */
class World {
  now = Date.UTC(2026, 0, 1);
  stored: Readonly<Record<string, string>> = {};
  terms = firstTerms;
  trusted = ['root'];
  last!: RequestDecision;
  /** The last request: terms, earlier failures (-1 after a success), time of the next request. */
  requested: { terms?: object; attempt: number; nextAt: number } = { attempt: -1, nextAt: 0 };
  /** The requests, by private key. */
  readonly requests = new Map<string, ObservedRequest>();
  /** The private keys whose requests an operator has observed and recorded. */
  readonly #seen = new Set<string>();
  readonly #pooled = pooledKeys();
  #count = 0;

  /** Runs a pass that stops after `writes` of three writes: Secret, request, deletion. */
  async pass(writes: number): Promise<void> {
    const { now: at, requested, terms } = this;
    const [now, before] = [new Date(at), readRequestSecret(this.stored)];
    const observed = before.pending && this.requests.get(before.pending.privateKeyPem);
    const trustPem = this.trusted.map((name) => authorities.get(name)!.certificatePem).join('');
    // Prefixes each key with a number, since the pool repeats its keys.
    const name = (pair: KeyPair) => ({ ...pair, privateKeyPem: `key${++this.#count}\n${pair.privateKeyPem}` });
    this.last = await decideRequest({
      ...{ state: before, observed, terms, trustPem, now, calledName: names[0]! },
      generateKeyPair: async () => name(await this.#pooled()),
      ...{ origin: 'signer', renewalFraction: 0.5, timeScale: 1 },
    });
    const { given, mustCreate, replaced, state } = this.last;
    const { issued, pending } = state;
    const key = pending?.privateKeyPem ?? '';
    const textOf = ({ chain, privateKeyPem }: typeof given & {}) => ({ certificatePem: pemOf(chain), privateKeyPem });
    const faultsOf = (pair: CertifiedKey) => verifyServingPair(parsePair({ ...pair, caPem: trustPem }), { now, names });
    assert.deepEqual(given && faultsOf(textOf(given)), given && []);
    assert.equal(
      given && textOf(given).certificatePem,
      issued && faultsOf(issued).length === 0 ? issued.certificatePem : undefined,
    );
    const isOther = !isDeepStrictEqual(requested.terms, terms);
    const isNeeded = isOther || (requested.attempt < 0 && before.issued === undefined);
    const isAnother = pending !== undefined && key !== before.pending?.privateKeyPem;
    if (isAnother) assert.ok(isNeeded || at >= requested.nextAt, 'another request is made too early');
    if (writes > 0) {
      const isTaken = issued?.privateKeyPem !== before.issued?.privateKeyPem;
      if (isTaken) this.requested = { ...requested, attempt: -1, nextAt: at + 10_000 };
      const attempt = isOther ? 0 : requested.attempt + 1;
      if (isAnother) this.requested = { terms, attempt, nextAt: at + Math.min(10_000 * 2 ** attempt, 3_600_000) };
      if (observed !== undefined) this.#seen.add(before.pending!.privateKeyPem);
      this.stored = writeRequestSecret(state);
    }
    if (writes > 1 && mustCreate) {
      assert.equal(readRequestSecret(this.stored).pending?.privateKeyPem, key, 'the key is not stored');
      assert.ok(!this.#seen.has(key), 'a new request reuses the same key');
      if (!this.requests.has(key)) this.requests.set(key, { uid: 'uid', verdict: 'Waiting', message: '' });
    }
    if (writes > 2) this.requests.delete(replaced?.privateKeyPem ?? '');
  }

  /** Sets the answer to the request whose private key is stored. */
  answer(answer: Partial<ObservedRequest>): void {
    const { 'pending.key': key = '' } = this.stored;
    const request = this.requests.get(key);
    if (request !== undefined) this.requests.set(key, { ...request, ...answer });
  }

  async sign(how = 'root', seconds = '1000'): Promise<void> {
    const { 'pending.key': key = '' } = this.stored;
    if (!this.requests.has(key)) return;
    const privateKeyPem = how === 'wrongKey' ? (await keyPool())[7]!.privateKeyPem : key;
    const publicKeyPem = createPublicKey(privateKeyPem).export({ type: 'spki', format: 'pem' }) as string;
    const called = { service: how === 'wrongName' ? 'other' : 'injector', namespace: 'mesh' };
    const options = { now: new Date(this.now), duration: Number(seconds) * 1000, random };
    const authority = authorities.get(how) ?? authorities.get('root')!;
    const { certificatePem } = issueServingCertificate(authority, called, { privateKeyPem, publicKeyPem }, options);
    this.answer({ verdict: 'Approved', certificatePem });
  }
}

/** The events that tests name, with their arguments. */
const events: Readonly<Record<string, (world: World, ...args: string[]) => unknown>> = {
  pass: (world, writes = '3') => world.pass(Number(writes)),
  wait: (world, seconds) => (world.now += Number(seconds) * 1000),
  mark: (world, verdict) => world.answer({ verdict: verdict as ObservedRequest['verdict'], message: 'no' }),
  remove: (world) => world.requests.delete(world.stored['pending.key'] ?? ''),
  sign: (world, ...how) => world.sign(...how),
  trust: (world, ...names) => (world.trusted = names),
  terms: (world, index) => (world.terms = { ...firstTerms, ...otherTerms[Number(index)] }),
  damage: (world, key = '') => {
    world.stored = { ...world.stored, [key]: 'damaged' };
    world.requested = { attempt: -1, nextAt: 0 };
  },
};

/**
 * Runs the events and summarizes the last decision: the serving key, the pending request, the
 * actions, and the seconds until the next pass.
 */
async function decided(world: World, script: string): Promise<string> {
  for (const each of script.split(', ')) {
    const [name = '', ...args] = each.split(' ');
    await events[name]!(world, ...args);
  }
  const { state, given, mustCreate, progress, replaced, nextAt } = world.last;
  const nameOf = (holder?: { privateKeyPem: string }) => holder?.privateKeyPem.split('\n')[0];
  const parts = [
    given && `${nameOf(given)} serves`,
    progress && `${nameOf(state.pending)} ${progress.outcome} after ${state.pending?.attempt}`,
    mustCreate && 'make',
    replaced && `drop ${nameOf(replaced)}`,
    nextAt && `in ${(nextAt.getTime() - world.now) / 1000}`,
  ];
  return parts.filter(Boolean).join(', ');
}

describe('decideRequest', () => {
  before(async () => {
    const options = { now: new Date(Date.UTC(2026, 0, 1)), duration: 1e10, random };
    const [root, unrelated] = await keyPool();
    authorities.set('root', issueAuthority('root', root!, options));
    authorities.set('unrelated', issueAuthority('unrelated', unrelated!, options));
  });

  const next = 'key2 New after 0, make, in 10';
  const table: [string, string][] = [
    ['pass', 'key1 New after 0, make, in 10'],
    ['pass 0, pass', next],
    ['pass 1, wait 9000, pass', 'key1 New after 0, make'],
    ['pass, wait 9000, pass', 'key1 Waiting after 0'],
    ['pass, mark Approved, wait 9000, pass', 'key1 Approved after 0'],
    // The renewal is due after half of the lifetime that remains when the certificate is taken.
    ['pass, sign, wait 200, pass', 'key1 serves, in 400'],
    ['pass, sign root 12, pass', 'key1 serves, in 10'],
    ['pass, sign, pass, wait 500, pass', `key1 serves, ${next}`],
    ['pass, sign, pass, wait 500, pass, sign, pass', 'key2 serves, in 500'],
    ['pass, sign, pass, wait 1000, pass', next],
    ['pass, sign, terms 0, pass', `key1 serves, ${next}`],
    ['pass, mark Denied, wait 10, pass, terms 0, pass', 'key3 New after 0, make, drop key2, in 10'],
    ['pass, sign, pass, trust unrelated, pass', 'in 10'],
    ['pass, sign, pass, trust unrelated, wait 10, pass', next],
    ['pass, terms 2, pass, sign, pass, terms, pass', 'key2 serves, in 500'],
    ['pass, sign root 4, pass, wait 5, pass', 'in 5'],
    ['pass, sign unrelated, pass, trust root unrelated, pass', 'key1 serves, in 500'],
    ['pass, damage request.json, pass', next],
    ['pass, sign, pass, damage tls.crt, pass', next],
    ['pass, sign, pass, wait 500, pass, damage pending.key, pass', 'key1 serves, key3 New after 0, make, in 10'],
  ];
  for (const index of otherTerms.keys()) table.push([`pass, sign, pass, terms ${index}, pass`, `key1 serves, ${next}`]);
  for (const [script, decision] of table) {
    it(`after "${script}": ${decision}`, async () => assert.equal(await decided(new World(), script), decision));
  }

  const faults: [string, string, RegExp][] = [
    ['mark Denied', 'Denied', /^no$/],
    ['mark Failed', 'Failed', /^no$/],
    ['remove', 'Removed', /^$/],
    ['sign wrongKey', 'KeyMismatch', /private key/],
    ['sign wrongName', 'NameMissing', /"injector\.mesh\.svc"/],
    ['sign unrelated', 'Untrusted', /authority/],
    ['sign root 0', 'Expired', /expired at/],
  ];
  for (const [script, outcome, message] of faults) {
    it(`reports ${outcome} after "${script}", and requests with a new key after the back-off`, async () => {
      const world = new World();
      assert.equal(await decided(world, `pass, pass, ${script}, wait 9, pass`), `key1 ${outcome} after 0, in 1`);
      assert.match(world.last.progress?.message ?? '-', message);
      assert.equal(await decided(world, 'wait 1, pass'), 'key2 New after 1, make, drop key1, in 20');
    });
  }

  it('doubles the back-off after each failed request, to at most one hour', async () => {
    const world = new World();
    for (const [attempt, seconds] of [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600].entries()) {
      const expected = `key${attempt + 1} Denied after ${attempt}, in ${seconds}`;
      assert.equal(await decided(world, 'pass, mark Denied, pass'), expected);
      assert.equal(backOff(attempt, 10), seconds * 100);
      await decided(world, `wait ${seconds}`);
    }
  });

  it('provides only valid pairs, respects the back-off, and recovers soon once the signer works', async () => {
    const passes = 'pass, pass, pass, pass 0, pass 1, pass 2, wait 3, wait 10, wait 40, wait 600, wait 4000';
    const answers =
      'mark Approved, mark Denied, mark Failed, remove, sign, sign, sign root 15, sign unrelated, sign wrongKey';
    const changes = 'terms 0, terms 3, terms, trust root, trust unrelated, trust root unrelated, damage request.json';
    const event = [passes, answers, passes, answers, changes].map((some) => fc.constantFrom(...some.split(', ')));
    const property = fc.asyncProperty(fc.array(fc.oneof(...event), { maxLength: 40 }), async (script) => {
      const world = new World();
      await decided(world, ['pass', ...script, 'trust root', 'pass'].join(', '));
      const isDone = () => world.last.progress === undefined && world.last.given !== undefined;
      for (let passes = 1; passes < 4 && !isDone(); passes++) {
        if (world.last.progress?.retryAt === undefined) await world.sign();
        world.now = Math.max(world.now, world.last.nextAt?.getTime() ?? 0);
        await world.pass(3);
      }
      const { given, state } = world.last;
      assert.deepEqual([given?.origin, state.issued?.terms, state.pending], ['signer', world.terms, undefined]);
    });
    await fc.assert(property, { numRuns: 150 });
  });
});
