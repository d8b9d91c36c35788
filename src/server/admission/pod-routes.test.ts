import assert from 'node:assert/strict';
import type { InjectionRequest } from '../../inject/injection-request.ts';
import { injectRoute, readyRoute, revisionRoute } from './pod-routes.ts';
import { podCreation } from '../testdata/reviews.ts';
import { someSource } from '../testdata/some-injector.ts';

describe('revisionRoute', () => {
  const asked: InjectionRequest[] = [];
  const route = revisionRoute(someSource, {
    inject: (_, request) => {
      asked.push(request);
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
    it(`${JSON.stringify(path)} goes to the injector, with ${JSON.stringify(rest)}`, async () => {
      const resolved = route.resolve(path);
      assert.ok(resolved !== undefined && 'handler' in resolved);
      const decision = await resolved.handler(podCreation());
      assert.deepEqual(decision.injector, { name: 'default', hash: '0a1b2c3d' });
      assert.equal(asked.at(-1)?.path, rest);
    });
  }

  for (const path of [
    '/revisions/default/ffffffff/inject',
    '/revisions/other/0a1b2c3d/inject',
    '/tags/prod/default/ffffffff/inject',
    '/tags/default/other/0a1b2c3d/inject',
    '/revisions/default/x/inject/a/b',
  ]) {
    it(`${path} is unavailable, not unknown`, () => {
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
    it(`${path} is none of its paths`, () => {
      assert.equal(route.resolve(path), undefined);
    });
  }
});

describe("Istio's own path", () => {
  const route = injectRoute(() => undefined, {});
  it('is unavailable while nothing has been loaded, never not found', () => {
    assert.deepEqual(route.resolve('/inject'), { unavailable: 'this server has not loaded its configuration' });
  });

  for (const path of ['/', '/injection', '/revisions/a/b/inject', '/inject2/x']) {
    it(`is not ${path}`, () => {
      assert.equal(route.resolve(path), undefined);
    });
  }
});

describe('/readyz on the port of the webhook', () => {
  const status = (problem: string | undefined): number | undefined => {
    const target = readyRoute(() => problem).resolve('/readyz');
    return target !== undefined && 'page' in target ? target.page().status : undefined;
  };
  it('is one path, which answers 200 when nothing is missing, else 503', () => {
    assert.deepEqual([status(undefined), status('draining')], [200, 503]);
    assert.equal(readyRoute(() => undefined).resolve('/healthz'), undefined);
  });
});
