import assert from 'node:assert/strict';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { decideHold, type HoldFacts, identityOf, provenNow } from './decide-hold.ts';

const now = 1_000_000;
const policy = (spec = 'desired', metadata: KubernetesObject['metadata'] = { uid: 'one' }): KubernetesObject => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'MutatingAdmissionPolicy',
  metadata: { name: 'policy', generation: 1, ...metadata },
  spec,
});
const live = [policy()];
const desired = [policy('desired', {})];
const changed = [policy('changed')];
const proof = { identity: identityOf(live), desired, at: now - 5000, checkedAt: now - 299_999 };
const quiet = { quietSince: now - 5000 };

describe('decideHold', () => {
  const rows: [string, Partial<HoldFacts>, string][] = [
    ['has no policy', { quietSince: now, live: [] }, 'Replace'],
    ['has ignored failed calls until now', { quietSince: now, live: changed }, 'Wait 5000'],
    ['has ignored no failed call for 4999 ms', { quietSince: now - 4999, live: changed }, 'Wait 1'],
    ['has ignored no failed call for 5 s', { ...quiet, live: changed }, 'Replace'],
    ['has a binding too many', { ...quiet, live: [...live, policy('more', { name: 'more' })], proof }, 'Replace'],
    [
      'has a policy that is being deleted',
      { ...quiet, live: [policy('desired', { deletionTimestamp: 'now' })] },
      'Replace',
    ],
    ['has just got its policy', { ...quiet, live: changed, isWritten: true }, 'Prove'],
    ['has a policy without a proof', quiet, 'Prove'],
    ['has a policy that was created again', { ...quiet, live: [policy('desired', { uid: 'two' })], proof }, 'Prove'],
    ['has a policy that was proven 4999 ms ago', { ...quiet, proof: { ...proof, at: now - 4999 } }, 'Wait 1'],
    ['has a policy that was proven 5 s ago', { ...quiet, proof }, 'Rely'],
    ['relies on a policy', { proof }, 'Rely'],
    ['relies on a policy that was proven 5 minutes ago', { proof: { ...proof, checkedAt: now - 300_000 } }, 'Prove'],
    ['relies on a policy that another client has changed', { live: changed, proof }, 'Restore 5000'],
    ['relies on a policy that another client has deleted', { live: [], proof }, 'Restore 5000'],
    ['relies on a policy, and has got other selectors', { desired: changed, proof }, 'Wait 5000'],
    ['relies on a changed policy that this process has not proven', { live: changed }, 'Wait 5000'],
  ];
  for (const [what, facts, expected] of rows) {
    it(`answers ${expected} for a webhook that ${what}`, () => {
      const step = decideHold({ live, desired, isWritten: false, ...facts }, now);
      assert.equal('retryAfter' in step ? `${step.action} ${step.retryAfter}` : step.action, expected);
    });
  }

  it('lets a new leader rely on the proof of the last one, and repeat it later', () => {
    const adopted = { identity: identityOf(live), desired, at: -Infinity, checkedAt: now };
    const facts = { live, desired, isWritten: false };
    assert.deepEqual(decideHold(facts, now), { action: 'Rely', proof: adopted });
    assert.deepEqual(decideHold({ ...facts, proof: adopted }, now + 300_000), { action: 'Prove' });
    const repeated = provenNow({ ...facts, proof: adopted }, now + 300_000);
    assert.deepEqual(repeated, { ...adopted, checkedAt: now + 300_000 });
    assert.equal(provenNow({ ...facts, live: changed, proof }, now).at, proof.at);
    assert.equal(provenNow({ ...facts, live: [policy('desired', { uid: 'two' })], proof }, now).at, now);
  });
});
