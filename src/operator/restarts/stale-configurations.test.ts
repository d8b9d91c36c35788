import assert from 'node:assert/strict';
import { staleConfigurations } from './stale-configurations.ts';
import { pods } from './testdata/situation.ts';

describe('staleConfigurations', () => {
  it('names what the stale pods of a workload have, each once', () => {
    const groups = [
      { group: pods('web', { carried: 'b.22222222' }), state: 'stale' },
      { group: pods('web', { carried: 'a.11111111' }), state: 'stale' },
      { group: pods('web', { carried: 'b.22222222,logs.33333333' }), state: 'stale' },
      { group: pods('web', { carried: 'c.44444444' }), state: 'current' },
      { group: pods('web', { carried: '' }), state: 'stale' },
    ] as const;
    assert.deepEqual(staleConfigurations(groups), ['a.11111111', 'b.22222222', 'logs.33333333']);
  });
});
