import assert from 'node:assert/strict';
import { shownOwner } from './workload-behind.ts';

describe('shownOwner', () => {
  const rows: [kind: unknown, name: unknown, shown: string][] = [
    ['Deployment', 'web', 'Deployment/web'],
    ['My-Kind2', 'a.b-c.9', 'My-Kind2/a.b-c.9'],
    ['Pod', 'one-', 'Pod/one-'],
    ['Pod', '', 'Pod/'],
    ['Pod', 'x;-', 'Pod/INVALID'],
    ['Deployment', 'web\u0080', 'Deployment/INVALID'],
    ['Deployment', 'web\n', 'Deployment/INVALID'],
    ['Deployment', 'Web', 'Deployment/INVALID'],
    ['Deployment', 'a/b', 'Deployment/INVALID'],
    ['Deployment', 'a'.repeat(254), 'Deployment/INVALID'],
    ['a/b', 'web', 'INVALID/web'],
    ['\u017fet', 'web', 'INVALID/web'],
    ['K'.repeat(64), 'web', 'INVALID/web'],
    [7, undefined, 'INVALID/INVALID'],
  ];
  for (const [given, called, shown] of rows) {
    it(`shows ${JSON.stringify([given, called]).slice(0, 40)} as ${shown}`, () => {
      assert.equal(Object.values(shownOwner(given, called)).join('/'), shown);
    });
  }
});
