import assert from 'node:assert/strict';
import type { InjectionRequest } from '../../inject/injection-request.ts';
import { injectRoute, readyRoute, revisionRoute } from './pod-routes.ts';
import { podCreation } from '../testdata/reviews.ts';
import { someSource } from '../testdata/some-injector.ts';

describe('revisionRoute', () => {
  const requests: InjectionRequest[] = [];
  const route = revisionRoute(someSource, {
    inject: (_, request) => {
      requests.push(request);
      return { outcome: 'skipped', reason: 'PolicyDisabled', message: '', warnings: [] };
    },
  });

  for (const [path, rest] of [
    ['/revisions/default/0a1b2c3d/inject', '/inject'],
    ['/tags/prod/default/0a1b2c3d/inject', '/inject'],
    ['/tags/prod/default/0a1b2c3d/inject/cluster/c1', '/inject/cluster/c1'],
    ['/revisions/default/0a1b2c3d/inject/cluster/c1/net/n 1', '/inject/cluster/c1/net/n 1'],
    ['/revisions/default/0a1b2c3d/inject/:ENV:cluster=c1\n', '/inject/:ENV:cluster=c1\n'],
  ] as const) {
    it(`passes ${JSON.stringify(path)} to the injector as ${JSON.stringify(rest)}`, async () => {
      const resolved = route.resolve(path);
      assert.ok(resolved !== undefined && 'handler' in resolved);
      const decision = await resolved.handler(podCreation());
      assert.deepEqual(decision.injector, { name: 'default', hash: '0a1b2c3d' });
      assert.equal(requests.at(-1)?.path, rest);
    });
  }

  for (const path of [
    '/revisions/default/ffffffff/inject',
    '/revisions/other/0a1b2c3d/inject',
    '/tags/prod/default/ffffffff/inject',
    '/tags/default/other/0a1b2c3d/inject',
    '/revisions/default/x/inject/a/b',
  ]) {
    it(`reports ${path} as unavailable, not unknown`, () => {
      const resolved = route.resolve(path);
      assert.ok(resolved !== undefined && 'unavailable' in resolved);
      assert.match(resolved.unavailable, /^this replica has not loaded configuration \w+ of InjectorConfig \w+$/);
    });
  }

  for (const path of [
    '/',
    '/inject',
    '/revisions/default/0a1b2c3d',
    '/revisions/default/0a1b2c3d/injected',
    '/revisions//0a1b2c3d/inject',
    '/revisions/default/inject',
    '/tags/prod/0a1b2c3d/inject',
    '/tags//default/0a1b2c3d/inject',
    '/tags/prod/x/default/0a1b2c3d/inject',
    'x/revisions/default/0a1b2c3d/inject',
  ]) {
    it(`does not serve ${path}`, () => {
      assert.equal(route.resolve(path), undefined);
    });
  }
});

describe('injectRoute', () => {
  const route = injectRoute(() => undefined, {});
  it('is unavailable, not unknown, before a configuration is loaded', () => {
    assert.deepEqual(route.resolve('/inject'), { unavailable: 'this server has not loaded its configuration' });
  });

  for (const path of ['/', '/injection', '/revisions/a/b/inject', '/inject2/x']) {
    it(`does not serve ${path}`, () => {
      assert.equal(route.resolve(path), undefined);
    });
  }
});

describe('readyRoute', () => {
  const status = (problem: string | undefined): number | undefined => {
    const target = readyRoute(() => problem).resolve('/readyz');
    return target !== undefined && 'page' in target ? target.page().status : undefined;
  };
  it('serves only /readyz, with 200 or 503', () => {
    assert.deepEqual([status(undefined), status('draining')], [200, 503]);
    assert.equal(readyRoute(() => undefined).resolve('/healthz'), undefined);
  });
});
