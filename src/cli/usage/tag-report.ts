import type { RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import type { RestartStatus, RolloutState } from '../../api/revision-tag/rollout-status.ts';
import { restartsOf } from '../rollout/restart-lines.ts';
import { rolloutUnderWay } from '../rollout/rollout-standing.ts';
import { configOfTag, keysOfTag, namespacesNaming, type Installation } from './installation.ts';
import { staleSince } from './operator-health.ts';
import { readinessOf, type Readiness } from './readiness.ts';
import { noPods, type PodCounts, type UsageReport } from './usage-report.ts';

/** One tag, as `injector tag list` shows it. */
export interface TagReport extends Readiness {
  readonly tag: string;
  /** What is asked for. */
  readonly revision: string;
  /** What pods get now; absent while the tag leads nowhere. */
  readonly stableRevision?: string;
  readonly injectorConfig?: string;
  /** While a rollout is under way. */
  readonly rollout?: TagRolloutReport;
  /** While the spec asks for restarts, as far as the operator has looked. */
  readonly restarts?: TagRestartReport;
  readonly namespaces: readonly string[];
  /** Those that follow it now. */
  readonly pods: PodCounts;
}

/** Where a rollout stands, in short; `injector tag watch` shows it whole. */
export interface TagRolloutReport extends Pick<RolloutState, 'phase' | 'weight' | 'shadow'> {
  readonly canaryRevision: string;
}

/** How the restarts of stale workloads go on, in short. */
export type TagRestartReport = Pick<RestartStatus, 'phase' | 'stale' | 'inProgress'>;

/** All tags, by name. */
export function tagReports(installation: Installation, usage: UsageReport): TagReport[] {
  return [...installation.tags]
    .sort((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1))
    .map((tag) => tagReport(tag, installation, usage));
}

function tagReport(tag: RevisionTag, installation: Installation, usage: UsageReport): TagReport {
  const { name } = tag.metadata;
  const { stableRevision } = tag.status ?? {};
  const injectorConfig = configOfTag(installation, tag)?.metadata.name;
  return {
    tag: name,
    revision: tag.spec.revision,
    ...(stableRevision === undefined ? {} : { stableRevision }),
    ...(injectorConfig === undefined ? {} : { injectorConfig }),
    ...rolloutOf(tag),
    ...restartReport(tag),
    namespaces: namespacesNaming(installation, keysOfTag(installation, tag), name),
    pods: usage.tags.get(name) ?? noPods,
    ...readinessOf(tag, staleSince(installation.health, tag.spec.operatorClass)),
  };
}

function rolloutOf(tag: RevisionTag): Pick<TagReport, 'rollout'> {
  const underWay = rolloutUnderWay(tag);
  if (underWay === undefined) return {};
  const { phase, weight, shadow, canary } = underWay;
  return { rollout: { phase, weight, shadow, canaryRevision: canary.revision } };
}

/** Nothing where nothing is asked for. */
export function restartReport(tag: RevisionTag): { restarts?: TagRestartReport } {
  const restarts = restartsOf(tag);
  if (restarts === undefined) return {};
  const { phase, stale, inProgress } = restarts;
  return { restarts: { phase, stale, inProgress } };
}

/** `Restarting (40 stale)`, `Idle`; `-` where nothing is asked for. */
export function formatRestarts({ restarts }: { readonly restarts?: TagRestartReport }): string {
  if (restarts === undefined) return '-';
  return restarts.stale === 0 ? restarts.phase : `${restarts.phase} (${restarts.stale} stale)`;
}
