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
  isHeld: () => true,
  waited: () => 0,
  isSilent: false,
};
const finding = (reason: ConditionReason) => ({ status: 'False', reason, message: reason }) as const;
const lacking = () => ['replica-1'];

describe('decideWebhook', () => {
  const rows: [string, Partial<WebhookFacts>, string][] = [
    ['what every replica holds', {}, 'apply new: Published'],
    ['a spec that does not compile', { compiled: undefined }, 'apply old: Published'],
    ['nothing that ever compiled', { compiled: undefined, before: undefined }, 'keep -: NothingToPublish'],
    ['a missing owner', { isOwnerMissing: true }, 'keep -: OwnerMissing, pending'],
    ['the name of another class', { otherClass: finding('OtherOperatorClass') }, 'leave -: OtherOperatorClass'],
    ['a mistake in the spec', { mistake: finding('Invalid') }, 'keep -: Invalid'],
    ['replicas that load', { lacking }, 'keep old: WaitingForReplicas, pending'],
    ['replicas that start again', { lacking, compiled: 'old' }, 'keep old: -, pending'],
    ['no replica for long', { lacking, compiled: 'old', isSilent: true }, 'keep old: NoReplica, pending'],
    [
      'a configuration that nobody holds',
      { lacking, compiled: undefined, isHeld: () => false },
      'keep old: ConfigurationLost, pending',
    ],
    ['a tag in its place', { isTagged: true, isLive: false }, 'leave new: Tagged'],
    ['a tag, and the name of another class', { isTagged: true, otherClass: finding('HostTaken') }, 'leave new: Tagged'],
    ['another injector before it is there', { isLive: false, foreign: 'Istio is there' }, 'leave -: ForeignOverlap'],
    ['another injector beside the live one', { foreign: 'Istio is there' }, 'apply new: Published'],
  ];
  for (const [name, facts, expected] of rows) {
    it(`${name}: ${expected}`, () => {
      const { action, hash = '-', finding: found, isPending } = decideWebhook({ ...ready, ...facts });
      assert.equal(`${action} ${hash}: ${found?.reason ?? '-'}${isPending ? ', pending' : ''}`, expected);
    });
  }

  it('says how to end a wait that has lasted for more than 5 minutes', () => {
    const { finding: found } = decideWebhook({ ...ready, lacking, waited: () => 300_000 });
    assert.match(found?.message ?? '', /^configuration new is not served yet by replica-1; .* delete the pod/);
  });

  it('never withdraws, and never names what a replica lacks', () => {
    const facts = fc.record({
      isLive: fc.boolean(),
      before: fc.constantFrom(undefined, 'old'),
      compiled: fc.constantFrom(undefined, 'old', 'new'),
      isOwnerMissing: fc.boolean(),
      otherClass: fc.constantFrom(undefined, finding('OtherOperatorClass')),
      mistake: fc.constantFrom(undefined, finding('Invalid')),
      isTagged: fc.boolean(),
      foreign: fc.constantFrom(undefined, 'Istio is there'),
      isSilent: fc.boolean(),
      held: fc.subarray(['old', 'new']),
      served: fc.subarray(['old', 'new']),
    });
    fc.assert(
      fc.property(facts, ({ held, served, ...known }) => {
        const isHeld = (hash: string): boolean => held.includes(hash);
        const missing = (hash: string): string[] => (served.includes(hash) ? [] : ['replica-1']);
        const decision = decideWebhook({ ...ready, ...known, isHeld, lacking: missing });
        if (decision.action === 'apply') assert.ok(served.includes(decision.hash));
        if (decision.action === 'keep') assert.ok(decision.hash === undefined || decision.hash === known.before);
        if (decision.action === 'leave') assert.ok(!known.isLive || known.isTagged || known.otherClass !== undefined);
      }),
    );
  });
});
