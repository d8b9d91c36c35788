import { decide, type DecisionRules } from '../../inject/decide.ts';
import { getsCanary, rankOf } from '../../routing/workload-key.ts';
import type { SelectingWebhook } from '../../selection/selecting-webhook.ts';
import type { SelectingWebhookIndex } from '../../selection/selecting-webhook-index.ts';
import { type CarriedConfiguration, carriedBy, type PodTraits } from './pod-traits.ts';

/** Whether a pod has what it would get now. `undecided`: it has nothing, and only the API server could say whether it would get something. */
export type PodState = 'current' | 'stale' | 'missing';

/** What can be said of a pod in one family of injectors. */
export interface PodJudgement {
  /** `none`: it has nothing and would get nothing. */
  readonly state: PodState | 'none' | 'undecided';
  /** One word: why. */
  readonly reason: string;
  /** At which InjectorConfig it counts: the one that injected it, else the one that would. */
  readonly injectorConfig: string;
  /** What has injected it, as its annotations agree; undefined when nothing of this family has. */
  readonly carried: CarriedConfiguration | undefined;
  /** Whose webhooks take it now; undefined when nobody's do. */
  readonly selectedBy: SelectingWebhook | undefined;
  /** Whether it would miss the webhook that selects it: it is injected, or would be. */
  readonly isUser: boolean;
}

/** Whom a judgement asks. */
export interface JudgementSources {
  readonly webhooks: Pick<SelectingWebhookIndex, 'selecting'>;
  /** Of an InjectorConfig, by its name; undefined for one that is not there, {@link elsewhere} for one of which nothing is to be said. */
  readonly familyOf: (injectorConfig: string) => FamilyMember | typeof elsewhere | undefined;
  /** By which rules the configuration of a webhook decides; undefined while nobody knows. */
  readonly rulesOf: (webhook: SelectingWebhook) => DecisionRules | undefined;
}

/** The family of an InjectorConfig of another operator class. */
export const elsewhere = '(elsewhere)';

/** An InjectorConfig's part in its family. */
export interface FamilyMember {
  /** {@link familyName} */
  readonly family: string;
  /** The annotation in which it says what it added, */
  readonly status: string;
  /** and the revision that it states there. */
  readonly revision: string;
}

/** What a pod must carry beside `N.<hash8>` to count as injected by an InjectorConfig with these keys and this revision. */
export function memberOf(keys: SelectingWebhook['keys'], revision: string): FamilyMember {
  return { family: familyName(keys), status: keys.status, revision };
}

/** What names a family: equal texts, equal keys. */
export function familyName({ injection, revision, inject, status }: SelectingWebhook['keys']): string {
  return [injection, revision, inject, status].join(' ');
}

/** What a pod has against what it would get now, for each family in which there is anything to say. */
export function judgePod(
  pod: PodTraits,
  namespaceLabels: Readonly<Record<string, string>>,
  sources: JudgementSources,
): PodJudgement[] {
  const carried = new Map<string, CarriedConfiguration>();
  const unknown = new Set<string>();
  for (const entry of carriedBy(pod)) {
    const member = sources.familyOf(entry.name);
    if (member === undefined) unknown.add(entry.name);
    // An entry alone is an author's word: an injection has left its status, too.
    else if (member !== elsewhere && pod.annotations[member.status] === member.revision) {
      carried.set(member.family, entry);
    }
  }
  const selecting = new Map<string, SelectingWebhook>();
  for (const webhook of sources.webhooks.selecting(namespaceLabels, pod.labels)) {
    const family = familyName(webhook.keys);
    const other = selecting.get(family);
    if (other === undefined || isBefore(webhook, other)) selecting.set(family, webhook);
  }
  const judgements: PodJudgement[] = [];
  for (const [family, webhook] of selecting) {
    judgements.push(judgeTaken(pod, carried.get(family), forPod(webhook, pod), sources.rulesOf));
  }
  const stale = (reason: string, injectorConfig: string, entry?: CarriedConfiguration): PodJudgement => {
    return { state: 'stale', reason, injectorConfig, carried: entry, selectedBy: undefined, isUser: true };
  };
  for (const [family, entry] of carried) {
    if (!selecting.has(family)) judgements.push(stale('NotSelected', entry.name, entry));
  }
  // Nobody is left to say of which family it was.
  for (const name of selecting.size === 0 && carried.size === 0 ? unknown : []) {
    judgements.push(stale('InjectorGone', name));
  }
  return judgements;
}

