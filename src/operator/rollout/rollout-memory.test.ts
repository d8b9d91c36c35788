import assert from 'node:assert/strict';
import type { RolloutRoute } from '../../routing/route.ts';
import { noWorkload } from '../../routing/workload-key.ts';
import type { RolloutState } from '../../api/revision-tag/revision-tag.ts';
import { isInForce, knownState, rolloutOf, withShare } from './plan-rollout.ts';

const old = { revision: 'old', injectorConfig: 'old', hash: '0000000a' };
const next = { revision: 'next', injectorConfig: 'next', hash: '0000000b' };
const other = { revision: 'other', injectorConfig: 'other', hash: '0000000c' };
const named = ({ injectorConfig, hash }: typeof old) => ({ injectorConfig, hash });
const [quarter, half] = ['4000000000000000', '8000000000000000'] as const;
const nobody = { ready: 0, failing: 0, total: 0 };

function state(fields: Partial<RolloutState>): RolloutState {
  return {
    phase: 'Progressing',
    reason: 'StepStarted',
    message: '',
    stable: old,
    weight: 20,
    threshold: quarter,
    shadow: false,
    knownWorkloads: 10,
    canaryWorkloads: 2,
    pods: { stable: nobody, canary: nobody },
    injectionErrors: 0,
    ...fields,
  };
}

function live(fields: Partial<RolloutRoute> = {}): RolloutRoute {
  return { tag: 'prod', stable: named(old), canary: named(next), threshold: quarter, shadow: false, ...fields };
}

const active = state({ canary: next });
const earlier = { injectorConfig: 'next', hash: '0000000d' };

describe('knownState', () => {
  const cases: [what: string, state: RolloutState | undefined, live: RolloutRoute | undefined, expected: string][] = [
    ['no status', undefined, live(), 'unknown'],
    ['a rollout as it was left', active, live(), quarter],
    ['one that was about to begin', active, undefined, quarter],
    ['a share that was about to grow', active, live({ threshold: '1000000000000000' }), quarter],
    ['a share that the path has grown', active, live({ threshold: half }), half],
    ['the path of another canary', active, live({ canary: named(other), threshold: half }), quarter],
    ['the path of an earlier configuration', active, live({ canary: earlier, threshold: half }), quarter],
    ['a shadow after a share', state({ canary: next, shadow: true, threshold: noWorkload }), live(), noWorkload],
    ['a rollback that the path has not seen', state({ phase: 'RolledBack' }), live(), quarter],
    ['a promotion that the path has not seen', state({ phase: 'Promoted', stable: next }), live(), quarter],
    ['a promotion of what the path does not name', state({ phase: 'Promoted', stable: other }), live(), 'unknown'],
    ['rest, where the path does not rest', state({ phase: 'Idle' }), live(), 'unknown'],
    ['rest elsewhere', state({ phase: 'Idle', stable: other }), undefined, 'unknown'],
    ['rest', state({ phase: 'Idle' }), undefined, quarter],
  ];
  for (const [what, given, path, expected] of cases) {
    it(`${what}: ${expected}`, () => {
      assert.equal(knownState({ state: given, place: old, live: path })?.threshold ?? 'unknown', expected);
    });
  }
});

describe('isInForce', () => {
  const cases: [what: string, state: RolloutState, live: RolloutRoute | undefined, expected: boolean][] = [
    ['a rollout and its path', active, live(), true],
    ['rest and the path at rest', state({}), undefined, true],
    ['a rollout and the path at rest', active, undefined, false],
    ['rest and the path of a rollout', state({}), live(), false],
    ['another share', active, live({ threshold: '4000000000000001' }), false],
    ['another way', active, live({ shadow: true }), false],
    ['another configuration of the canary', active, live({ canary: earlier }), false],
    ['another configuration of stable', state({ stable: { ...old, hash: '0000000e' } }), undefined, false],
    ['another stable', state({ stable: other }), undefined, false],
  ];
  for (const [what, given, path, expected] of cases) {
    it(`${what}: ${expected}`, () => {
      assert.equal(isInForce(given, { place: old, live: path }), expected);
    });
  }

  it('is what a state becomes by its own path', () => {
    assert.deepEqual(rolloutOf('prod', active), live());
    assert.equal(rolloutOf('prod', state({})), undefined);
    assert.equal(withShare(active, live()), active);
  });
});
