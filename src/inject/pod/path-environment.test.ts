import assert from 'node:assert/strict';
import { parsePathEnvironment } from './path-environment.ts';

describe('parsePathEnvironment', () => {
  const rows: [path: string, environment: Record<string, string>][] = [
    ['', {}],
    ['/', {}],
    ['/inject', {}],
    ['/inject/', {}],
    ['/inject/cluster/east/net/n-1', { ISTIO_META_CLUSTER_ID: 'east', ISTIO_META_NETWORK: 'n-1' }],
    ['/inject/cluster/a--slash--b/', { ISTIO_META_CLUSTER_ID: 'a/b' }],
    ['/inject/zone/z/leftover', { ZONE: 'z' }],
    ['/inject/:ENV:cluster=east:ENV:root=/a/b:ENV:=x:ENV:flag', { ISTIO_META_CLUSTER_ID: 'east', ROOT: '/a/b' }],
    ['/inject/:ENV:empty=', { EMPTY: '' }],
    ['/inject//x', {}],
    ['/inject/zone/a%2', { ZONE: 'a%2' }],
  ];
  for (const [path, environment] of rows) {
    it(`reads ${JSON.stringify(path)}`, () => {
      assert.deepEqual(Object.fromEntries(parsePathEnvironment(path)), environment);
    });
  }
});
