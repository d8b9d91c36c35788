import assert from 'node:assert/strict';
import { pemOf, readChain } from '../read-certificate.ts';
import { readRotationSecret, writeRotationSecret, type ReadRotationState, type SecretText } from './rotation-secret.ts';
import type { RotationState } from './rotation-state.ts';
import { World } from '../testdata/world.ts';

const terms = { issuedAt: new Date('2029-01-01T00:00:00Z'), duration: 1000, keySize: 2048, jitter: 0.5 };
const defaults = {
  leaf: terms,
  authority: { ...terms, duration: 2000 },
  retireAfter: new Date('2030-01-01T00:00:00Z'),
};
const read = (data: SecretText): ReadRotationState => readRotationSecret(data, defaults);

function without(key: string): (data: SecretText) => SecretText {
  return (data) => Object.fromEntries(Object.entries(data).filter(([name]) => name !== key));
}

const retired = (authority: RotationState['retiring'][number] | undefined) =>
  authority && [pemOf(authority.chain), authority.retireAfter];

describe('the Secret of a rotation', () => {
  /** A Secret with every part: a signing, a staged and a retiring authority, and a leaf. */
  let whole: SecretText;

  before(async () => {
    const world = new World();
    await world.pass();
    const seen = async (part: string): Promise<void> => {
      while (world.stored?.[part] === undefined) {
        world.advance(Math.max(world.last!.nextAt.getTime() - world.now, 0));
        await world.pass();
      }
    };
    await seen('retiring.crt');
    // A longer caDuration stages the next authority while the previous authority still retires.
    world.policy = { ...world.policy, caDuration: world.policy.caDuration + 1000 };
    await seen('staged.crt');
    whole = world.stored!;
  });

  it('stores every part under its own key', () => {
    const keys = 'ca.crt ca.key retiring.crt rotation.json staged.crt staged.key tls.crt tls.key';
    assert.equal(Object.keys(whole).sort().join(' '), keys);
    assert.doesNotMatch(whole['rotation.json']!, /PRIVATE/);
  });

  it('reads the state that was written', () => {
    const { state, faults } = read(whole);
    assert.deepEqual(faults, []);
    assert.deepEqual(writeRotationSecret(state), whole);
    assert.equal(state.authority?.publishedAt instanceof Date, true);
    assert.equal(state.authority?.lastLeafNotAfter instanceof Date, true);
  });

  /** A title, a damage, the reported fault, and the remaining state. */
  const damages: [string, (data: SecretText) => SecretText, RegExp, (state: RotationState) => [unknown, unknown]][] = [
    [
      'retires an authority without its key',
      without('ca.key'),
      /^ca\.key is missing, is not RSA, or does not belong/,
      ({ authority, retiring }) => [
        [authority, retired(retiring[1])],
        [undefined, [whole['ca.crt'], defaults.retireAfter]],
      ],
    ],
    [
      'retires an authority with the wrong key',
      (data) => ({ ...data, 'ca.key': data['tls.key']! }),
      /^ca\.key is missing, is not RSA, or does not belong/,
      ({ retiring }) => [retiring.length, 2],
    ],
    [
      'reports a missing authority',
      without('ca.crt'),
      /^ca\.crt is missing/,
      ({ authority, staged, leaf, retiring }) => [
        [authority, pemOf(staged?.chain ?? []), pemOf(leaf?.chain ?? []), retiring.length],
        [undefined, whole['staged.crt'], whole['tls.crt'], 1],
      ],
    ],
    [
      'does not use a foreign authority',
      (data) => ({ ...data, 'ca.crt': data['staged.crt']!, 'ca.key': data['staged.key']! }),
      /^ca\.crt is not the certificate recorded in rotation\.json/,
      ({ authority }) => [authority, undefined],
    ],
    [
      'keeps all other parts if the leaf is truncated',
      (data) => ({ ...data, 'tls.crt': data['tls.crt']!.slice(0, 400) }),
      /^tls\.crt is missing or not a certificate/,
      ({ authority, leaf }) => [
        [pemOf(authority?.chain ?? []), leaf],
        [whole['ca.crt'], undefined],
      ],
    ],
    [
      'reports a missing retiring authority',
      without('retiring.crt'),
      /^retiring\.crt lacks 1 of the 1 certificates/,
      ({ retiring }) => [retiring, []],
    ],
    [
      'replaces missing times with safe defaults',
      without('rotation.json'),
      /^rotation\.json is missing or damaged/,
      ({ authority, leaf, retiring }) => [
        [authority?.publishedAt, authority?.lastLeafNotAfter, leaf?.terms, authority?.terms, retiring.map(retired)],
        [
          ...[undefined, defaults.retireAfter, defaults.leaf, defaults.authority],
          [[whole['retiring.crt'], defaults.retireAfter]],
        ],
      ],
    ],
  ];
  for (const [what, damage, fault, remaining] of damages) {
    it(what, () => {
      const { state, faults } = read(damage(whole));
      assert.equal(faults.length, 1);
      assert.match(faults[0]!, fault);
      const [found, expected] = remaining(state);
      assert.deepEqual(found, expected);
    });
  }

  for (const json of ['null', '[]', '{}', '{"version":2,"retiring":[]}', '{"version":1,"retiring":[{}]}', '{']) {
    it(`does not trust a record like ${json}`, () => {
      assert.deepEqual(read({ ...whole, 'rotation.json': json }).faults, ['rotation.json is missing or damaged']);
    });
  }

  it('does not sign with an authority whose key is not RSA', () => {
    const certificate = `-----BEGIN CERTIFICATE-----
MIIBbzCCARWgAwIBAgIUFSS+ZvzJiO11dfP4gi5lr1TmDz0wCgYIKoZIzj0EAwIw
DDEKMAgGA1UEAwwBZTAgFw0yNjExMjMxNzQzMjdaGA8yMTI2MTAzMDE3NDMyN1ow
DDEKMAgGA1UEAwwBZTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABDFgeUWXXhtB
qiJNXhK/9gxbc2aBFw8SQ4uDTTWruRd9e3JORFjT5i5+YONayrfoihzeSKjliv6e
fdLSbaKt0tyjUzBRMB0GA1UdDgQWBBSXN8AjZEXhx210kpiVZdVRqE4VhTAfBgNV
HSMEGDAWgBSXN8AjZEXhx210kpiVZdVRqE4VhTAPBgNVHRMBAf8EBTADAQH/MAoG
CCqGSM49BAMCA0gAMEUCICvKuosZExKkM8OQBOKdFecm5HCsBLAjD6YVzLnMRReU
AiEAgzlvSkb64LQL9A+vwoHPeQMp6IIVvAD3tyUsF3Cd8tQ=
-----END CERTIFICATE-----
`;
    const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgfTAvGpLlXf8WPjD4
mNBzZWKjF99GXrMIKtuzZBpphbChRANCAAQxYHlFl14bQaoiTV4Sv/YMW3NmgRcP
EkOLg001q7kXfXtyTkRY0+YufmDjWsq36Ioc3kio5Yr+nn3S0m2irdLc
-----END PRIVATE KEY-----
`;
    const { state, faults } = read({ 'ca.crt': certificate, 'ca.key': key });
    assert.deepEqual([state.authority, state.retiring.length], [undefined, 1]);
    assert.match(faults[1] ?? '', /ca\.key .* is not RSA/);
  });

  it('reads an empty state when no part is readable', () => {
    assert.deepEqual(read({}), { state: { retiring: [] }, faults: ['rotation.json is missing or damaged'] });
  });

  it('keeps the intermediates of a leaf', () => {
    const { state } = read(whole);
    const leaf = { ...state.leaf!, chain: readChain(whole['tls.crt']! + whole['ca.crt']!) };
    const again = read(writeRotationSecret({ ...state, leaf }));
    assert.equal(again.state.leaf!.chain.length, 2);
  });
});
