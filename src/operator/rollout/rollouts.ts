import { isDeepStrictEqual } from 'node:util';
import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { RolloutState, RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import type { RolloutPass } from '../../rollout/rollout.ts';
import type { Clock } from '../../kube/ports.ts';
import type { ReplicaReports } from '../ports.ts';
import { publishedHash, liveRollout } from '../webhooks/published-webhook.ts';
import { type Finding, no } from '../controller/revision-status.ts';
import type { TagPlan, TagSituation } from '../tags/tag-plan.ts';
import type { RefusedPods } from '../pods/refused-pods.ts';
import type { PodGroup } from '../usage/pod-group.ts';
import { rolloutRevision, planRollout } from './plan-rollout.ts';
import { lingerMs, type RecentWorkloads } from './recent-workloads.ts';
import { tagKey } from '../controller/wake-ups.ts';

export interface RolloutsOptions {
  /** Returns the pods of a tag; undefined before the list. Absent if --no-follow-pods is set. */
  readonly podsOf: ((tag: string) => Iterable<PodGroup> | undefined) | undefined;
  /** Returns when all pods had been listed (`clock.monotonic`); undefined before that time. */
  readonly followedSince: () => number | undefined;
  /** Whether a namespace is deleted or being deleted, so that a rollout must not count its pods. */
  readonly isBeingDeleted: (namespace: string) => boolean;
  readonly recent: RecentWorkloads;
  readonly refused: Pick<RefusedPods, 'follow' | 'of'>;
  readonly configOf: (name: string) => InjectorConfig | undefined;
  readonly reports: Pick<ReplicaReports, 'shadowReport'>;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}

/** The minimum interval between status writes that change only figures, in milliseconds. */
const figuresMs = 5000;
/** The interval at which an active rollout checks its pods, in milliseconds. */
const checkMs = 1000;

/** What is remembered of a tag between its passes. */
interface TagMemory {
  readonly failures?: CanaryFailures;
  /** When the status was last written, according to `clock.monotonic`. */
  readonly writtenAt?: number;
}

/** Plans the rollouts of tags. A new leader needs nothing that this object keeps in memory. */
export class Rollouts {
  readonly #options: RolloutsOptions;
  readonly #tags = new Map<string, TagMemory>();

  constructor(options: RolloutsOptions) {
    this.#options = options;
  }

  /**
   * Plans a tag with a canary strategy. Watches for refused pods while workloads get the canary.
   * @param live the webhook configuration of the tag
   * @param leading aborts when this process stops leading
   */
  plan(
    situation: TagSituation & { readonly current: InjectorConfig },
    live: KubernetesObject | undefined,
    leading: AbortSignal,
  ): TagPlan {
    const { tag, current } = situation;
    const { name } = tag.metadata;
    const { podsOf, isBeingDeleted, recent, refused, configOf, reports, clock } = this.#options;
    const hash = publishedHash(live, current.metadata.name) ?? tag.status?.hash ?? '';
    const groups = podsOf?.(name);
    const plan = planRollout({
      ...situation,
      stored: { state: tag.status?.rollout, current: rolloutRevision(current, hash), live: liveRollout(live) },
      configOf,
      pods: groups && [...groups].filter(({ traits }) => !isBeingDeleted(traits.namespace)),
      refusals: refused.of(name).filter(({ namespace }) => !isBeingDeleted(namespace)),
      shadowReport: (pair) => reports.shadowReport(pair),
      failedInjections: (state, reported) => {
        const known = this.#tags.get(name);
        const failures = countFailures(known?.failures, state, reported);
        this.#tags.set(name, { ...known, failures });
        return failures.failed;
      },
      counting: (workloads) => recent.withGone(name, workloads, isBeingDeleted),
      incompleteUntil: this.#incompleteUntil(),
      now: clock.now(),
    });
    const { canary, shadow } = plan.rollout?.state ?? tag.status?.rollout ?? {};
    const isUsed = podsOf !== undefined && canary !== undefined && shadow !== true;
    refused.follow(tagKey(name), isUsed, leading);
    if (podsOf !== undefined || situation.desired?.metadata.name === current.metadata.name) return plan;
    return plan.revisionReady?.status === 'True' ? { ...plan, revisionReady: notFollowed } : plan;
  }

  /** Returns the time until which workloads may be missing, in milliseconds since 1970. */
  #incompleteUntil(): number {
    const { clock, followedSince } = this.#options;
    const now = clock.monotonic();
    const until = clock.now().getTime() + (followedSince() ?? now) + lingerMs - now;
    // The two clocks drift by milliseconds. Rounding gives every pass the same value.
    return Math.ceil(until / 1000) * 1000;
  }

  /** Returns the state to write: `before` if only figures have changed since a recent write. */
  shown(tag: string, before: RolloutState | undefined, after: RolloutState): RolloutState {
    const now = this.#options.clock.monotonic();
    const known = this.#tags.get(tag);
    const since = now - (known?.writtenAt ?? -Infinity);
    if (before !== undefined && since < figuresMs && isSameProgress(before, after)) return before;
    if (!isDeepStrictEqual(before, after)) this.#tags.set(tag, { ...known, writtenAt: now });
    return after;
  }

  /** Returns the milliseconds until the rollout needs another pass; Infinity if none is active. */
  wait({ spec }: Pick<RevisionTag, 'spec'>, pass: Pick<RolloutPass, 'state' | 'at'> | undefined): number {
    if (spec.strategy?.canary === undefined) return Infinity;
    const { state, at } = pass ?? {};
    const isResting = state?.phase === 'RolledBack' || state?.stable.revision === spec.revision;
    if (state !== undefined && state.canary === undefined && isResting) return Infinity;
    const due = at === undefined ? Infinity : at.getTime() - this.#options.clock.now().getTime();
    return Math.max(0, Math.min(checkMs, due));
  }

  /** Stops watching for refused pods, because the tag has no canary strategy. */
  rest(tag: string, leading: AbortSignal): void {
    this.#options.refused.follow(tagKey(tag), false, leading);
  }

  forget(tag: string, leading: AbortSignal): void {
    this.rest(tag, leading);
    this.#tags.delete(tag);
    this.#options.recent.forget(tag);
  }
}

