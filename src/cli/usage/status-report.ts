import { revisionOf } from '../../api/injector-config/injector-config.ts';
import type { Installation } from './installation.ts';
import { restartReport, type TagRestartReport } from './tag-report.ts';
import { noPods, type PodCounts, type UsageReport, type WorkloadUsage } from './usage-report.ts';

interface Named extends PodCounts {
  readonly name: string;
}

/** What `injector status` says, whole. */
export interface StatusReport {
  /** By the InjectorConfig that has injected the pods; `revision` is absent when it is gone. */
  readonly injectorConfigs: readonly (Named & { readonly revision?: string })[];
  readonly tags: readonly (Named & { readonly revision: string; readonly restarts?: TagRestartReport })[];
  /** Those with pods. */
  readonly namespaces: readonly Named[];
  readonly workloads: readonly WorkloadUsage[];
  readonly total: PodCounts;
}

/** @param onlyStale leaves out whatever has neither stale nor missing pods */
export function statusReport({ configs, tags }: Installation, usage: UsageReport, onlyStale: boolean): StatusReport {
  const isWanted = ({ stale, missing }: PodCounts): boolean => !onlyStale || stale + missing > 0;
  const revisions = new Map(configs.map((config) => [config.metadata.name, revisionOf(config)]));
  const injectors = new Set([...revisions.keys(), ...usage.injectorConfigs.keys()]);
  return {
    injectorConfigs: [...injectors]
      .sort()
      .map((name) => {
        const revision = revisions.get(name);
        const counts = usage.injectorConfigs.get(name) ?? noPods;
        return { name, ...(revision === undefined ? {} : { revision }), ...counts };
      })
      .filter(isWanted),
    tags: tags
      .map((tag) => {
        const { name } = tag.metadata;
        return { name, revision: tag.spec.revision, ...(usage.tags.get(name) ?? noPods), ...restartReport(tag) };
      })
      .sort(byName)
      .filter(isWanted),
    namespaces: [...usage.namespaces]
      .map(([name, counts]) => ({ name, ...counts }))
      .sort(byName)
      .filter(isWanted),
    workloads: usage.workloads.filter(isWanted),
    total: [...usage.namespaces.values()].reduce(sum, noPods),
  };
}

function byName(one: Named, other: Named): number {
  return one.name < other.name ? -1 : 1;
}

function sum(one: PodCounts, other: PodCounts): PodCounts {
  return {
    current: one.current + other.current,
    stale: one.stale + other.stale,
    missing: one.missing + other.missing,
  };
}
