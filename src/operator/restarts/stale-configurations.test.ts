import assert from 'node:assert/strict';
import type { PodGroup } from '../usage/pod-group.ts';
import { staleConfigurations } from './stale-configurations.ts';

describe('staleConfigurations', () => {
  const group = (name: string, injectedBy: string, tag = 'prod', state = 'stale'): PodGroup =>
    ({
      traits: { namespace: 'shop', workload: { kind: 'Deployment', name }, injectedBy },
      judgements: [{ state, taker: { tag } }],
    }) as never;

  it('names what the stale pods of each workload have, each once', () => {
    const found = staleConfigurations('prod', [
      group('web', 'b.22222222'),
      group('web', 'a.11111111'),
      group('web', 'b.22222222,logs.33333333'),
      group('web', 'c.44444444', 'prod', 'current'),
      group('other', 'd.55555555', 'beta'),
      group('kube-injected', ''),
    ]);
    assert.deepEqual(
      [...found],
      [
        ['shop/Deployment/web', ['a.11111111', 'b.22222222', 'logs.33333333']],
        ['shop/Deployment/kube-injected', []],
      ],
    );
  });
});
