import assert from 'node:assert/strict';
import type { InjectionRequest } from '../../inject/injection-request.ts';
import { revisionRoute } from './pod-routes.ts';
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
      assert.match(resolved.unavailable, /^this replica does not serve configuration \w+ of \w+ \(yet\)$/);
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
