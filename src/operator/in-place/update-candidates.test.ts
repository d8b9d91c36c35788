import assert from 'node:assert/strict';
import { atOnce } from '../../steps/steps.ts';
import type { PodUpdate } from '../../api/revision-tag/update-annotation.ts';
import type { RestartCandidate } from '../../rollout/restart-candidate.ts';
import { PodGroup } from '../usage/pod-group.ts';
import { updateCandidates } from './update-candidates.ts';

const target = 'new.11111111';
const workload = { namespace: 'shop', kind: 'Pod', name: 'web-0' };
const own: RestartCandidate = { ...workload, key: 'shop/Pod/web-0', stale: 1, target, paused: false, budgets: [] };
const now = 1_000_000;

/** Returns why the update of a pod waits that two tags select, and that has a record. */
function holdWith(update: Partial<PodUpdate> & Pick<PodUpdate, 'tag'>): string | undefined {
  const group = new PodGroup({
    namespace: 'shop',
    workload,
    hostNetwork: false,
    labels: {},
    annotations: {},
    injectedBy: '',
  });
  const selectedBy = (tag: string) => ({ tag, injectorConfig: 'new', hash: '11111111' }) as never;
  group.judgements = [
    { state: 'stale', selectedBy: selectedBy('prod') },
    { state: 'current', selectedBy: selectedBy('logs') },
  ] as never;
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web-0' },
    group,
    update: { target, at: now, ...update },
  };
  group.pods.set('web-0', pod);
  const inputs = { podsOf: () => [{ group, state: 'stale' as const }], records: new Map() };
  const verdicts = { verdictOf: () => ({ target, at: now }), mayRestart: false };
  const [candidate] = atOnce(updateCandidates('prod', [own], inputs as never, verdicts, now));
  return candidate?.hold && `${candidate.hold.reason}: ${candidate.hold.message}`;
}

describe('updateCandidates', () => {
  it('keeps the record of another tag', () => {
    const expected = 'OtherTag: pod web-0 has the record of an update by RevisionTag logs';
    assert.equal(holdWith({ tag: 'logs', failed: 'crashes' }), expected);
  });

  it('does not wait for the record of a tag that does not select the pod, or of its own', () => {
    assert.equal(holdWith({ tag: 'gone', failed: 'crashes' }), undefined);
    assert.equal(holdWith({ tag: 'logs', failed: 'crashes', at: now + 3_600_000 }), undefined);
    assert.equal(holdWith({ tag: 'prod', failed: 'crashes', target: 'older.11111111' }), undefined);
  });
});