/** Reports whether two states differ in figures only. */
export function isSameProgress(one: RolloutState, other: RolloutState): boolean {
  return isDeepStrictEqual(withoutFigures(one), withoutFigures(other));
}

/** The fields of a state that only count or describe. */
const figures: readonly string[] = [
  'message',
  'pods',
  'knownWorkloads',
  'canaryWorkloads',
  'injectionErrors',
  'shadowReport',
] satisfies (keyof RolloutState)[];

function withoutFigures(state: RolloutState): Partial<RolloutState> {
  return Object.fromEntries(Object.entries(state).filter(([field]) => !figures.includes(field)));
}

/** Returns the condition `RolloutComplete`: whether all workloads use the revision of the spec. */
export function rolloutFinding(revision: string, state: RolloutState | undefined): Finding {
  if (state === undefined)
    return no('NotObserved', 'the pods that follow the tag have not been listed yet, so no rollout starts');
  const { canary, phase, stable, message } = state;
  const isOver = canary === undefined && phase !== 'RolledBack' && stable.revision === revision;
  return isOver ? { status: 'True', reason: 'Complete', message: `pods get revision ${revision}` } : no(phase, message);
}

const notFollowed = no(
  'PodsNotFollowed',
  'spec.strategy.canary needs to watch pods, which --no-follow-pods disables; remove that flag from the operator, or remove spec.strategy.canary',
);

/** The failed canary injections of a rollout. */
interface CanaryFailures {
  /** The `startedAt` of the rollout. */
  readonly rollout: string;
  /** The total that the replicas reported last. */
  readonly reported: number;
  /** The count, without the failures that happened while there was no leader. */
  readonly failed: number;
}

/**
 * Counts failed canary injections since the rollout began. Each replica reports its total since it
 * started, and the sum of these totals drops when a replica ends. So this adds up increases.
 */
export function countFailures(
  before: CanaryFailures | undefined,
  state: Pick<RolloutState, 'startedAt' | 'injectionErrors'> | undefined,
  reported: number,
): CanaryFailures {
  const rollout = state?.startedAt ?? '';
  if (before?.rollout !== rollout) return { rollout, reported, failed: state?.injectionErrors ?? 0 };
  return { rollout, reported, failed: before.failed + Math.max(0, reported - before.reported) };
}
