import assert from 'node:assert/strict';
import { istioKeys } from '../../api/injector-config/webhook-keys.ts';
import { by, EditedUsage, Pods, selectingWebhook } from '../usage/testdata/counted-pods.ts';
import type { PodTraits } from '../usage/pod-traits.ts';
import { observePods } from './plan-rollout.ts';

const canary = { injectorConfig: 'new', hash: '22222222' };

/** Returns how `observePods` counts a pod with these traits: `[stable, canary]`. */
function observed(traits: Partial<PodTraits>): number[] {
  const usage = new EditedUsage();
  for (const name of ['old', 'new']) usage.setFamily(name, istioKeys);
  usage.setWebhook('tag-prod', selectingWebhook('old', { hash: '11111111', tag: 'prod' }));
  usage.setNamespace('shop', { 'istio.io/rev': 'prod' });
  usage.setPod(undefined, new Pods().record('a', traits));
  const { pods } = observePods('prod', usage.groupsOf('RevisionTag/prod'), { stable: 'old', canary });
  return [pods.stable.length, pods.canary.length];
}

describe('observePods', () => {
  const canaryFirst = 'new.22222222,old.11111111';
  const rows: [what: string, traits: Partial<PodTraits>, observed: number[]][] = [
    ['a stable pod', by('old.11111111'), [1, 0]],
    ['a pod of an earlier configuration of stable', by('old.00000000'), [1, 0]],
    ['a canary pod', by('new.22222222'), [0, 1]],
    ['a pod of an earlier canary', by('new.00000000'), [0, 0]],
    ['a stable pod whose author appended the canary', by('old.11111111,new.22222222'), [1, 0]],
    ['a stable pod whose author prepended the canary', { ...by('old.11111111'), injectedBy: canaryFirst }, [1, 0]],
    ['a pod that names the canary but has no injection status', { injectedBy: 'new.22222222' }, [0, 0]],
  ];
  for (const [what, traits, expected] of rows) {
    it(`counts ${what} as ${expected.join(' stable and ')} canary`, () => {
      assert.deepEqual(observed(traits), expected);
    });
  }
});
