import { revisionOf, type InjectorConfig } from '../../api/injector-config/injector-config.ts';
import { mergeConditions } from '../../api/kubernetes/conditions.ts';
import type { Condition } from '../../api/kubernetes/kubernetes.ts';
import type { RevisionTag, RevisionTagStatus } from '../../api/revision-tag/revision-tag.ts';
import { usageOf, type UsageStatus } from '../../api/injector-config/usage-status.ts';
import { type Finding, observedConditions } from '../controller/revision-status.ts';

/** What a pass over a tag found; absent findings leave the conditions as they were. */
export interface TagFindings {
  /** Whether the revision of the spec can be led to. */
  RevisionReady?: Finding | undefined;
  /** Whether the webhook leads there. */
  WebhookReady?: Finding | undefined;
  /** Whether everybody gets the revision of the spec; only of tags with a canary strategy. */
  RolloutComplete?: Finding | undefined;
  /** Shown only once it has been true. */
  Overlap?: Finding;
  /** Shown only once it has been true. */
  ForeignOverlap?: Finding;
  /** Shown only once it has been true. */
  Conflict?: Finding;
  /** Shown only once it has been true. */
  Narrowed?: Finding | undefined;
}

/** Where the webhook that is in force leads. */
export interface TagPlace {
  readonly config: InjectorConfig;
  readonly hash: string;
}

const required = ['RevisionReady', 'WebhookReady', 'RolloutComplete'] as const;
const exceptional = ['Overlap', 'ForeignOverlap', 'Conflict', 'Narrowed'] as const;

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
  const known = before?.conditions ?? [];
  const observed = observedConditions(required, exceptional, findings, known, observedGeneration);
  const kept = rollout === undefined ? known.filter(({ type }) => type !== 'RolloutComplete') : known;
  const merged = mergeConditions(kept, observed, now);
  const conditions = mergeConditions(merged, [{ type: 'Ready', observedGeneration, ...readiness(merged, place) }], now);
  return {
    observedGeneration,
    ...(home === undefined ? {} : { stableRevision: revisionOf(home), injectorConfig: home.metadata.name }),
    ...(place === undefined ? {} : { hash: place.hash }),
    conditions,
    ...(rollout === undefined ? {} : { rollout }),
    ...(restarts === undefined ? {} : { restarts }),
    ...(usage ?? usageOf(before)),
  };
}

/** Ready is that pods get the revision of the spec; the first thing against it says why. */
function readiness(conditions: readonly Condition[], place: TagPlace | undefined): Finding {
  const overlap = conditions.find(({ type, status }) => type === 'Overlap' && status === 'True');
  if (overlap !== undefined) return { status: 'False', reason: 'Overlap', message: overlap.message };
  for (const type of required) {
    const condition = conditions.find((each) => each.type === type);
    if (condition === undefined && type === 'RolloutComplete') continue;
    if (condition === undefined)
      return { status: 'Unknown', reason: 'NotObserved', message: `${type} is not known yet` };
    if (condition.status !== 'True') {
      const where =
        place === undefined ? 'the tag leads nowhere' : `the tag leads to revision ${revisionOf(place.config)}`;
      return { status: 'False', reason: condition.reason, message: `${condition.message}; ${where}` };
    }
  }
  const where = place === undefined ? '' : `pods get revision ${revisionOf(place.config)}`;
  return { status: 'True', reason: 'Published', message: where };
}
