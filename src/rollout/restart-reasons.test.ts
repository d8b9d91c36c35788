import assert from 'node:assert/strict';
import { whyDenied } from './restart-reasons.ts';

describe('whyDenied', () => {
  it('lets a namespace allow updates, which is also the default', () => {
    assert.deepEqual([whyDenied(undefined), whyDenied('allow')], [undefined, undefined]);
  });

  for (const [value, message] of [
    ['deny', 'annotation sidecar-injector.io/updates of its namespace is deny: recreate its pods yourself'],
    [
      'Allow',
      'annotation sidecar-injector.io/updates of its namespace must be allow or deny, and is "Allow": correct it',
    ],
    ['', 'annotation sidecar-injector.io/updates of its namespace must be allow or deny, and is "": correct it'],
  ] as const) {
    it(`does not update the pods of a namespace with ${JSON.stringify(value)}`, () => {
      assert.deepEqual(whyDenied(value), { reason: 'Denied', message });
    });
  }
});
