import type { RevisionTag, RestartStatus, RolloutState } from '../../api/revision-tag/revision-tag.ts';
import { plural } from '../report/write-report.ts';
import { restartsOf } from '../rollout/rollout-lines.ts';
import { rolloutUnderWay } from '../rollout/rollout-standing.ts';
import { configOfTag, type Installation } from './installation.ts';
import { type Readiness, readinessOf, staleSince } from './operator-health.ts';
import type { PodCounts } from '../../operator/usage/judge-pod.ts';
import { noCounts, type UsageReport } from './read-usage.ts';

/** A tag, as `injector tag list` shows it. */
export interface TagReport extends Readiness, TagStanding {
  readonly tag: string;
  readonly injectorConfig?: string;
  readonly namespaces: readonly string[];
  /** The pods that follow the tag. */
  readonly pods: PodCounts;
}

/** The revisions of a tag. */
export interface TagStanding {
  /** The revision of the spec. */
  readonly revision: string;
  /** The revision that pods get while there is a webhook; absent while the tag has no target. */
  readonly stableRevision?: string;
  /** A summary of the rollout in progress. */
  readonly rollout?: Pick<RolloutState, 'phase' | 'weight' | 'shadow'> & { readonly canaryRevision: string };
  /** A summary of the requested restarts; absent until the operator has reconciled them. */
  readonly restarts?: Pick<RestartStatus, 'phase' | 'stale' | 'inProgress'>;
}

/** Returns the reports of all tags, sorted by name. */
export function tagReports(installation: Installation, usage: UsageReport): TagReport[] {
  return [...installation.tags]
    .sort((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1))
    .map((tag) => tagReport(tag, installation, usage));
}

function tagReport(tag: RevisionTag, installation: Installation, usage: UsageReport): TagReport {
  const { name } = tag.metadata;
  const injectorConfig = configOfTag(installation, tag)?.metadata.name;
  return {
    tag: name,
    ...standingOf(tag),
    ...(injectorConfig === undefined ? {} : { injectorConfig }),
    namespaces: usage.following(tag),
    pods: usage.tags.get(name) ?? noCounts,
    ...readinessOf(tag, staleSince(installation.health, tag.spec.operatorClass)),
  };
}

export function standingOf(tag: RevisionTag): TagStanding {
  const { stableRevision } = tag.status ?? {};
  const standing = { revision: tag.spec.revision, ...(stableRevision && { stableRevision }), ...restartReport(tag) };
  const underWay = rolloutUnderWay(tag);
  if (underWay === undefined) return standing;
  const { phase, weight, shadow, canary } = underWay;
  return { ...standing, rollout: { phase, weight, shadow, canaryRevision: canary.revision } };
}

function restartReport(tag: RevisionTag): Pick<TagStanding, 'restarts'> {
  const restarts = restartsOf(tag);
  if (restarts === undefined) return {};
  const { phase, stale, inProgress } = restarts;
  return { restarts: { phase, stale, inProgress } };
}

/** Formats the revisions: `1-24`, `1-24 (spec: 1-25)`, `1-24 (1-25: Paused 25 %)`. */
export function formatStanding({ revision, stableRevision = '-', rollout }: TagStanding): string {
  if (rollout === undefined) return stableRevision === revision ? revision : `${stableRevision} (spec: ${revision})`;
  const share = rollout.shadow ? '' : ` ${rollout.weight} %`;
  return `${stableRevision} (${rollout.canaryRevision}: ${rollout.phase}${share})`;
}

/** Formats `Restarting (40 workloads stale)`, `Idle`, or `-` if there are none. */
export function formatRestarts({ restarts }: Pick<TagStanding, 'restarts'>): string {
  if (restarts === undefined) return '-';
  return restarts.stale === 0 ? restarts.phase : `${restarts.phase} (${plural(restarts.stale, 'workload')} stale)`;
}
