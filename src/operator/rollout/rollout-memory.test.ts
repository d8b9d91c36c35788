import assert from 'node:assert/strict';
import type { RolloutRoute } from '../../routing/route.ts';
import { noWorkload } from '../../routing/workload-key.ts';
import type { RolloutState } from '../../api/revision-tag/revision-tag.ts';
import { isApplied, knownState, rolloutOf, withShare } from './plan-rollout.ts';

const old = { revision: 'old', injectorConfig: 'old', hash: '0000000a' };
const next = { revision: 'next', injectorConfig: 'next', hash: '0000000b' };
const other = { revision: 'other', injectorConfig: 'other', hash: '0000000c' };
const named = ({ injectorConfig, hash }: typeof old) => ({ injectorConfig, hash });
const [quarter, half] = ['4000000000000000', '8000000000000000'] as const;
const noPods = { ready: 0, failing: 0, total: 0 };

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
    pods: { stable: noPods, canary: noPods },
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
    ['there is no status', undefined, live(), 'unknown'],
    ['status and path agree', active, live(), quarter],
    ['the first step is not in the path yet', active, undefined, quarter],
    ['the path has a smaller threshold', active, live({ threshold: '1000000000000000' }), quarter],
    ['the path has a larger threshold', active, live({ threshold: half }), half],
    ['the path names another canary', active, live({ canary: named(other), threshold: half }), quarter],
    ['the path names an earlier canary hash', active, live({ canary: earlier, threshold: half }), quarter],
    ['a shadow step is not live yet', state({ canary: next, shadow: true, threshold: noWorkload }), live(), noWorkload],
    ['a rollback is not in the path yet', state({ phase: 'RolledBack' }), live(), quarter],
    ['a promotion is not in the path yet', state({ phase: 'Promoted', stable: next }), live(), quarter],
    ['the path does not name the promoted revision', state({ phase: 'Promoted', stable: other }), live(), 'unknown'],
    ['the state is Idle, but the path has a canary', state({ phase: 'Idle' }), live(), 'unknown'],
    ['the state is Idle, with another stable', state({ phase: 'Idle', stable: other }), undefined, 'unknown'],
    ['the state is Idle, and the path agrees', state({ phase: 'Idle' }), undefined, quarter],
  ];
  for (const [what, before, path, expected] of cases) {
    it(`returns ${expected === 'unknown' ? 'undefined' : `threshold ${expected}`} if ${what}`, () => {
      assert.equal(knownState({ state: before, current: old, live: path })?.threshold ?? 'unknown', expected);
    });
  }
});

describe('isApplied', () => {
  const cases: [what: string, state: RolloutState, live: RolloutRoute | undefined, expected: boolean][] = [
    ['a rollout and its path', active, live(), true],
    ['no canary in state or path', state({}), undefined, true],
    ['a canary in the state only', active, undefined, false],
    ['a canary in the path only', state({}), live(), false],
    ['another threshold', active, live({ threshold: '4000000000000001' }), false],
    ['shadow in the path only', active, live({ shadow: true }), false],
    ['another canary hash', active, live({ canary: earlier }), false],
    ['another stable hash', state({ stable: { ...old, hash: '0000000e' } }), undefined, false],
    ['another stable revision', state({ stable: other }), undefined, false],
  ];
  for (const [what, before, path, expected] of cases) {
    it(`returns ${expected} for ${what}`, () => {
      assert.equal(isApplied(before, { current: old, live: path }), expected);
    });
  }

  it('is consistent with rolloutOf and withShare', () => {
    assert.deepEqual(rolloutOf('prod', active), live());
    assert.equal(rolloutOf('prod', state({})), undefined);
    assert.equal(withShare(active, live()), active);
  });
});
