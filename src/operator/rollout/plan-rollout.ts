import { type InjectorConfig, revisionOf } from '../../api/injector-config/injector-config.ts';
import { rolloutActionAnnotation } from '../../api/revision-tag/rollout-action.ts';
import type { RolloutRevision, RolloutState } from '../../api/revision-tag/revision-tag.ts';
import type { RolloutPair, ShadowReport } from '../../rollout/shadow-report.ts';
import type {
  ObservedPod,
  ObservedRefusal,
  ObservedWorkload,
  Refusal,
  RolloutObservation,
} from '../../rollout/observation.ts';
import { type ConfigurationRef, isSameConfiguration, type RolloutRoute } from '../../routing/route.ts';
import { advanceRollout, type RolloutPass } from '../../rollout/rollout.ts';
import { obstacleOf, planTag, type TagPlan, type TagSituation } from '../tags/tag-plan.ts';
import { newestPod, type PodGroup, type PodRecord } from '../usage/pod-group.ts';
import { rankOf, workloadKey } from '../../routing/workload-key.ts';

/** The state of a tag's rollout as stored in the cluster. */
interface ObservedRollout {
  /** `status.rollout`, which is written before the path. */
  readonly state: RolloutState | undefined;
  /** The configuration that the webhook's path names as stable, or as the only configuration. */
  readonly current: RolloutRevision;
  /** The rollout that the webhook's path encodes. */
  readonly live: RolloutRoute | undefined;
}

/**
 * Derives the state of a rollout from the status and the live path. The leader writes the state
 * first. If the path is behind, the previous leader stopped between the two writes, and the path
 * must catch up. Returns undefined if the status is lost or too old to match: the path wins.
 */
export function knownState({ state, current, live }: ObservedRollout): RolloutState | undefined {
  if (state === undefined) return undefined;
  if (isPromotion(state, live)) return state;
  if (state.stable.injectorConfig !== current.injectorConfig) return undefined;
  if (live === undefined || state.canary === undefined)
    return state.phase === 'Idle' && live !== undefined ? undefined : state;
  return withShare(state, live);
}

/** Raises the threshold to the live threshold, so that no workload loses the canary. */
export function withShare(state: RolloutState, live: RolloutRoute | undefined): RolloutState {
  const { canary } = state;
  const isSame = live !== undefined && canary !== undefined && isSameConfiguration(canary, live.canary);
  if (!isSame || state.shadow || live.shadow || live.threshold <= state.threshold) return state;
  return { ...state, threshold: live.threshold };
}

/** Reports whether the live path matches the state. */
export function isApplied(state: RolloutState, { current, live }: Pick<ObservedRollout, 'current' | 'live'>): boolean {
  const { stable, canary, threshold, shadow } = state;
  if (!isSameConfiguration(stable, current)) return false;
  if (canary === undefined || live === undefined) return canary === undefined && live === undefined;
  return isSameConfiguration(canary, live.canary) && threshold === live.threshold && shadow === live.shadow;
}

/** Returns the rollout that the webhook's path must encode; undefined if there is no canary. */
export function rolloutOf(tag: string, { stable, canary, threshold, shadow }: RolloutState): RolloutRoute | undefined {
  if (canary === undefined) return undefined;
  const ref = ({ injectorConfig, hash }: RolloutRevision) => ({ injectorConfig, hash });
  return { tag, stable: ref(stable), canary: ref(canary), threshold, shadow };
}

/** Reports whether the state is promoted while the live path still names stable as canary. */
function isPromotion({ stable, canary }: RolloutState, live: RolloutRoute | undefined): boolean {
  return canary === undefined && live !== undefined && live.canary.injectorConfig === stable.injectorConfig;
}

/** The inputs to `planRollout`: a tag with a canary strategy that already points to a revision. */
export interface TagRolloutSituation extends TagSituation {
  readonly current: InjectorConfig;
  readonly stored: ObservedRollout;
  readonly configOf: (name: string) => InjectorConfig | undefined;
  /** The pods that follow the tag; undefined until they have been listed. */
  readonly pods: Iterable<PodGroup> | undefined;
  /** The refusals of pods that follow the tag. */
  readonly refusals: readonly Refusal[];
  readonly shadowReport: (pair: RolloutPair) => ShadowReport;
  /** Returns the number of failed canary injections in this rollout, from the replicas' total. */
  readonly failedInjections: (state: RolloutState | undefined, reported: number) => number;
  /** Adds the workloads that had pods within the last minute. */
  readonly counting: (workloads: readonly ObservedWorkload[]) => readonly ObservedWorkload[];
  /** The time until which workloads may be missing after a restart, in milliseconds since 1970. */
  readonly incompleteUntil: number;
  readonly now: Date;
}

/**
 * Plans the target of a tag with a canary strategy: collects the observations and calls
 * `advanceRollout`. Changes nothing before stable is reconciled and the pods are listed.
 */
