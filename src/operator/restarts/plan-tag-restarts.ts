import type { RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import { restartBounds } from '../../api/revision-tag/rollout-strategy.ts';
import type { RestartHold, UncertainRestart } from '../../rollout/restart-candidate.ts';
import type { Steps } from '../../rollout/restart-steps.ts';
import { planRestarts, type RestartPlan } from '../../rollout/restarts.ts';
import type { ReplicaReports } from '../ports.ts';
import type { PodGroup } from '../usage/pod-group.ts';
import { coveringBudgets } from './disruption-budget.ts';
import type { FollowedWorkloads } from './followed-workloads.ts';
import { restartCandidates, type LookedAt } from './restart-candidates.ts';
import { isRollbackOnly } from './restart-source.ts';
import type { RestartTroubles } from './restart-troubles.ts';
import { workloadOf } from './workload-record.ts';

export interface TagRestartSources {
  /** The pods that follow the tag, judged. */
  readonly groups: Iterable<PodGroup>;
  readonly workloads: Pick<FollowedWorkloads, 'get' | 'annotated' | 'budgets' | 'completions'>;
  /** Whether the webhook of the tag leads elsewhere since a moment ago: some API servers may not know it yet. */
  readonly hasMoved: boolean;
  /** The workloads whose restart could not be written. */
  readonly troubles: Pick<RestartTroubles, 'holdOf' | 'areManyIn' | 'uncertain'>;
  readonly reports: Pick<ReplicaReports, 'lacking'>;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** What to restart, and by what that was decided. */
export interface TagRestarts extends Pick<LookedAt, 'records' | 'had' | 'overtaken'> {
  readonly plan: RestartPlan;
}

const justMoved = { reason: 'JustMoved', message: 'the webhook has just moved: restarts begin in a few seconds' };

/** Of the names of many replicas so much goes into a status. */
const longestMessage = 512;

/** What to restart for a tag now, by what the followed pods, workloads and budgets say, and by what the API server and replicas have said. */
export function* planTagRestarts(
  { metadata, spec, status }: RevisionTag,
  { groups, workloads, hasMoved, troubles, reports, now }: TagRestartSources,
): Steps<TagRestarts> {
  const { rolledBackFrom, startedAt } = status?.rollout ?? {};
  const bounds = restartBounds(spec.strategy ?? {});
  const served = new Map<string, RestartHold | undefined>();
  const notServed = (target: string): RestartHold | undefined => {
    if (!served.has(target)) served.set(target, whyNotServed(target, reports));
    return served.get(target);
  };
  const budgets = workloads.budgets();
  const { own, others, ...looked } = yield* restartCandidates({
    tag: metadata.name,
    groups,
    workloads,
    budgets,
    completions: workloads.completions,
    heldBy: ({ key, namespace, target }) => ({
      hold: hasMoved ? justMoved : (troubles.holdOf(key) ?? notServed(target)),
      isDeferred: troubles.areManyIn(namespace),
    }),
    rolledBackFrom,
    rolloutStartedAt: startedAt === undefined ? undefined : Date.parse(startedAt),
    isRollbackOnly: isRollbackOnly({ spec }),
    bounds,
    now,
  });
  const unknown = troubles.uncertain((kind, namespace, name) => workloads.get(kind, namespace, name));
  const uncertain = [...unknown].map(([key, record]): UncertainRestart => {
    return { key, ...workloadOf(record), budgets: coveringBudgets(record, budgets) };
  });
  const plan = yield* planRestarts({ own, others, uncertain }, bounds, now);
  return { plan, ...looked };
}

/** Why no pod should be made for a target now: where the webhook may be passed over (failurePolicy Ignore), it would have no sidecar at all. */
function whyNotServed(target: string, reports: Pick<ReplicaReports, 'lacking'>): RestartHold | undefined {
  const [injectorConfig = '', hash = ''] = target.split('.');
  const lacking = reports.lacking(injectorConfig, hash);
  if (lacking.length === 0) return undefined;
  const message = `configuration ${target} is not served by ${lacking.join(', ')}`.slice(0, longestMessage);
  return { reason: 'NotServed', message };
}
