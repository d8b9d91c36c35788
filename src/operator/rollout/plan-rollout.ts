import { type InjectorConfig, revisionOf } from '../../api/injector-config/injector-config.ts';
import { rolloutActionAnnotation } from '../../api/revision-tag/rollout-action.ts';
import type { RolloutPlace, RolloutState } from '../../api/revision-tag/revision-tag.ts';
import type { RolloutPair, ShadowReport } from '../../rollout/shadow-report.ts';
import type { ObservedPod, ObservedWorkload, RolloutObservation } from '../../rollout/observation.ts';
import { type ConfigurationRef, isSameConfiguration, type RolloutRoute } from '../../routing/route.ts';
import { advanceRollout, type RolloutPass } from '../../rollout/rollout.ts';
import { obstacleOf, planTag, type TagPlan, type TagSituation } from '../tags/tag-plan.ts';
import type { PodGroup, PodRecord } from '../usage/pod-group.ts';
import { rankOf, workloadKey } from '../../routing/workload-key.ts';

/** What the cluster holds of a tag's rollout. */
interface RolloutTraces {
  /** `status.rollout`, written before the path. */
  readonly state: RolloutState | undefined;
  /** Where the webhook leads by default. */
  readonly place: RolloutPlace;
  /** What its path says of a rollout. */
  readonly live: RolloutRoute | undefined;
}

/**
 * Where a rollout stands, from what a leader finds. A state is written before the path that it stands for, so a path that is behind is what a
 * process which ended too early has left: it has to be finished. A path that no state explains (the status was lost, or restored from long ago)
 * is believed: undefined then, which begins where it leads.
 */
export function knownState({ state, place, live }: RolloutTraces): RolloutState | undefined {
  if (state === undefined) return undefined;
  if (isPromotion(state, live)) return state;
  if (state.stable.injectorConfig !== place.injectorConfig) return undefined;
  if (live === undefined || state.canary === undefined)
    return state.phase === 'Idle' && live !== undefined ? undefined : state;
  return withShare(state, live);
}

/** No workload that gets the canary by the path loses it. */
export function withShare(state: RolloutState, live: RolloutRoute | undefined): RolloutState {
  const { canary } = state;
  const isSame = live !== undefined && canary !== undefined && isSameConfiguration(canary, live.canary);
  if (!isSame || state.shadow || live.shadow || live.threshold <= state.threshold) return state;
  return { ...state, threshold: live.threshold };
}

/** Whether the webhook leads where the state says. */
export function isInForce(state: RolloutState, { place, live }: Pick<RolloutTraces, 'place' | 'live'>): boolean {
  const { stable, canary, threshold, shadow } = state;
  if (!isSameConfiguration(stable, place)) return false;
  if (canary === undefined || live === undefined) return canary === undefined && live === undefined;
  return isSameConfiguration(canary, live.canary) && threshold === live.threshold && shadow === live.shadow;
}

/** The rollout for the webhook's path; undefined at rest. */
export function rolloutOf(tag: string, { stable, canary, threshold, shadow }: RolloutState): RolloutRoute | undefined {
  if (canary === undefined) return undefined;
  const ref = ({ injectorConfig, hash }: RolloutPlace) => ({ injectorConfig, hash });
  return { tag, stable: ref(stable), canary: ref(canary), threshold, shadow };
}

/** Decided and written, but the webhook still leads from the revision before to the one that is stable now. */
function isPromotion({ stable, canary }: RolloutState, live: RolloutRoute | undefined): boolean {
  return canary === undefined && live !== undefined && live.canary.injectorConfig === stable.injectorConfig;
}

/** What is known when a tag with a canary strategy is looked at that leads somewhere. */
export interface RolloutSituation extends TagSituation {
  readonly current: InjectorConfig;
  /** What the cluster holds of it. */
  readonly traces: RolloutTraces;
  readonly configOf: (name: string) => InjectorConfig | undefined;
  /** The pods that follow the tag; undefined while they have not been read. */
  readonly pods: Iterable<PodGroup> | undefined;
  readonly shadowReport: (pair: RolloutPair) => ShadowReport;
  /** How many injections of the canary have failed since the rollout began, by what replicas report in sum. */
  readonly failedInjections: (state: RolloutState | undefined, reported: number) => number;
  /** The workloads that count: those with pods, and those that had some a moment ago. */
  readonly counting: (workloads: readonly ObservedWorkload[]) => readonly ObservedWorkload[];
  /** Until then workloads may be missing: this process has only begun to look. Milliseconds since 1970. */
  readonly incompleteUntil: number;
  readonly now: Date;
}

