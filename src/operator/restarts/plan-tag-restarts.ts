import type { RevisionTag } from '../../api/revision-tag.ts';
import { restartBounds } from '../../api/rollout-strategy.ts';
import type { RestartCandidate } from '../../rollout/restart-candidate.ts';
import { planRestarts, type RestartPlan } from '../../rollout/restarts.ts';
import type { RolloutWorkload } from '../../rollout/workload-key.ts';
import type { ReplicaReports } from '../ports.ts';
import type { PodGroup } from '../usage/pod-group.ts';
import type { FollowedWorkloads } from './followed-workloads.ts';
import { restartCandidates } from './restart-candidates.ts';
import { isRollbackOnly } from './restart-source.ts';

export interface TagRestartSources {
  /** The pods that follow the tag, judged. */
  readonly groups: Iterable<PodGroup>;
  readonly workloads: Pick<FollowedWorkloads, 'get' | 'annotated' | 'budgets' | 'completions'>;
  /** Whether the webhook of the tag leads elsewhere since a moment ago: some API servers may not know it yet. */
  readonly hasMoved: boolean;
  /** Why the API server has refused to restart a workload; undefined when it may be tried. */
  readonly refusalOf: (workload: RolloutWorkload) => string | undefined;
  readonly reports: Pick<ReplicaReports, 'lacking'>;
  /** Milliseconds since 1970. */
  readonly now: number;
}

const justMoved = { reason: 'JustMoved', message: 'the webhook has just moved: restarts begin in a few seconds' };

/** Of the names of many replicas so much goes into a status. */
const longestMessage = 512;

/** What to restart for a tag now, by what the followed pods, workloads and budgets say, and by what the API server and replicas have said. */
export function planTagRestarts({ metadata, spec, status }: RevisionTag, sources: TagRestartSources): RestartPlan {
  const { groups, workloads, hasMoved, refusalOf, reports, now } = sources;
  const { rolledBackFrom, startedAt } = status?.rollout ?? {};
  const bounds = restartBounds(spec.strategy ?? {});
  const { own, others } = restartCandidates({
    tag: metadata.name,
    groups,
    workloads,
    budgets: workloads.budgets(),
    completions: workloads.completions,
    rolledBackFrom,
    rolloutStartedAt: startedAt === undefined ? undefined : Date.parse(startedAt),
    isRollbackOnly: isRollbackOnly({ spec }),
    bounds,
    now,
  });
  const targets = new Set(own.map(({ target }) => target));
  const notServed = new Map([...targets].map((target) => [target, whyNotServed(target, reports)]));
  const held = own.map((candidate): RestartCandidate => {
    if (hasMoved) return { ...candidate, hold: justMoved };
    const refusal = refusalOf(candidate);
    if (refusal !== undefined) return { ...candidate, hold: { reason: 'Refused', message: refusal } };
    const message = notServed.get(candidate.target);
    return message === undefined ? candidate : { ...candidate, hold: { reason: 'NotServed', message } };
  });
  return planRestarts({ own: held, others }, bounds, now);
}

/** Why no pod should be made for a target now: where the webhook may be passed over (failurePolicy Ignore), it would have no sidecar at all. */
function whyNotServed(target: string, reports: Pick<ReplicaReports, 'lacking'>): string | undefined {
  const [injectorConfig = '', hash = ''] = target.split('.');
  const lacking = reports.lacking(injectorConfig, hash);
  if (lacking.length === 0) return undefined;
  return `configuration ${target} is not served by ${lacking.join(', ')}`.slice(0, longestMessage);
}
