import assert from 'node:assert/strict';
import { caBundlesOf, publishedHash } from './published-webhook.ts';

function configuration(...clientConfigs: object[]) {
  const webhooks = clientConfigs.map((clientConfig, index) => ({
    name: `w${index}.sidecar-injector.io`,
    clientConfig,
  }));
  return { apiVersion: 'v1', kind: 'M', metadata: {}, webhooks };
}
const service = (path: string): object => ({ service: { path } });

describe('publishedHash', () => {
  const cases: [
    what: string,
    configuration: ReturnType<typeof configuration> | undefined,
    expected: string | undefined,
  ][] = [
    ['no configuration', undefined, undefined],
    ['no webhooks', configuration(), undefined],
    ['a Service', configuration(service('/revisions/blue/0123abcd/inject')), '0123abcd'],
    ['a url with a path of its own', configuration({ url: 'https://h/x/revisions/blue/0123abcd/inject' }), '0123abcd'],
    [
      'several that agree',
      configuration(service('/revisions/blue/0123abcd/inject'), service('/revisions/blue/0123abcd/inject')),
      '0123abcd',
    ],
    [
      'several that differ',
      configuration(service('/revisions/blue/0123abcd/inject'), service('/revisions/blue/0123abce/inject')),
      undefined,
    ],
    ['one that leads elsewhere', configuration(service('/revisions/blue/0123abcd/inject'), {}), undefined],
    ['another InjectorConfig', configuration(service('/revisions/green/0123abcd/inject')), undefined],
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
