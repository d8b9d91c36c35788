import assert from 'node:assert/strict';
import { caBundlesOf, namedHashes, publishedHash, liveRollout } from './published-webhook.ts';

function configuration(...clientConfigs: object[]) {
  const named = clientConfigs.map((clientConfig, index) => ({ name: `w${index}.sidecar-injector.io`, clientConfig }));
  return { apiVersion: 'v1', kind: 'M', metadata: {}, webhooks: named };
}
type Configuration = ReturnType<typeof configuration>;
const service = (path: string): object => ({ service: { path } });

const rollout = (way = 'inject'): string => `/tags/prod/blue/0123abcd/green/4567cdef/8000000000000000/${way}`;

describe('namedHashes', () => {
  it('has both sides of a rollout, each for its own InjectorConfig', () => {
    const given = configuration(service(rollout()), service('/tags/prod/blue/0123abce/inject'));
    assert.deepEqual(namedHashes(given, 'blue'), ['0123abcd', '0123abce']);
    assert.deepEqual(namedHashes(given, 'green'), ['4567cdef']);
    assert.deepEqual(namedHashes(given, 'red'), []);
  });
});

describe('liveRollout', () => {
  it('is what all of our webhooks say', () => {
    assert.equal(liveRollout(configuration(service(rollout()), service(rollout())))?.canary.injectorConfig, 'green');
    assert.equal(liveRollout(configuration(service(rollout('shadow'))))?.shadow, true);
    assert.equal(liveRollout(configuration(service(rollout()), service(rollout('shadow')))), undefined);
    assert.equal(liveRollout(configuration(service('/tags/prod/blue/0123abcd/inject'))), undefined);
    assert.equal(liveRollout(undefined), undefined);
  });
});

describe('publishedHash', () => {
  const one = service('/revisions/blue/0123abcd/inject');
  const other = service('/revisions/blue/0123abce/inject');
  const cases: [what: string, configuration: Configuration | undefined, expected: string | undefined][] = [
    ['no configuration', undefined, undefined],
    ['no webhooks', configuration(), undefined],
    ['a Service', configuration(one), '0123abcd'],
    ['a url with a path of its own', configuration({ url: 'https://h/x/revisions/blue/0123abcd/inject' }), '0123abcd'],
    ['several that agree', configuration(one, one), '0123abcd'],
    ['several that differ', configuration(one, other), undefined],
    ['one that leads elsewhere', configuration(one, {}), undefined],
    ['another InjectorConfig', configuration(service('/revisions/green/0123abcd/inject')), undefined],
    ['the stable side of a rollout', configuration(service(rollout())), '0123abcd'],
    ['a rollout tried in shadow', configuration(service(rollout('shadow'))), '0123abcd'],
    ['something else', configuration(service('/inject')), undefined],
  ];
  for (const [what, given, expected] of cases) {
    it(`${what}: ${expected ?? 'none'}`, () => {
      assert.equal(publishedHash(given, 'blue'), expected);
    });
  }
});

describe('caBundlesOf', () => {
  it('decodes the bundle of each of our webhooks, and leaves out what somebody added', () => {
    const caBundle = Buffer.from('PEM').toString('base64');
    const ours = configuration({ caBundle }, {});
    const foreign = { name: 'evil.example.com', clientConfig: {} };
    assert.deepEqual(caBundlesOf({ ...ours, webhooks: [...ours.webhooks, foreign] }), ['PEM', '']);
    assert.deepEqual(caBundlesOf(undefined), []);
  });
});