/** Of two of a family, which should never both take a pod, the one that injects; the choice does not depend on who came first. */
function isBefore(one: SelectingWebhook, other: SelectingWebhook): boolean {
  if ((one.hash === undefined) !== (other.hash === undefined)) return one.hash !== undefined;
  return one.id < other.id;
}

/** In the middle of a rollout: as the one that the pod's workload gets. */
function forPod(webhook: SelectingWebhook, { namespace, workload }: PodTraits): SelectingWebhook {
  const { canary, tag = '' } = webhook;
  if (canary === undefined || !getsCanary(rankOf(tag, { namespace, ...workload }), canary.threshold)) return webhook;
  return { ...webhook, injectorConfig: canary.injectorConfig, hash: canary.hash };
}

function judgeTaken(
  pod: PodTraits,
  carried: CarriedConfiguration | undefined,
  selectedBy: SelectingWebhook,
  rulesOf: JudgementSources['rulesOf'],
): PodJudgement {
  const { injectorConfig, hash, keys } = selectedBy;
  if (carried !== undefined || Object.hasOwn(pod.annotations, keys.status)) {
    const at = carried?.name ?? injectorConfig;
    const has = (state: 'current' | 'stale', reason: string): PodJudgement => {
      return { state, reason, injectorConfig: at, carried, selectedBy, isUser: true };
    };
    const stale = (reason: string): PodJudgement => has('stale', reason);
    if (hash === undefined) return stale('NotPublished');
    if (carried === undefined) return stale('OtherInjector');
    if (carried.name !== injectorConfig) return stale('OtherInjectorConfig');
    if (carried.hash !== hash) return stale('OtherConfiguration');
    return has('current', 'Current');
  }
  const plain = (state: PodJudgement['state'], reason: string, isUser: boolean): PodJudgement => {
    return { state, reason, injectorConfig, carried, selectedBy, isUser };
  };
  const own = pod.labels[keys.inject] ?? pod.annotations[keys.inject];
  if (pod.hostNetwork) return plain('none', 'HostNetwork', false);
  if (own === 'false') return plain('none', 'OptedOut', false);
  if (hash === undefined) return plain('none', 'NotPublished', true);
  if (selectedBy.isConditional) return plain('undecided', 'MatchConditions', false);
  const rules = rulesOf(selectedBy);
  if (rules === undefined) return plain('undecided', 'RulesUnknown', false);
  const decision = decide(rules, pod);
  return decision.inject ? plain('missing', 'NotCalled', true) : plain('none', decision.reason, false);
}

/** Why a pod is missing its sidecar, as far as its age tells. `createdAt` in milliseconds since 1970. */
export function missingReason(
  createdAt: number,
  selectedBy: SelectingWebhook | undefined,
): 'OlderThanWebhook' | 'NotCalled' {
  return selectedBy !== undefined && createdAt < selectedBy.since ? 'OlderThanWebhook' : 'NotCalled';
}

/** A sentence for people, without the pod's name. */
export function describeJudgement({ state, reason, injectorConfig, selectedBy }: PodJudgement): string {
  const now =
    selectedBy === undefined
      ? 'nothing'
      : `InjectorConfig ${selectedBy.injectorConfig} at ${selectedBy.hash ?? 'nothing yet'}`;
  const by = `injected by InjectorConfig ${injectorConfig}`;
  const sentences: Readonly<Record<string, string>> = {
    Current: `injected by ${now}, as it would be now`,
    NotSelected: `${by}; no webhook takes it any more`,
    InjectorGone: `${by}, which is gone`,
    NotPublished:
      state === 'stale'
        ? `${by}; it would get nothing now, since InjectorConfig ${selectedBy?.injectorConfig ?? ''} has no webhook`
        : `InjectorConfig ${injectorConfig} has no webhook`,
    OtherInjector: `injected by somebody else; it would get ${now}`,
    OtherInjectorConfig: `${by}; it would get ${now}`,
    OtherConfiguration: `injected by an earlier configuration of InjectorConfig ${injectorConfig}; it would get ${now}`,
    NotCalled: `not injected; it would get ${now}: the webhook was not asked when the pod came, it failed, or the label of the namespace is newer`,
    OlderThanWebhook: `not injected; it would get ${now}: the pod is older than the webhook`,
    MatchConditions: "not injected; whether it would be, the webhook's own matchConditions decide",
    RulesUnknown: `not injected; the rules of InjectorConfig ${injectorConfig} are not known yet`,
  };
  return sentences[reason] ?? `not injected, as configured (${reason})`;
}