export function planRollout(situation: TagRolloutSituation): TagPlan {
  const { current, published, stored, pods } = situation;
  const plain = planTag(situation);
  const { revisionReady } = plain;
  const unchanged: TagPlan = { target: undefined, revisionReady };
  if (current.spec.paused || published(current.metadata.name) === undefined) return unchanged;
  const state = knownState(stored);
  const obstacle = obstacleOf(situation);
  const returnsToStable = state?.canary !== undefined && (obstacle !== undefined || isCancelled(situation, state));
  const isPending = state !== undefined && obstacle === undefined && !isApplied(state, stored);
  if (isPending && !returnsToStable) {
    const unfinished = finishPending(situation, plain, state);
    if (unfinished !== 'replan') return unfinished;
  }
  // A return to stable needs no list of pods.
  if (pods === undefined && !returnsToStable) {
    // A pending state that `finishPending` rejected is outdated.
    if (state === undefined || isPending) return unchanged;
    return planFor(situation, revisionReady, { state, at: undefined, events: [] });
  }
  const observed = observe(situation, plain, state);
  const { strategy } = situation.tag.spec;
  const pass = advanceRollout({ state, strategy: strategy?.canary, observed, now: situation.now });
  if (pass.state === undefined) return unchanged;
  const kept = state === undefined ? withShare(pass.state, stored.live) : pass.state;
  return planFor(situation, revisionReady, { ...pass, state: kept });
}

/** Reports whether a user has ended the rollout: by naming stable in the spec, or by an abort. */
function isCancelled({ tag }: TagRolloutSituation, { stable, canary, action }: RolloutState): boolean {
  const { revision } = tag.spec;
  if (revision === stable.revision) return true;
  const request = tag.metadata.annotations?.[rolloutActionAnnotation];
  const isAnswered = request === `${action?.verb ?? ''}:${action?.nonce ?? ''}`;
  return revision === canary?.revision && request?.startsWith('abort:') === true && !isAnswered;
}

/** Plans to write a pending state to the path. Returns `replan` if the spec has changed. */
function finishPending(situation: TagRolloutSituation, plain: TagPlan, state: RolloutState): TagPlan | 'replan' {
  const { lacking, stored } = situation;
  const { revisionReady } = plain;
  const { canary, stable } = state;
  const desired = desiredRevision(situation, plain);
  if (canary !== undefined && canary.revision !== situation.tag.spec.revision) return 'replan';
  if (canary !== undefined && desired?.injectorConfig === canary.injectorConfig && desired.hash !== canary.hash)
    return 'replan';
  const isNamed = canary !== undefined && stored.live !== undefined && isSameConfiguration(canary, stored.live.canary);
  if (canary !== undefined && !isNamed && lacking(canary.injectorConfig, canary.hash).length > 0) {
    // No replica may ever serve this configuration again, so plan from the current spec.
    return desired === undefined ? { target: undefined, revisionReady } : 'replan';
  }
  const followed = servedRevision(situation, stable.injectorConfig) ?? stable;
  return planFor(situation, revisionReady, { state: { ...state, stable: followed }, at: situation.now, events: [] });
}

/** Returns the plan that puts a state into the path. */
function planFor(situation: TagRolloutSituation, revisionReady: TagPlan['revisionReady'], pass: RolloutPass): TagPlan {
  const { state } = pass;
  const config = state && situation.configOf(state.stable.injectorConfig);
  const published = config && situation.published(config.metadata.name);
  if (state === undefined || config === undefined || config.spec.paused || published === undefined)
    return { target: undefined, revisionReady };
  const { hash } = state.stable;
  const rollout = rolloutOf(situation.tag.metadata.name, state);
  return { target: { config, published: { ...published, hash }, rollout }, revisionReady, rollout: pass };
}

function observe(situation: TagRolloutSituation, plain: TagPlan, state: RolloutState | undefined): RolloutObservation {
  const { tag, stored, shadowReport, failedInjections } = situation;
  const { name, generation = 0, annotations = {} } = tag.metadata;
  const desired = desiredRevision(situation, plain);
  const stable = servedRevision(situation, state?.stable.injectorConfig ?? stored.current.injectorConfig);
  const canary = state?.canary;
  const pair = { tag: name, stable: refOf(state?.stable ?? stored.current), canary: refOf(canary ?? desired) };
  const shadow = shadowReport(pair);
  const gone = obstacleOf(situation)?.message;
  const action = annotations[rolloutActionAnnotation];
  // If the state is lost, the path already gives workloads the canary: do not wait for the count.
  const workloadsBefore = stored.live === undefined ? tag.status?.workloads?.count : undefined;
  const groups = [...(situation.pods ?? [])];
  // After a rollback, the pods of the canary that are left still count as such.
  const left = state?.phase === 'RolledBack' ? state.rolledBackFrom : undefined;
  const { workloads, pods } = observePods(name, groups, {
    stable: pair.stable.injectorConfig,
    canary: canary ?? left,
  });
  return {
    revision: tag.spec.revision,
    generation,
    before: stored.current,
    ...(desired === undefined ? {} : { desired }),
    ...(stable === undefined ? {} : { stable }),
    ...(gone === undefined ? {} : { gone }),
    workloads: situation.counting(workloads),
    incompleteUntil: situation.incompleteUntil,
    ...(workloadsBefore === undefined ? {} : { workloadsBefore }),
    pods,
    refusals: observeRefusals(name, groups, situation.refusals),
    injectionErrors: failedInjections(state, shadow.failed),
    shadow,
    ...(action === undefined ? {} : { action }),
  };
}

