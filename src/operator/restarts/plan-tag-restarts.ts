import type { RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import { restartBounds } from '../../api/revision-tag/rollout-strategy.ts';
import { expected, type TagUpdates, updateCandidates, type UpdatingPod } from '../in-place/update-candidates.ts';
import type { OtherRestart, RestartHold, UncertainRestart } from '../../rollout/restart-candidate.ts';
import type { FairShares } from '../../rollout/fair-shares.ts';
import type { Refusal } from '../../rollout/observation.ts';
import type { Steps } from '../../steps/steps.ts';
import { planRestarts, type RestartPlan } from '../../rollout/restarts.ts';
import { whyDenied } from '../../rollout/restart-reasons.ts';
import { nextOpening } from '../../rollout/update-windows.ts';
import type { ReplicaReports } from '../ports.ts';
import type { PodGroup } from '../usage/pod-group.ts';
import { coveringBudgets } from './disruption-budget.ts';
import type { FollowedWorkloads } from './followed-workloads.ts';
import { restartCandidates, type RestartInputs } from './restart-candidates.ts';
import { isRollbackOnly } from './restart-source.ts';
import type { FailedRestarts } from './failed-restarts.ts';
import { recordedWorkload } from './workload-record.ts';

export interface TagRestartSources {
  /** The judged pods that follow the tag. */
  readonly groups: Iterable<PodGroup>;
  readonly workloads: Pick<FollowedWorkloads, 'get' | 'budgets' | 'completions'>;
  /** Whether the path changed so recently that some API servers may still use the old path. */
  readonly hasMoved: boolean;
  readonly failedRestarts: Pick<FailedRestarts, 'holdOf' | 'lastNamespaces' | 'uncertain'>;
  readonly reports: Pick<ReplicaReports, 'lacking'>;
  /** Returns the annotation of a namespace that allows or denies updates. */
  readonly updatesChoice: (namespace: string) => string | undefined;
  /** How the tag updates pods in place; undefined if it restarts workloads. */
  readonly updates?: TagUpdates | undefined;
  /** The pods that are being updated for other tags. */
  readonly updatedElsewhere: readonly UpdatingPod[];
  /** The refusals of pods that follow the tag. */
  readonly refusals: readonly Refusal[];
  readonly shares: FairShares;
  /** The current time, in milliseconds since 1970. */
  readonly now: number;
}

/** The plan for a tag, and the inputs on which it is based. */
export interface TagRestarts extends Pick<RestartInputs, 'records' | 'previous' | 'overtaken' | 'podsOf'> {
  readonly plan: RestartPlan;
}

const justMoved = { reason: 'JustMoved', message: 'the webhook has just changed: restarts begin in a few seconds' };

/** The maximum length of a message that names replicas, in characters. */
const maxMessageLength = 512;

/** Plans the restarts of a tag from pods, workloads, budgets, failed writes and replica reports. */
export function* planTagRestarts(
  { metadata, spec, status }: RevisionTag,
  sources: TagRestartSources,
): Steps<TagRestarts> {
  const { groups, workloads, hasMoved, failedRestarts, reports, updatesChoice, updates, refusals, shares, now } =
    sources;
  const { rolledBackFrom, startedAt } = status?.rollout ?? {};
  const bounds = restartBounds(spec.strategy ?? {});
  const served = new Map<string, RestartHold | undefined>();
  const notServed = (target: string): RestartHold | undefined => {
    if (!served.has(target)) served.set(target, whyNotServed(target, reports));
    return served.get(target);
  };
  const budgets = workloads.budgets();
  const lastNamespaces = failedRestarts.lastNamespaces();
  const { own, others, ...inputs } = yield* restartCandidates({
    tag: metadata.name,
    groups,
    workloads,
    budgets,
    completions: workloads.completions,
    refusals,
    holdOf: ({ key, namespace, target }) => ({
      hold: hasMoved ? justMoved : (failedRestarts.holdOf(key, target) ?? notServed(target)),
      isDeferred: lastNamespaces.has(namespace),
    }),
    deniedIn: (namespace) => whyDenied(updatesChoice(namespace)),
    rolledBackFrom,
    rolloutStartedAt: startedAt === undefined ? undefined : Date.parse(startedAt),
    isRollbackOnly: isRollbackOnly({ spec }),
    isInPlace: updates !== undefined,
    bounds,
    now,
  });
  const unknown = failedRestarts.uncertain((kind, namespace, name) => workloads.get(kind, namespace, name));
  const uncertain = [...unknown].map(([key, record]): UncertainRestart => {
    return { key, ...recordedWorkload(record), budgets: coveringBudgets(record, budgets) };
  });
  const opensAt = nextOpening(spec.strategy?.windows, now);
  const updating = sources.updatedElsewhere.map(({ tag, at, ...workload }): OtherRestart => {
    const record = { metadata: { namespace: workload.namespace }, labels: undefined };
    return { ...workload, tag, at, budgets: coveringBudgets(record, budgets) };
  });
  const candidates = updates === undefined ? own : yield* updateCandidates(metadata.name, own, inputs, updates, now);
  const situation = { own: candidates, others: [...others, ...updating], uncertain, opensAt, shares };
  const plan = yield* planRestarts(situation, bounds, now);
  if (updates === undefined) return { plan, ...inputs };
  const inPlace = yield* expected(metadata.name, candidates, updates);
  return { plan: { ...plan, status: { ...plan.status, inPlace } }, ...inputs };
}

/** Blocks a target that a replica lacks: with failurePolicy Ignore, pods would get no sidecar. */
function whyNotServed(target: string, reports: Pick<ReplicaReports, 'lacking'>): RestartHold | undefined {
  const [injectorConfig = '', hash = ''] = target.split('.');
  const lacking = reports.lacking(injectorConfig, hash);
  if (lacking.length === 0) return undefined;
  const message = `configuration ${target} is not served by ${lacking.join(', ')}`.slice(0, maxMessageLength);
  return { reason: 'NotServed', message };
}
