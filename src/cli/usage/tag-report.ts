import type { RevisionTag } from '../../api/revision-tag.ts';
import type { RolloutState } from '../../api/rollout-status.ts';
import { rolloutUnderWay } from '../rollout/rollout-standing.ts';
import { configOfTag, keysOfTag, namespacesNaming, type Installation } from './installation.ts';
import { readinessOf } from './readiness.ts';
import { noPods, type PodCounts, type UsageReport } from './usage-report.ts';

/** One tag, as `injector tag list` shows it. */
export interface TagReport {
  readonly tag: string;
  /** What is asked for. */
  readonly revision: string;
  /** What pods get now; absent while the tag leads nowhere. */
  readonly stableRevision?: string;
  readonly injectorConfig?: string;
  /** While a rollout is under way. */
  readonly rollout?: TagRolloutReport;
  readonly namespaces: readonly string[];
  /** Those that follow it now. */
  readonly pods: PodCounts;
  readonly ready: boolean;
  readonly reason: string;
  readonly message: string;
}

/** Where a rollout stands, in short; `injector tag watch` shows it whole. */
export interface TagRolloutReport extends Pick<RolloutState, 'phase' | 'weight' | 'shadow'> {
  readonly canaryRevision: string;
}

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
    namespaces: namespacesNaming(installation, keysOfTag(installation, tag), name),
    pods: usage.tags.get(name) ?? noPods,
    ...readinessOf(tag),
  };
}

function rolloutOf(tag: RevisionTag): Pick<TagReport, 'rollout'> {
  const underWay = rolloutUnderWay(tag);
  if (underWay === undefined) return {};
  const { phase, weight, shadow, canary } = underWay;
  return { rollout: { phase, weight, shadow, canaryRevision: canary.revision } };
}
