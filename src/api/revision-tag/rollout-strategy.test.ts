import assert from 'node:assert/strict';
import { restartBounds } from './rollout-strategy.ts';
import { revisionTag } from '../testdata/revision-tag.ts';

describe('restartBounds', () => {
  const boundsOf = (strategy: object) => restartBounds(revisionTag('prod', { strategy }).spec.strategy ?? {});

  it('returns the limits of the spec', () => {
    assert.equal(boundsOf({ restart: { perNamespace: 4 } }).perNamespace, 4);
  });

  it('returns the defaults if only a rollback restarts workloads', () => {
    assert.deepEqual(boundsOf({ rollback: { restart: 'Canary' } }), boundsOf({ restart: {} }));
  });
});