/** Returns the configuration of the spec's revision, if the tag may point to it now. */
function desiredRevision({ desired, current }: TagRolloutSituation, plain: TagPlan): RolloutRevision | undefined {
  const { target, revisionReady } = plain;
  if (desired === undefined || target?.config.metadata.name !== desired.metadata.name) return undefined;
  const isCurrent = current.metadata.name === desired.metadata.name;
  return isCurrent || revisionReady?.status === 'True' ? rolloutRevision(desired, target.published.hash) : undefined;
}

/** Returns the configuration that an InjectorConfig serves now. */
function servedRevision({ configOf, published }: TagRolloutSituation, name: string): RolloutRevision | undefined {
  const config = configOf(name);
  const hash = published(name)?.hash;
  return config === undefined || hash === undefined ? undefined : rolloutRevision(config, hash);
}

export function rolloutRevision(config: InjectorConfig, hash: string): RolloutRevision {
  return { revision: revisionOf(config), injectorConfig: config.metadata.name, hash };
}

function refOf(ref: RolloutRevision | undefined): ConfigurationRef {
  return { injectorConfig: ref?.injectorConfig ?? '', hash: ref?.hash ?? '' };
}

/**
 * Returns the workloads and pods that follow a tag, in time linear in the pods. `pods.stable` are
 * the pods of any configuration of InjectorConfig `stable`; `pods.canary` are the pods of `canary`.
 */
export function observePods(
  tag: string,
  groups: Iterable<PodGroup>,
  { stable, canary }: { readonly stable: string; readonly canary: ConfigurationRef | undefined },
): Pick<RolloutObservation, 'workloads' | 'pods'> {
  const workloads = new Map<string, ObservedWorkload & { pods: number }>();
  const pods = { stable: [] as ObservedPod[], canary: [] as ObservedPod[] };
  for (const { traits, pods: records, judgements } of groups) {
    const workload = { namespace: traits.namespace, ...traits.workload };
    const key = workloadKey(workload);
    const known = workloads.get(key) ?? { rank: rankOf(tag, workload), namespace: traits.namespace, pods: 0 };
    known.pods += records.size;
    workloads.set(key, known);
    const carried = judgements.find(({ selectedBy }) => selectedBy?.tag === tag)?.carried;
    if (carried === undefined) continue;
    const isCanary = carried.name === canary?.injectorConfig && carried.hash === canary.hash;
    const isStable = !isCanary && carried.name === stable;
    const side = isCanary ? pods.canary : isStable ? pods.stable : undefined;
    if (side !== undefined) for (const record of records.values()) side.push(observedPod(record, known.rank));
  }
  return { workloads: [...workloads.values()], pods };
}

function observedPod(record: PodRecord, rank: string): ObservedPod {
  const { metadata, createdAt = 0, since = createdAt, health } = record;
  const { ready = false, restarts = 0, crashing = false, trouble } = health ?? {};
  const name = `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
  return { name, rank, createdAt: createdAt * 1000, ready, since: since * 1000, restarts, crashing, trouble };
}

/** Adds to refusals what the pods of their workloads say about them. */
function observeRefusals(tag: string, groups: readonly PodGroup[], refusals: readonly Refusal[]): ObservedRefusal[] {
  if (refusals.length === 0) return [];
  const groupsOf = new Map(refusals.map((each): [string, PodGroup[]] => [workloadKey(each), []]));
  for (const group of groups) {
    const { namespace, workload } = group.traits;
    groupsOf.get(workloadKey({ namespace, ...workload }))?.push(group);
  }
  const hasCurrent = ({ judgements }: PodGroup): boolean =>
    judgements.some(({ state, selectedBy }) => state === 'current' && selectedBy?.tag === tag);
  return refusals.map((refusal) => {
    const own = groupsOf.get(workloadKey(refusal)) ?? [];
    return { ...refusal, rank: rankOf(tag, refusal), newestPod: newestPod(own), isAccepted: own.some(hasCurrent) };
  });
}
