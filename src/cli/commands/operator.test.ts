import assert from 'node:assert/strict';
import type { KubeConfig } from '../../kube/kube-config.ts';
import { ownNamespace } from './operator.ts';

describe("the operator's own namespace", () => {
  const config = (namespace?: string) =>
    ({ getCurrentContext: () => 'c', getContextObject: () => ({ namespace }) }) as unknown as KubeConfig;
  const before = process.env['POD_NAMESPACE'];
  afterEach(() => {
    if (before === undefined) delete process.env['POD_NAMESPACE'];
    else process.env['POD_NAMESPACE'] = before;
  });

  it('comes from the flag, else from the pod, else from the context', () => {
    process.env['POD_NAMESPACE'] = 'pod';
    assert.equal(ownNamespace('flag', config('context')), 'flag');
    assert.equal(ownNamespace(undefined, config('context')), 'pod');
    delete process.env['POD_NAMESPACE'];
    assert.equal(ownNamespace(undefined, config('context')), 'context');
  });

  it('is required', () => {
    delete process.env['POD_NAMESPACE'];
    assert.throws(() => ownNamespace(undefined, config()), /--namespace: name the operator's namespace/);
    assert.throws(() => ownNamespace('', config()), /--namespace/);
  });
});
