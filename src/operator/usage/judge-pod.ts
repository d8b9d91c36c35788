import { istioKeys } from '../../api/injector-config/webhook-keys.ts';
import { decide, type DecisionRules } from '../../inject/decide.ts';
import { getsCanary, rankOf } from '../../routing/workload-key.ts';
import type { SelectingWebhook } from '../../selection/selecting-webhook.ts';
import { type CarriedConfiguration, carriedBy, type PodTraits } from './pod-traits.ts';

/** Whether a pod has the configuration that a new pod would get, or has no sidecar (`missing`). */
export type PodState = 'current' | 'stale' | 'missing';
/** The number of pods in each state. */
export type PodCounts = Record<PodState, number>;
export const noPods = (): PodCounts => ({ current: 0, stale: 0, missing: 0 });

/** The judgement of a pod in one family. */
export interface PodJudgement {
  /**
   * `none`: no sidecar is expected, or another injector injected the pod (`OtherInjector`).
   * `undecided`: whether a sidecar is expected is unknown.
   */
  readonly state: PodState | 'none' | 'undecided';
  /** The reason, in one word. */
  readonly reason: string;
  /** The InjectorConfig that injected or would inject the pod. Its status counts the pod. */
  readonly injectorConfig: string;
  /** The configuration of this family that injected the pod, according to its annotations. */
  readonly carried: CarriedConfiguration | undefined;
  /** The webhook that selects the pod now, if any. */
  readonly selectedBy: SelectingWebhook | undefined;
  /** Whether the InjectorConfig has injected the pod or would inject it. */
  readonly isUser: boolean;
  /** Whether another injector would inject a new pod, so that the pod does not need the webhook. */
  readonly isTaken?: true;
}

/** Returns the state of a judgement if this state is counted. */
export function stateOf({ state }: PodJudgement): PodState | undefined {
  return state === 'none' || state === 'undecided' ? undefined : state;
}

/** Returns the state that counts where a pod of several families counts once: the worst one. */
export function worstState(judgements: readonly PodJudgement[]): PodState | undefined {
  const states = new Set(judgements.map(stateOf));
  return (['missing', 'stale', 'current'] as const).find((state) => states.has(state));
}

/** The inputs of a judgement. */
export interface JudgementSources {
  /** Returns undefined if there is no such InjectorConfig; {@link foreign} for another class. */
  readonly familyOf: (injectorConfig: string) => FamilyMember | typeof foreign | undefined;
  /** Returns the decision rules of a webhook's configuration; undefined before they are loaded. */
  readonly rulesOf: (webhook: SelectingWebhook) => DecisionRules | undefined;
}

/** Marks an InjectorConfig of another operator class. */
export const foreign = '(elsewhere)';

/** An InjectorConfig as a member of its family. */
export interface FamilyMember {
  /** The identifier that {@link familyName} returns. */
  readonly family: string;
  /** The name of the family's status annotation. */
  readonly status: string;
  /** The revision that the InjectorConfig writes into the status annotation. */
  readonly revision: string;
}

/** Returns the family member for an InjectorConfig with these keys and this revision. */
export function familyMember(keys: SelectingWebhook['keys'], revision: string): FamilyMember {
  return { family: familyName(keys), status: keys.status, revision };
}

/** Returns an identifier of a family, equal for equal keys. */
export function familyName({ injection, revision, inject, status }: SelectingWebhook['keys']): string {
  return [injection, revision, inject, status].join(' ');
}

/**
 * Compares a pod with a new pod, for each family that selects the pod or has injected it.
 * @param webhooks the webhooks that select the pod
 * @param isIstios whether a webhook of Istio's injector selects the pod, too
 */
export function judgePod(
  pod: PodTraits,
  webhooks: Iterable<SelectingWebhook>,
  sources: JudgementSources,
  isIstios = false,
): PodJudgement[] {
  const carried = new Map<string, CarriedConfiguration>();
  const unknown = new Set<string>();
  for (const entry of carriedBy(pod)) {
    const member = sources.familyOf(entry.name);
    if (member === undefined) unknown.add(entry.name);
    // An author can forge the entry. A real injection also writes the status annotation.
    else if (member !== foreign && pod.annotations[member.status] === member.revision) {
      carried.set(member.family, entry);
    }
  }
  const selecting = new Map<string, SelectingWebhook>();
  for (const webhook of webhooks) {
    const family = familyName(webhook.keys);
    const other = selecting.get(family);
    if (other === undefined || isBefore(webhook, other)) selecting.set(family, webhook);
  }
  const judgements: PodJudgement[] = [];
  const taken = (family: string) =>
    isIstios && family.endsWith(` ${istioKeys.status}`) ? { isTaken: true as const } : {};
  for (const [family, webhook] of selecting) {
    const found = { carried: carried.get(family), isGone: unknown.size > 0 };
    judgements.push({ ...judgeSelected(pod, found, forPod(webhook, pod), sources.rulesOf), ...taken(family) });
  }
  const stale = (reason: string, injectorConfig: string, entry?: CarriedConfiguration): PodJudgement => {
    return { state: 'stale', reason, injectorConfig, carried: entry, selectedBy: undefined, isUser: true };
  };
  for (const [family, entry] of carried) {
    if (!selecting.has(family)) judgements.push({ ...stale('NotSelected', entry.name, entry), ...taken(family) });
  }
  // The family of a deleted InjectorConfig is unknown.
  for (const name of selecting.size === 0 && carried.size === 0 ? unknown : []) {
    judgements.push(stale('InjectorGone', name));
  }
  return judgements;
}