/**
 * Where a tag with a canary strategy should lead: as `advanceRollout` says, of what can be observed. While something is not known (what is stable
 * has not been looked at, pods have not been read) everything stays as it is.
 */
export function planRollout(situation: RolloutSituation): TagPlan {
  const { current, published, traces, pods } = situation;
  const plain = planTag(situation);
  const { revisionReady } = plain;
  const held: TagPlan = { target: undefined, revisionReady };
  if (current.spec.paused || published(current.metadata.name) === undefined) return held;
  const state = knownState(traces);
  const obstacle = obstacleOf(situation);
  const isAway = state?.canary !== undefined && (obstacle !== undefined || isCalledOff(situation, state));
  const isUnfinished = state !== undefined && obstacle === undefined && !isInForce(state, traces);
  if (isUnfinished && !isAway) {
    const unfinished = finish(situation, plain, state);
    if (unfinished !== 'again') return unfinished;
  }
  // The way back to stable needs no evidence.
  if (pods === undefined && !isAway) {
    // What was decided and is not in force is what nobody wants by now.
    if (state === undefined || isUnfinished) return held;
    return led(situation, revisionReady, { state, at: undefined, events: [] });
  }
  const observed = observe(situation, plain, state);
  const { strategy } = situation.tag.spec;
  const pass = advanceRollout({ state, strategy: strategy?.canary, observed, now: situation.now });
  if (pass.state === undefined) return held;
  const kept = state === undefined ? withShare(pass.state, traces.live) : pass.state;
  return led(situation, revisionReady, { ...pass, state: kept });
}

/** Whether somebody wants stable for everybody: that is not put off for what was decided before. */
function isCalledOff({ tag }: RolloutSituation, { stable, canary, action }: RolloutState): boolean {
  const { revision } = tag.spec;
  if (revision === stable.revision) return true;
  const asked = tag.metadata.annotations?.[rolloutActionAnnotation];
  const isAnswered = asked === `${action?.verb ?? ''}:${action?.nonce ?? ''}`;
  return revision === canary?.revision && asked?.startsWith('abort:') === true && !isAnswered;
}

/** What the state says is written to the path first; `again` when that is not what anybody wants now. */
function finish(situation: RolloutSituation, plain: TagPlan, state: RolloutState): TagPlan | 'again' {
  const { lacking, traces } = situation;
  const { revisionReady } = plain;
  const { canary, stable } = state;
  const wanted = wantedPlace(situation, plain);
  if (canary !== undefined && canary.revision !== situation.tag.spec.revision) return 'again';
  if (canary !== undefined && wanted?.injectorConfig === canary.injectorConfig && wanted.hash !== canary.hash)
    return 'again';
  const isNamed = canary !== undefined && traces.live !== undefined && isSameConfiguration(canary, traces.live.canary);
  if (canary !== undefined && !isNamed && lacking(canary.injectorConfig, canary.hash).length > 0) {
    // It may be gone for good: whatever the spec says now is looked at.
    return wanted === undefined ? { target: undefined, revisionReady } : 'again';
  }
  const followed = servedBy(situation, stable.injectorConfig) ?? stable;
  return led(situation, revisionReady, { state: { ...state, stable: followed }, at: situation.now, events: [] });
}

/** The plan that a state stands for. */
function led(situation: RolloutSituation, revisionReady: TagPlan['revisionReady'], pass: RolloutPass): TagPlan {
  const { state } = pass;
  const config = state && situation.configOf(state.stable.injectorConfig);
  const published = config && situation.published(config.metadata.name);
  if (state === undefined || config === undefined || config.spec.paused || published === undefined)
    return { target: undefined, revisionReady };
  const { hash } = state.stable;
  const rollout = rolloutOf(situation.tag.metadata.name, state);
  return { target: { config, published: { ...published, hash }, rollout }, revisionReady, rollout: pass };
}

