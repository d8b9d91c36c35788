import assert from 'node:assert/strict';
import { restartBounds } from './rollout-strategy.ts';
import { revisionTag } from '../testdata/revision-tag.ts';

describe('restartBounds', () => {
  const boundsOf = (strategy: object) => restartBounds(revisionTag('prod', { strategy }).spec.strategy ?? {});

  it('are those of the spec', () => {
    assert.equal(boundsOf({ restart: { perNamespace: 4 } }).perNamespace, 4);
  });

  it('are the defaults where only a rollback restarts anything', () => {
    assert.deepEqual(boundsOf({ rollback: { restart: 'Canary' } }), boundsOf({ restart: {} }));
  });
});
