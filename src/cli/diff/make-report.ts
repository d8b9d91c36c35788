import { type PodChange, podChangeKinds } from '../../explain/pod-changes.ts';
import { addResources, noResources } from '../../explain/pod-resources.ts';
import type { ChangeGroup, DiffReport, WorkloadDiff } from './diff-report.ts';

/** Makes the report of the compared workloads. */
export function makeReport(
  from: string,
  to: string,
  diffs: readonly WorkloadDiff[],
  notes: readonly string[],
  unknown = 0,
): DiffReport {
  const workloads = [...diffs].sort((one, other) => (sortKey(one) < sortKey(other) ? -1 : 1));
  const sumOf = (isEstimated: boolean): DiffReport['resources'] => {
    let [before, after] = [noResources, noResources];
    for (const { resources } of workloads.filter((each) => each.isEstimated === isEstimated)) {
      before = addResources(before, resources.before);
      after = addResources(after, resources.after);
    }
    return { before, after };
  };
  const count = (is: (diff: WorkloadDiff) => boolean): number => workloads.filter(is).length;
  return {
    from,
    to,
    summary: {
      workloads: workloads.length,
      pods: workloads.reduce((sum, { pods }) => sum + pods, 0),
      changed: count(isChanged),
      failing: count(isFailing),
      estimated: count(({ isEstimated }) => isEstimated),
      changedByOthers: count(({ changedByOthers }) => changedByOthers.length > 0),
      unknown,
    },
    groups: podChangeKinds.flatMap((kind) => groupOf(kind, workloads) ?? []),
    resources: sumOf(false),
    estimatedResources: sumOf(true),
    workloads,
    notes,
  };
}

export function isFailing({ after }: WorkloadDiff): boolean {
  return after.outcome === 'Refused';
}

/** Reports whether new pods differ, or one side injects and the other does not. */
export function isChanged({ before, after, changes }: WorkloadDiff): boolean {
  return changes.length > 0 || before.outcome !== after.outcome;
}

function sortKey(diff: WorkloadDiff): string {
  return `${isFailing(diff) ? 0 : 1} ${diff.namespace} ${diff.kind} ${diff.name}`;
}

function groupOf(kind: PodChange['kind'], workloads: readonly WorkloadDiff[]): ChangeGroup | undefined {
  const concerned = workloads.filter(({ changes }) => changes.some((change) => change.kind === kind));
  const counts = new Map<string, { count: number; example: ChangeGroup['example'] }>();
  for (const { namespace, kind: workloadKind, name, changes } of concerned) {
    for (const change of changes.filter((each) => each.kind === kind)) {
      const text = JSON.stringify([change.path, change.before, change.after]);
      const known = counts.get(text);
      const workload = `${workloadKind}/${name}`;
      counts.set(text, {
        count: (known?.count ?? 0) + 1,
        example: known?.example ?? { ...change, namespace, workload },
      });
    }
  }
  const [most] = [...counts.values()].sort((one, other) => other.count - one.count);
  if (most === undefined) return undefined;
  const pods = concerned.reduce((sum, workload) => sum + workload.pods, 0);
  return { kind, workloads: concerned.length, pods, example: most.example };
}
