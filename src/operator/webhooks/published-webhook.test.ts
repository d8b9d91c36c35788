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
  it('returns the hashes that an InjectorConfig has as stable and as canary', () => {
    const live = configuration(service(rollout()), service('/tags/prod/blue/0123abce/inject'));
    assert.deepEqual(namedHashes(live, 'blue'), ['0123abcd', '0123abce']);
    assert.deepEqual(namedHashes(live, 'green'), ['4567cdef']);
    assert.deepEqual(namedHashes(live, 'red'), []);
  });
});

describe('liveRollout', () => {
  it('returns the rollout on which all of our webhooks agree', () => {
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
    ['a url with a path prefix', configuration({ url: 'https://h/x/revisions/blue/0123abcd/inject' }), '0123abcd'],
    ['webhooks with equal paths', configuration(one, one), '0123abcd'],
    ['webhooks with different paths', configuration(one, other), undefined],
    ['a webhook that has no path', configuration(one, {}), undefined],
    ['another InjectorConfig', configuration(service('/revisions/green/0123abcd/inject')), undefined],
    ['stable in a rollout', configuration(service(rollout())), '0123abcd'],
    ['stable in a shadow step', configuration(service(rollout('shadow'))), '0123abcd'],
    ['a path without a hash', configuration(service('/inject')), undefined],
  ];
  for (const [what, live, expected] of cases) {
    it(`returns ${expected ?? 'undefined'} for ${what}`, () => {
      assert.equal(publishedHash(live, 'blue'), expected);
    });
  }
});

describe('caBundlesOf', () => {
  it('decodes the caBundle of each of our webhooks, and skips webhooks of other clients', () => {
    const caBundle = Buffer.from('PEM').toString('base64');
    const ours = configuration({ caBundle }, {});
    const foreign = { name: 'evil.example.com', clientConfig: {} };
    assert.deepEqual(caBundlesOf({ ...ours, webhooks: [...ours.webhooks, foreign] }), ['PEM', '']);
    assert.deepEqual(caBundlesOf(undefined), []);
  });
});
