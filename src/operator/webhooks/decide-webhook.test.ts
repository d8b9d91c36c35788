import type { ConditionReason } from '../reasons.ts';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { decideWebhook, type WebhookFacts } from './decide-webhook.ts';

const ready: WebhookFacts = {
  name: 'blue',
  isLive: true,
  before: 'old',
  compiled: 'new',
  isOwnerMissing: false,
  otherClass: undefined,
  mistake: undefined,
  isTagged: false,
  foreign: undefined,
  lacking: () => [],
  isStored: () => true,
  waitedMs: () => 0,
  hasNoReplica: false,
};
const finding = (reason: ConditionReason) => ({ status: 'False', reason, message: reason }) as const;
const lacking = () => ['replica-1'];

describe('decideWebhook', () => {
  const rows: [string, Partial<WebhookFacts>, string][] = [
    ['a configuration that every replica serves', {}, 'apply new: Published'],
    ['a spec that does not compile', { compiled: undefined }, 'apply old: Published'],
    ['a spec that has never compiled', { compiled: undefined, before: undefined }, 'keep -: NothingToPublish'],
    ['a missing owner', { isOwnerMissing: true }, 'keep -: OwnerMissing, pending'],
    ['a name that another class uses', { otherClass: finding('OtherOperatorClass') }, 'leave -: OtherOperatorClass'],
    ['a mistake in the spec', { mistake: finding('Invalid') }, 'keep -: Invalid'],
    ['replicas that are loading', { lacking }, 'keep old: WaitingForReplicas, pending'],
    ['replicas that restart', { lacking, compiled: 'old' }, 'keep old: -, pending'],
    ['no replica for 30 s', { lacking, compiled: 'old', hasNoReplica: true }, 'keep old: NoReplica, pending'],
    ['a lost hash', { lacking, compiled: undefined, isStored: () => false }, 'keep old: ConfigurationLost, pending'],
    ['tag default', { isTagged: true, isLive: false }, 'leave new: Tagged'],
    ['tag default and a name in use', { isTagged: true, otherClass: finding('HostTaken') }, 'leave new: Tagged'],
    ['Istio before publication', { isLive: false, foreign: 'Istio is there' }, 'leave -: ForeignOverlap'],
    ['Istio beside a live webhook', { foreign: 'Istio is there' }, 'apply new: Published'],
  ];
  for (const [name, facts, expected] of rows) {
    it(`decides "${expected}" for ${name}`, () => {
      const { action, hash = '-', finding: found, isPending } = decideWebhook({ ...ready, ...facts });
      assert.equal(`${action} ${hash}: ${found?.reason ?? '-'}${isPending ? ', pending' : ''}`, expected);
    });
  }

  it('explains how to end a wait of more than 5 minutes', () => {
    const { finding: found } = decideWebhook({ ...ready, lacking, waitedMs: () => 300_000 });
    assert.match(found?.message ?? '', /^configuration new is not served yet by replica-1; .* delete the pod/);
  });

  it('never withdraws a live webhook, and never names a configuration that a replica lacks', () => {
    const facts = fc.record({
      isLive: fc.boolean(),
      before: fc.constantFrom(undefined, 'old'),
      compiled: fc.constantFrom(undefined, 'old', 'new'),
      isOwnerMissing: fc.boolean(),
      otherClass: fc.constantFrom(undefined, finding('OtherOperatorClass')),
      mistake: fc.constantFrom(undefined, finding('Invalid')),
      isTagged: fc.boolean(),
      foreign: fc.constantFrom(undefined, 'Istio is there'),
      hasNoReplica: fc.boolean(),
      stored: fc.subarray(['old', 'new']),
      served: fc.subarray(['old', 'new']),
    });
    fc.assert(
      fc.property(facts, ({ stored, served, ...known }) => {
        const isStored = (hash: string): boolean => stored.includes(hash);
        const missing = (hash: string): string[] => (served.includes(hash) ? [] : ['replica-1']);
        const decision = decideWebhook({ ...ready, ...known, isStored, lacking: missing });
        if (decision.action === 'apply') assert.ok(served.includes(decision.hash));
        if (decision.action === 'keep') assert.ok(decision.hash === undefined || decision.hash === known.before);
        if (decision.action === 'leave') assert.ok(!known.isLive || known.isTagged || known.otherClass !== undefined);
      }),
    );
  });
});
