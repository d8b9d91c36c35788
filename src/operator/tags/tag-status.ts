import { revisionOf, type InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { Condition } from '../../api/kubernetes/kubernetes.ts';
import type { RevisionTag, RevisionTagStatus } from '../../api/revision-tag/revision-tag.ts';
import { usageOf, type UsageStatus } from '../../api/injector-config/usage-status.ts';
import {
  type Finding,
  type FindingsOf,
  obstacleAmong,
  observedConditions,
  yes,
} from '../controller/revision-status.ts';

/**
 * What is said of a tag: whether the revision of the spec can be led to, whether the webhook leads there, and, only of tags with a canary strategy,
 * whether everybody gets it.
 */
const required = ['RevisionReady', 'WebhookReady', 'RolloutComplete'] as const;
const exceptional = ['Overlap', 'ForeignOverlap', 'Conflict', 'Narrowed'] as const;

/** What a pass over a tag found; absent findings leave the conditions as they were. */
export type TagFindings = FindingsOf<(typeof required | typeof exceptional)[number]>;

/** Where the webhook that is in force leads. */
export interface TagPlace {
  readonly config: InjectorConfig;
  readonly hash: string;
}

/**
 * The status that follows from the findings; deeply equal to the one before when nothing has changed.
 * @param place where the webhook leads
 * @param home the InjectorConfig at which the tag stands, also while its webhook is withdrawn: that is where it goes back to
 */
export function tagStatus(
  { metadata, status: before }: Pick<RevisionTag, 'metadata' | 'status'>,
  findings: TagFindings,
  place: TagPlace | undefined,
  home: InjectorConfig | undefined,
  usage: UsageStatus | undefined,
  now: Date,
  courses: Pick<RevisionTagStatus, 'rollout' | 'restarts'> = {},
): RevisionTagStatus {
  const { rollout, restarts } = courses;
  const observedGeneration = metadata.generation ?? 0;
  const known = (before?.conditions ?? []).filter(({ type }) => rollout !== undefined || type !== 'RolloutComplete');
  const types = [required, exceptional] as const;
  const ready = (conditions: readonly Condition[]): Finding => readiness(conditions, place);
  const conditions = observedConditions(types, findings, known, ready, observedGeneration, now);
  return {
    observedGeneration,
    ...(home && { stableRevision: revisionOf(home), injectorConfig: home.metadata.name }),
    ...(place && { hash: place.hash }),
    conditions,
    ...(rollout && { rollout }),
    ...(restarts && { restarts }),
    ...(usage ?? usageOf(before)),
  };
}

/** Ready is that pods get the revision of the spec; the first thing against it says why, and where the tag leads instead. */
function readiness(conditions: readonly Condition[], place: TagPlace | undefined): Finding {
  const isRollingOut = conditions.some(({ type }) => type === 'RolloutComplete');
  const needed = required.filter((type) => type !== 'RolloutComplete' || isRollingOut);
  const where = place === undefined ? 'the tag leads nowhere' : `the tag leads to revision ${revisionOf(place.config)}`;
  const obstacle = obstacleAmong(conditions, ['Overlap'], needed, `; ${where}`);
  return obstacle ?? yes('Published', place === undefined ? '' : `pods get revision ${revisionOf(place.config)}`);
}
