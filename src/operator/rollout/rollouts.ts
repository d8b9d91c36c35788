import { isDeepStrictEqual } from 'node:util';
import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { RolloutState, RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import type { RolloutPass } from '../../rollout/rollout.ts';
import type { Clock } from '../../kube/ports.ts';
import type { ReplicaReports } from '../ports.ts';
import { publishedHash, rolloutInForce } from '../webhooks/published-webhook.ts';
import { type Finding, no } from '../controller/revision-status.ts';
import type { TagPlan, TagSituation } from '../tags/tag-plan.ts';
import type { PodGroup } from '../usage/pod-group.ts';
import { placeOf, planRollout } from './plan-rollout.ts';
import { lingerMs, type RecentWorkloads } from './recent-workloads.ts';

export interface RolloutsOptions {
  /** The pods that follow a tag; undefined while they have not been read. Absent: they never are. */
  readonly podsOf: ((tag: string) => Iterable<PodGroup> | undefined) | undefined;
  /** Since when the pods have been followed, by `clock.monotonic`; undefined while they are not. */
  readonly followedSince: () => number | undefined;
  /** What is told of every workload whose last pod has gone. */
  readonly recent: RecentWorkloads;
  readonly configOf: (name: string) => InjectorConfig | undefined;
  readonly reports: Pick<ReplicaReports, 'shadowReport'>;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}

/** Figures in a status are written at most this often while nothing else changes. Milliseconds. */
const figuresMs = 5000;
/** While a rollout is under way its pods are looked at this often. Milliseconds. */
const lookMs = 1000;

/** The rollouts of tags, with what is remembered of them between passes: nothing that a new leader needs. */
export class Rollouts {
  readonly #options: RolloutsOptions;
  readonly #failed = new FailedInjections();
  readonly #written = new Map<string, number>();

  constructor(options: RolloutsOptions) {
    this.#options = options;
  }

  /** Where a tag with a canary strategy should lead that leads to `current` by the webhook configuration `live`. */
  plan(situation: TagSituation & { readonly current: InjectorConfig }, live: KubernetesObject | undefined): TagPlan {
    const { tag, current } = situation;
    const { name } = tag.metadata;
    const { podsOf, recent, configOf, reports, clock } = this.#options;
    const hash = publishedHash(live, current.metadata.name) ?? tag.status?.hash ?? '';
    const groups = podsOf?.(name);
    const plan = planRollout({
      ...situation,
      traces: { state: tag.status?.rollout, place: placeOf(current, hash), live: rolloutInForce(live) },
      configOf,
      pods: groups && recent.staying(groups),
      shadowReport: (pair) => reports.shadowReport(pair),
      failedInjections: (state, reported) => this.#failed.since(name, state, reported),
      counting: (workloads) => recent.with(name, workloads),
      incompleteUntil: this.#incompleteUntil(),
      now: clock.now(),
    });
    if (podsOf !== undefined || situation.wanted?.metadata.name === current.metadata.name) return plan;
    return plan.revisionReady?.status === 'True' ? { ...plan, revisionReady: notFollowed } : plan;
  }

  /** Until then workloads that had no pods when we began to follow them may be missing. Milliseconds since 1970. */
  #incompleteUntil(): number {
    const { clock, followedSince } = this.#options;
    const now = clock.monotonic();
    const until = clock.now().getTime() + (followedSince() ?? now) + lingerMs - now;
    // The same in each pass: two clocks are compared.
    return Math.ceil(until / 1000) * 1000;
  }

  /** What a status is to say: the one before where only figures have changed since a moment ago. */
  shown(tag: string, before: RolloutState | undefined, after: RolloutState): RolloutState {
    const now = this.#options.clock.monotonic();
    const since = now - (this.#written.get(tag) ?? -Infinity);
    if (before !== undefined && since < figuresMs && isSameCourse(before, after)) return before;
    if (!isDeepStrictEqual(before, after)) this.#written.set(tag, now);
    return after;
  }

  /** The milliseconds until the next look at the rollout of a tag; Infinity at rest. */
  wait({ spec }: Pick<RevisionTag, 'spec'>, pass: Pick<RolloutPass, 'state' | 'at'> | undefined): number {
    if (spec.strategy?.canary === undefined) return Infinity;
    const { state, at } = pass ?? {};
    const isResting = state?.phase === 'RolledBack' || state?.stable.revision === spec.revision;
    if (state !== undefined && state.canary === undefined && isResting) return Infinity;
    const due = at === undefined ? Infinity : at.getTime() - this.#options.clock.now().getTime();
    return Math.max(0, Math.min(lookMs, due));
  }

  forget(tag: string): void {
    this.#failed.forget(tag);
    this.#options.recent.forget(tag);
    this.#written.delete(tag);
  }
}

/** Whether two states differ in figures alone. */
export function isSameCourse(one: RolloutState, other: RolloutState): boolean {
  return isDeepStrictEqual(withoutFigures(one), withoutFigures(other));
}

/** The fields of a state that say how much, not where it stands. */
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

/** Whether everybody gets the revision of the spec: a condition of tags with a canary strategy. */
export function rolloutFinding(revision: string, state: RolloutState | undefined): Finding {
  if (state === undefined) return no('NotObserved', 'what follows the tag has not been read yet, so no rollout begins');
  const { canary, phase, stable, message } = state;
  const isOver = canary === undefined && phase !== 'RolledBack' && stable.revision === revision;
  return isOver ? { status: 'True', reason: 'Complete', message: `pods get revision ${revision}` } : no(phase, message);
}

const notFollowed = no(
  'PodsNotFollowed',
  'spec.strategy.canary needs the pods of the cluster, which this operator does not follow (--no-follow-pods); follow them, or remove the strategy',
);

interface Counted {
  /** The rollout that they are counted for. */
  readonly rollout: string;
  /** What the replicas said last, in sum. */
  readonly reported: number;
  readonly failed: number;
}

/**
 * How many injections of a canary have failed since its rollout began. Replicas count from their own start on and for a pair of configurations, so
 * what counts is by how much their sum grows; a smaller sum means that a replica has gone.
 */
export class FailedInjections {
  readonly #counted = new Map<string, Counted>();

  /** The number now; what came while nobody led is not counted. */
  since(tag: string, state: Pick<RolloutState, 'startedAt' | 'injectionErrors'> | undefined, reported: number): number {
    const rollout = state?.startedAt ?? '';
    const before = this.#counted.get(tag);
    const grown = before?.rollout === rollout ? Math.max(0, reported - before.reported) : 0;
    const failed = (before?.rollout === rollout ? before.failed : (state?.injectionErrors ?? 0)) + grown;
    this.#counted.set(tag, { rollout, reported, failed });
    return failed;
  }

  forget(tag: string): void {
    this.#counted.delete(tag);
  }
}
