import type { RevisionTag } from '../../api/revision-tag.ts';
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
  readonly namespaces: readonly string[];
  /** Those that follow it now. */
  readonly pods: PodCounts;
  readonly ready: boolean;
  readonly reason: string;
  readonly message: string;
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
    namespaces: namespacesNaming(installation, keysOfTag(installation, tag), name),
    pods: usage.tags.get(name) ?? noPods,
    ...readinessOf(tag),
  };
}