function observe(situation: RolloutSituation, plain: TagPlan, state: RolloutState | undefined): RolloutObservation {
  const { tag, traces, shadowReport, failedInjections } = situation;
  const { name, generation = 0, annotations = {} } = tag.metadata;
  const wanted = wantedPlace(situation, plain);
  const stable = servedBy(situation, state?.stable.injectorConfig ?? traces.place.injectorConfig);
  const canary = state?.canary;
  const pair = { tag: name, stable: refOf(state?.stable ?? traces.place), canary: refOf(canary ?? wanted) };
  const shadow = shadowReport(pair);
  const gone = obstacleOf(situation)?.message;
  const action = annotations[rolloutActionAnnotation];
  // A path that is believed is in force already: nothing may wait for its share at stable.
  const workloadsBefore = traces.live === undefined ? tag.status?.workloads?.count : undefined;
  const { workloads, pods } = observePods(name, situation.pods ?? [], { stable: pair.stable.injectorConfig, canary });
  return {
    revision: tag.spec.revision,
    generation,
    before: traces.place,
    ...(wanted === undefined ? {} : { wanted }),
    ...(stable === undefined ? {} : { stable }),
    ...(gone === undefined ? {} : { gone }),
    workloads: situation.counting(workloads),
    incompleteUntil: situation.incompleteUntil,
    ...(workloadsBefore === undefined ? {} : { workloadsBefore }),
    pods,
    injectionErrors: failedInjections(state, shadow.failed),
    shadow,
    ...(action === undefined ? {} : { action }),
  };
}

/** What the revision of the spec serves, if the tag may be led there now. */
function wantedPlace({ wanted, current }: RolloutSituation, plain: TagPlan): RolloutPlace | undefined {
  const { target, revisionReady } = plain;
  if (wanted === undefined || target?.config.metadata.name !== wanted.metadata.name) return undefined;
  const isThere = current.metadata.name === wanted.metadata.name;
  return isThere || revisionReady?.status === 'True' ? placeOf(wanted, target.published.hash) : undefined;
}

/** What an InjectorConfig serves now. */
function servedBy({ configOf, published }: RolloutSituation, name: string): RolloutPlace | undefined {
  const config = configOf(name);
  const hash = published(name)?.hash;
  return config === undefined || hash === undefined ? undefined : placeOf(config, hash);
}

/** A revision and one of its configurations. */
export function placeOf(config: InjectorConfig, hash: string): RolloutPlace {
  return { revision: revisionOf(config), injectorConfig: config.metadata.name, hash };
}

function refOf(place: RolloutPlace | undefined): ConfigurationRef {
  return { injectorConfig: place?.injectorConfig ?? '', hash: place?.hash ?? '' };
}

/**
 * What the pods that follow a tag say of its rollout. Costs what they are.
 * @param sides all pods of the stable InjectorConfig, and those of exactly this configuration of the canary
 */
export function observePods(
  tag: string,
  groups: Iterable<PodGroup>,
  { stable, canary }: { readonly stable: string; readonly canary: ConfigurationRef | undefined },
): Pick<RolloutObservation, 'workloads' | 'pods'> {
  const workloads = new Map<string, { rank: string; pods: number }>();
  const pods = { stable: [] as ObservedPod[], canary: [] as ObservedPod[] };
  for (const { traits, pods: records, judgements } of groups) {
    const workload = { namespace: traits.namespace, ...traits.workload };
    const key = workloadKey(workload);
    const known = workloads.get(key) ?? { rank: rankOf(tag, workload), pods: 0 };
    known.pods += records.size;
    workloads.set(key, known);
    const carried = judgements.find(({ selectedBy }) => selectedBy?.tag === tag)?.carried;
    if (carried === undefined) continue;
    const isCanary = carried.name === canary?.injectorConfig && carried.hash === canary.hash;
    const isStable = !isCanary && carried.name === stable;
    const side = isCanary ? pods.canary : isStable ? pods.stable : undefined;
    if (side !== undefined) for (const record of records.values()) side.push(observedPod(record));
  }
  return { workloads: [...workloads.values()], pods };
}

function observedPod({ metadata, createdAt = 0, since = createdAt, health }: PodRecord): ObservedPod {
  const { ready = false, restarts = 0, crashing = false } = health ?? {};
  const name = `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
  return { name, createdAt: createdAt * 1000, ready, since: since * 1000, restarts, crashing };
}
