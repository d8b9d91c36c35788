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

/** The conditions that `Ready` needs. Only a tag with a canary strategy has `RolloutComplete`. */
const required = ['RevisionReady', 'WebhookReady', 'RolloutComplete'] as const;
const exceptional = ['Overlap', 'ForeignOverlap', 'Conflict', 'Narrowed'] as const;

/** The findings of a pass over a tag. If a finding is absent, its condition stays unchanged. */
export type TagFindings = FindingsOf<(typeof required | typeof exceptional)[number]>;

/** The InjectorConfig and configuration hash that the live webhook of a tag names. */
export interface LiveTarget {
  readonly config: InjectorConfig;
  readonly hash: string;
}

/**
 * Returns the status for the findings. If nothing has changed, it deeply equals the old status.
 * @param current the InjectorConfig to which the tag points, even while its webhook is withdrawn
 */
export function tagStatus(
  { metadata, status: before }: Pick<RevisionTag, 'metadata' | 'status'>,
  findings: TagFindings,
  live: LiveTarget | undefined,
  current: InjectorConfig | undefined,
  usage: UsageStatus | undefined,
  now: Date,
  progress: Pick<RevisionTagStatus, 'rollout' | 'restarts'> = {},
): RevisionTagStatus {
  const { rollout, restarts } = progress;
  const observedGeneration = metadata.generation ?? 0;
  const known = (before?.conditions ?? []).filter(({ type }) => rollout !== undefined || type !== 'RolloutComplete');
  const types = [required, exceptional] as const;
  const ready = (conditions: readonly Condition[]): Finding => readiness(conditions, live);
  const conditions = observedConditions(types, findings, known, ready, observedGeneration, now);
  return {
    observedGeneration,
    ...(current && { stableRevision: revisionOf(current), injectorConfig: current.metadata.name }),
    ...(live && { hash: live.hash }),
    conditions,
    ...(rollout && { rollout }),
    ...(restarts && { restarts }),
    ...(usage ?? usageOf(before)),
  };
}

/** Returns `Ready`. Unless pods get the spec's revision, it names the obstacle and the target. */
function readiness(conditions: readonly Condition[], live: LiveTarget | undefined): Finding {
  const isRollingOut = conditions.some(({ type }) => type === 'RolloutComplete');
  const needed = required.filter((type) => type !== 'RolloutComplete' || isRollingOut);
  const where =
    live === undefined ? 'the tag points to no revision' : `the tag points to revision ${revisionOf(live.config)}`;
  const obstacle = obstacleAmong(conditions, ['Overlap'], needed, `; ${where}`);
  return obstacle ?? yes('Published', live === undefined ? '' : `pods get revision ${revisionOf(live.config)}`);
}