/** Orders two webhooks: a webhook that names a configuration comes first, then the smaller id. */
function isBefore(one: SelectingWebhook, other: SelectingWebhook): boolean {
  if ((one.hash === undefined) !== (other.hash === undefined)) return one.hash !== undefined;
  return one.id < other.id;
}

/** Returns the webhook with the configuration that the pod's workload uses, stable or canary. */
function forPod(webhook: SelectingWebhook, { namespace, workload }: PodTraits): SelectingWebhook {
  const { canary, tag = '' } = webhook;
  if (canary === undefined || !getsCanary(rankOf(tag, { namespace, ...workload }), canary.threshold)) return webhook;
  return { ...webhook, injectorConfig: canary.injectorConfig, hash: canary.hash };
}

function judgeSelected(
  pod: PodTraits,
  { carried, isGone }: { carried: CarriedConfiguration | undefined; isGone: boolean },
  selectedBy: SelectingWebhook,
  rulesOf: JudgementSources['rulesOf'],
): PodJudgement {
  const { injectorConfig, hash, keys } = selectedBy;
  if (carried !== undefined || Object.hasOwn(pod.annotations, keys.status)) {
    const at = carried?.name ?? injectorConfig;
    const has = (state: PodJudgement['state'], reason: string): PodJudgement => {
      return { state, reason, injectorConfig: at, carried, selectedBy, isUser: true };
    };
    const stale = (reason: string): PodJudgement => has('stale', reason);
    // What the other injector added is not known, so the pod may be as a new pod would be.
    if (carried === undefined && !isGone) return has('none', 'OtherInjector');
    if (hash === undefined) return stale('NotPublished');
    if (carried === undefined) return stale('InjectorGone');
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

/** Returns why a pod of this age has no sidecar. @param createdAt in ms since 1970 */
export function missingReason(
  createdAt: number,
  selectedBy: SelectingWebhook | undefined,
): 'OlderThanWebhook' | 'NotCalled' {
  return selectedBy !== undefined && createdAt < selectedBy.since ? 'OlderThanWebhook' : 'NotCalled';
}

/** Returns a message for users. The message does not name the pod. */
export function describeJudgement({ state, reason, injectorConfig, selectedBy }: PodJudgement): string {
  const now =
    selectedBy === undefined
      ? 'nothing'
      : `InjectorConfig ${selectedBy.injectorConfig}, configuration ${selectedBy.hash ?? 'not published yet'}`;
  const by = `injected by InjectorConfig ${injectorConfig}`;
  const { tag } = selectedBy ?? {};
  const owner = tag === undefined ? `InjectorConfig ${selectedBy?.injectorConfig ?? ''}` : `RevisionTag ${tag}`;
  const sentences: Readonly<Record<string, string>> = {
    Current: `injected by ${now}, as a new pod would be`,
    NotSelected: `${by}; no webhook selects it now`,
    InjectorGone:
      selectedBy === undefined
        ? `${by}, which no longer exists`
        : `injected by an InjectorConfig that no longer exists; it would get ${now}`,
    NotPublished:
      state === 'stale' ? `${by}; it would get nothing now, since ${owner} has no webhook` : `${owner} has no webhook`,
    OtherInjectorConfig: `${by}; it would get ${now}`,
    OtherConfiguration: `injected by an earlier configuration of InjectorConfig ${injectorConfig}; it would get ${now}`,
    NotCalled: `not injected; it would get ${now}: when the pod was created, the API server did not call the webhook, the call failed, or the namespace did not have its label yet`,
    Held: `not injected, because the pod is held until the webhook works (failurePolicy Hold); it would get ${now}`,
    OlderThanWebhook: `not injected; it would get ${now}: the pod is older than the webhook`,
    MatchConditions: 'not injected; only the API server knows whether spec.webhook.matchConditions select the pod',
    RulesUnknown: `not injected; the configuration of InjectorConfig ${injectorConfig} has not been loaded yet`,
  };
  return sentences[reason] ?? `not injected, as configured (${reason})`;
}
