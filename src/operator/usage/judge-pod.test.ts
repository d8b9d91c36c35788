import assert from 'node:assert/strict';
import { istioKeys } from '../../api/injector-config/webhook-keys.ts';
import type { DecisionRules } from '../../inject/decide.ts';
import { rankOf } from '../../routing/workload-key.ts';
import { selectorsOf } from '../../selection/webhook-selectors.ts';
import { compileSelectors, type SelectingWebhook, webhooksSelecting } from '../../selection/selecting-webhook.ts';
import { describeJudgement, foreign, judgePod, familyMember, missingReason } from './judge-pod.ts';
import type { PodTraits } from './pod-traits.ts';
import { rules } from './testdata/counted-pods.ts';

const { inject, revision, injection, status } = istioKeys;
const old = '11111111';
const now = '22222222';

function selectingWebhook(injectorConfig: string, part: Partial<SelectingWebhook> = {}): SelectingWebhook {
  const terms = { keys: istioKeys, enableNamespacesByDefault: false };
  return {
    id: injectorConfig,
    injectorConfig,
    keys: istioKeys,
    hash: now,
    since: 1000,
    isConditional: false,
    selectors: selectorsOf({ ...terms, revision: part.tag ?? injectorConfig }, ['kube-system']).map(compileSelectors),
    ...part,
  };
}

const plain: PodTraits = {
  namespace: 'shop',
  workload: { kind: 'Deployment', name: 'web' },
  hostNetwork: false,
  labels: {},
  annotations: {},
  injectedBy: '',
};

/** Returns the InjectorConfig of the first entry. The revision has the same name. */
function nameIn(injectedBy: string): string {
  return injectedBy.split('.')[0] ?? '';
}

type Known = DecisionRules | 'unknown';

function judge(pod: Partial<PodTraits>, labels: Record<string, string>, known: Known = rules): string[] {
  const webhooks = [
    selectingWebhook('default'),
    selectingWebhook('blue'),
    selectingWebhook('off', { hash: undefined }),
    selectingWebhook('choosy', { isConditional: true }),
    selectingWebhook('blue', { id: 'tag-prod', tag: 'prod' }),
  ];
  const annotations = pod.injectedBy === undefined ? {} : { [status]: nameIn(pod.injectedBy) };
  const traits = { ...plain, annotations, ...pod };
  const familyOf = (name: string) =>
    name.startsWith('gone') ? undefined : name === 'foreign' ? foreign : familyMember(istioKeys, name);
  const rulesOf = () => (known === 'unknown' ? undefined : known);
  const namespace = { 'kubernetes.io/metadata.name': 'shop', ...labels };
  const selecting = webhooksSelecting(webhooks, namespace, traits.labels);
  return judgePod(traits, selecting, { familyOf, rulesOf }).map((judgement) => {
    assert.ok(describeJudgement(judgement).length > 10);
    const { state, reason, injectorConfig, selectedBy, isUser } = judgement;
    return `${state} ${reason} at ${injectorConfig} by ${selectedBy?.id ?? 'none'}${isUser ? '' : ', no user'}`;
  });
}

