import assert from 'node:assert/strict';
import fc from 'fast-check';
import { formatRoute, parseRoute, parseWebhookRoute, pathFormats, type Route, routeOf } from './route.ts';

/** Names that are also keywords of a path. */
const names = ['inject', 'shadow', 'tags', 'revisions', 'default', '1-24', '0123abcd', 'deadbeefdeadbeef', 'a'];
const name = fc.constantFrom(...names);
const hash = fc.stringMatching(/^[0-9a-f]{8}$/);
/** Generates objects with the usual prototype, as deepEqual expects. */
const noNullPrototype = { noNullPrototype: true };
const ref = fc.record({ injectorConfig: name, hash }, noNullPrototype);
const rollout = { canary: ref, threshold: fc.stringMatching(/^[0-9a-f]{16}$/), shadow: fc.boolean() };
const route: fc.Arbitrary<Route> = fc.oneof(
  fc.record({ stable: ref }, noNullPrototype),
  fc.record({ tag: name, stable: ref }, noNullPrototype),
  fc.record({ tag: name, stable: ref, ...rollout }, noNullPrototype),
);
const prefix = fc.constantFrom(
  '',
  'https://injector.example.com',
  'https://injector.example.com:8443/some/path',
  'https://[::1]/inject',
);
const stable = { injectorConfig: '1-24', hash: '0123abcd' };
const canary = { injectorConfig: 'inject', hash: '89abcdef' };
const threshold = '8000000000000000';
const moving = { tag: 'prod', stable, canary, threshold };

describe('formatRoute', () => {
  const cases: [path: string, route: Route][] = [
    ['/revisions/1-24/0123abcd/inject', { stable }],
    ['/tags/prod/1-24/0123abcd/inject', { tag: 'prod', stable }],
    ['/tags/prod/1-24/0123abcd/inject/89abcdef/8000000000000000/inject', { ...moving, shadow: false }],
    ['/tags/prod/1-24/0123abcd/inject/89abcdef/8000000000000000/shadow', { ...moving, shadow: true }],
  ];
  for (const [path, expected] of cases) {
    it(`writes ${path}`, () => {
      assert.equal(formatRoute(expected), path);
      assert.deepEqual(parseRoute(path), { route: expected, suffix: '' });
    });
  }
});

describe('parseRoute', () => {
  it('reads what formatRoute writes, with any suffix', () => {
    const key = fc.constantFrom('inject', 'shadow', 'cluster', 'c1', '', 'a\nb', 'tags');
    fc.assert(
      fc.property(route, fc.array(key, { maxLength: 4 }), (written, keys) => {
        const suffix = keys.map((each) => `/${each}`).join('');
        assert.deepEqual(parseRoute(formatRoute(written) + suffix), { route: written, suffix });
      }),
    );
  });

  it('reads an ambiguous path as the path of a rollout', () => {
    const path = `/tags/prod/1-24/0123abcd/inject/key/${threshold}/inject/more`;
    const expected = { ...moving, canary: { injectorConfig: 'inject', hash: 'key' }, shadow: false };
    assert.deepEqual(parseRoute(path), { route: expected, suffix: '/more' });
  });

  it('accepts any text as a hash', () => {
    assert.deepEqual(parseRoute('/revisions/1-24/x/inject')?.route, { stable: { injectorConfig: '1-24', hash: 'x' } });
  });

  for (const path of [
    '',
    '/',
    '/inject',
    'revisions/1-24/0123abcd/inject',
    '/prefix/revisions/1-24/0123abcd/inject',
    '/revisions/1-24/0123abcd',
    '/revisions/1-24/0123abcd/injected',
    '/revisions/1-24/0123abcd/shadow',
    '/revisions//0123abcd/inject',
    '/revisions/1-24//inject',
    '/tags//1-24/0123abcd/inject',
    '/tags/prod/1-24/0123abcd/shadow',
    '/tags/prod/1-24/0123abcd/1-25/89abcdef/800000000000000/inject',
    '/tags/prod/1-24/0123abcd/1-25/89abcdef/8000000000000000/other',
    '/tags/prod/1-24/0123abcd/1-25//8000000000000000/inject',
  ]) {
    it(`finds no route in "${path}"`, () => {
      assert.equal(parseRoute(path), undefined);
    });
  }
});

describe('parseWebhookRoute', () => {
  it('reads what formatRoute writes, behind any URL', () => {
    fc.assert(
      fc.property(prefix, route, (before, written) => {
        assert.deepEqual(parseWebhookRoute(before + formatRoute(written)), { route: written, prefix: before });
      }),
    );
  });

  for (const path of [
    '/revisions/1-24/0123abcg/inject',
    '/revisions/1-24/0123abcd/inject/cluster/c1',
    '/tags/prod/1-24/0123abcd/1-25/89abcde/8000000000000000/inject',
    'revisions/1-24/0123abcd/inject',
    'https://example.com/inject',
  ]) {
    it(`finds no route in "${path}"`, () => {
      assert.equal(parseWebhookRoute(path), undefined);
    });
  }
});

describe('routeOf', () => {
  it('reads a Service or a URL, and returns undefined if both are absent', () => {
    const path = formatRoute({ stable });
    assert.deepEqual(routeOf({ service: { path } }), { stable });
    assert.deepEqual(routeOf({ url: `https://example.com${path}` }), { stable });
    assert.equal(routeOf({}), undefined);
    assert.equal(routeOf(undefined), undefined);
  });
});

describe('pathFormats', () => {
  it('have unique names, and each reads only the paths that it writes', () => {
    assert.equal(new Set(pathFormats.map(({ name }) => name)).size, pathFormats.length);
    fc.assert(
      fc.property(fc.constantFrom(...pathFormats), route, ({ name: ours, write }, written) => {
        const parts = write(written).split('/');
        for (const { name: yours, read } of pathFormats) {
          const found = { route: written, end: parts.length };
          assert.deepEqual(read(parts, 1), ours === yours ? found : undefined);
        }
      }),
    );
  });
});
