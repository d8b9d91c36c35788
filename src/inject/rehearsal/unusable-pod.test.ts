import assert from 'node:assert/strict';
import type { JsonObject } from '../patch/json-value.ts';
import { whyUnusable } from './unusable-pod.ts';

describe('whyUnusable', () => {
  const app = { name: 'app', image: 'a' };
  const before = { spec: { containers: [app] } };
  const withSidecar = (sidecar: JsonObject, spec: JsonObject = {}): JsonObject => ({
    spec: { ...spec, containers: [app, { name: 'sidecar', image: 'b', ...sidecar }] },
  });
  const cases: [title: string, after: JsonObject, why: RegExp | undefined][] = [
    ['a usable pod', withSidecar({ args: ['<no value>'] }), undefined],
    [
      'an image without value',
      withSidecar({ image: 'hub/<no value>:1' }),
      /^spec\.containers\[1\]\.image of .*"<no value>"/,
    ],
    [
      'a path without value',
      withSidecar({ volumeMounts: [{ name: 'a', mountPath: '/<no value>' }] }, { volumes: [{ name: 'a' }] }),
      /mountPath of/,
    ],
    ['a variable without name', withSidecar({ env: [{ name: '<no value>' }] }), /env\[0\]\.name of/],
    [
      'a pull secret without name',
      withSidecar({}, { imagePullSecrets: [{}] }),
      /^spec\.imagePullSecrets\[0\]\.name of/,
    ],
    ['a pod that the API server refuses', withSidecar({ image: '' }), /^the API server refuses .*: Required value$/],
  ];
  for (const [title, after, why] of cases)
    it(`judges ${title}`, () => {
      if (why === undefined) assert.equal(whyUnusable(before, after), undefined);
      else assert.match(whyUnusable(before, after)?.message ?? '', why);
      assert.equal(whyUnusable(after, after), undefined);
    });
});