describe('judgePod', () => {
  const blue = { [revision]: 'blue' };
  const by = (hash: string, name = 'blue'): Partial<PodTraits> => ({ injectedBy: `${name}.${hash}` });
  const forged = (...injectedBy: string[]): Partial<PodTraits> => ({ injectedBy: injectedBy.join(), annotations: {} });
  const forgedBeside = { ...forged(`blue.${old}`, `default.${now}`), annotations: { [status]: 'blue' } };
  const out = { [inject]: 'false' };
  const optedIn = { annotations: out, labels: { [inject]: 'true' } };
  const choosy = { [revision]: 'choosy' };
  const rows: [name: string, pod: Partial<PodTraits>, namespace: Record<string, string>, judgement: string][] = [
    ['with the current configuration', by(now), blue, 'current Current at blue by blue'],
    ['with another configuration', by(old), blue, 'stale OtherConfiguration at blue by blue'],
    ['with another revision', by(now, 'default'), blue, 'stale OtherInjectorConfig at default by blue'],
    ['with a foreign sidecar', { annotations: { [status]: '{' } }, blue, 'none OtherInjector at blue by blue'],
    ['of a deleted InjectorConfig', by(now, 'gone'), blue, 'stale InjectorGone at blue by blue'],
    ['of a deleted InjectorConfig that no webhook selects', by(now, 'gone'), {}, 'stale InjectorGone at gone by none'],
    ['with a forged entry and no status', forged(`blue.${now}`), {}, ''],
    ['with a forged entry and another status', { ...by(now), annotations: { [status]: 'red' } }, {}, ''],
    ['with only a forged entry', forged(`default.${old}`), blue, 'missing NotCalled at blue by blue'],
    ['with a forged entry and a real entry', forgedBeside, blue, 'stale OtherConfiguration at blue by blue'],
    ['with a configuration of another operator class', by(now, 'foreign'), {}, ''],
    ['with a sidecar that no webhook selects', by(now), {}, 'stale NotSelected at blue by none'],
    ['whose revision publishes nothing', by(now, 'off'), { [revision]: 'off' }, 'stale NotPublished at off by off'],
    ['with the sidecar of its tag', by(now), { [revision]: 'prod' }, 'current Current at blue by tag-prod'],
    ['without a sidecar, not selected', {}, {}, ''],
    ['without a sidecar, selected by its namespace', {}, blue, 'missing NotCalled at blue by blue'],
    ['without a sidecar, selected by its own label', { labels: blue }, {}, 'missing NotCalled at blue by blue'],
    ['without a sidecar in a disabled namespace', { labels: blue }, { [injection]: 'disabled' }, ''],
    ['without a sidecar on the host network', { hostNetwork: true }, blue, 'none HostNetwork at blue by blue, no user'],
    ['opted out by annotation', { annotations: out }, blue, 'none OptedOut at blue by blue, no user'],
    ['opted in by label against an annotation', optedIn, blue, 'missing NotCalled at blue by blue'],
    ['without a sidecar, if nothing is published', {}, { [revision]: 'off' }, 'none NotPublished at off by off'],
    ['without a sidecar, with matchConditions', {}, choosy, 'undecided MatchConditions at choosy by choosy, no user'],
  ];
  for (const [name, pod, namespace, judgement] of rows) {
    it(`judges a pod ${name}`, () => {
      assert.equal(judge(pod, namespace).join('; '), judgement);
    });
  }

  it('judges a workload in a rollout by its rank', () => {
    const canary = { injectorConfig: 'green', hash: now, threshold: '8000000000000000' };
    const webhooks = [selectingWebhook('blue', { tag: 'prod', hash: old, canary })];
    const states = new Map<string, number>();
    for (let index = 0; index < 100; index += 1) {
      const workload = { kind: 'Deployment', name: `web-${index}` };
      for (const injectedBy of [`blue.${old}`, `green.${now}`]) {
        const annotations = { [status]: nameIn(injectedBy) };
        const traits = { ...plain, workload, annotations, injectedBy };
        const familyOf = (name: string) => familyMember(istioKeys, name);
        const [judgement] = judgePod(traits, webhooks, { familyOf, rulesOf: () => rules });
        const gets = rankOf('prod', { namespace: 'shop', ...workload }) < canary.threshold ? 'green' : 'blue';
        assert.equal(judgement?.selectedBy?.injectorConfig, gets);
        assert.equal(judgement.state, injectedBy.startsWith(gets) ? 'current' : 'stale');
        states.set(gets, (states.get(gets) ?? 0) + 1);
      }
    }
    assert.ok((states.get('green') ?? 0) > 50 && (states.get('blue') ?? 0) > 50);
  });

  it('is undecided before the rules are loaded', () => {
    assert.deepEqual(judge({}, blue, 'unknown'), ['undecided RulesUnknown at blue by blue, no user']);
    const [judgement] = judge({}, blue, { ...rules, policy: 'disabled' });
    assert.equal(judgement, 'none PolicyDisabled at blue by blue, no user');
  });

  it('reads at most eight entries of an annotation', () => {
    const injectedBy = Array.from({ length: 120 }, (_, index) => `gone${index}.${old}`).join(',');
    assert.equal(judge({ injectedBy }, {}).length, 8);
  });

  it('prefers the published webhook of two overlapping webhooks, in any order', () => {
    for (const order of [
      ['a', 'b'],
      ['b', 'a'],
    ]) {
      const webhooks = order.map((id) => selectingWebhook('blue', { id, hash: id === 'a' ? undefined : now }));
      const [judgement] = judgePod(plain, webhooks, { familyOf: () => undefined, rulesOf: () => rules });
      assert.equal(judgement?.selectedBy?.id, 'b');
    }
  });
});

describe('missingReason', () => {
  it('distinguishes pods older and newer than the webhook', () => {
    assert.equal(missingReason(999, selectingWebhook('blue')), 'OlderThanWebhook');
    assert.equal(missingReason(1000, selectingWebhook('blue')), 'NotCalled');
    assert.equal(missingReason(0, selectingWebhook('blue', { since: NaN })), 'NotCalled');
  });
});
