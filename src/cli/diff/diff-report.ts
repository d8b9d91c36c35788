import type { InPlaceObstacle } from '../../explain/in-place.ts';
import { type PodChange, type PodChangeKind, podChangeKinds } from '../../explain/pod-changes.ts';
import { addResources, noResources, type PodResources } from '../../explain/pod-resources.ts';

/** What an injector does with the pods of a workload. */
export interface InjectionOutcome {
  readonly outcome: 'Injected' | 'NotInjected' | 'Refused';
  /** `N.<hash8>` of the configuration, or the name of a file. */
  readonly configuration: string;
  /** An identifier, as in metrics and Events. */
  readonly reason: string;
  readonly message: string;
}

/** What changes for the pods of one workload. */
export interface WorkloadDiff {
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
  /** The number of live pods; without live pods, the number that the spec asks for. */
  readonly pods: number;
  readonly before: InjectionOutcome;
  readonly after: InjectionOutcome;
  /** The differences between a new pod before and a new pod after. */
  readonly changes: readonly PodChange[];
  /**
   * What keeps the newest live pod from becoming the new pod while it runs; empty if an update in
   * place suffices. Absent without changes, and without a live pod.
   */
  readonly needsRestart?: readonly InPlaceObstacle[];
  /** Whether the pod was derived from the pod template, or its configuration is not known. */
  readonly isEstimated: boolean;
  /** The paths that other webhooks also change; empty if only the injector changes the pod. */
  readonly changedByOthers: readonly string[];
  /** Remarks, for example fields whose original value is not known. */
  readonly notes: readonly string[];
  /** The effective requests and limits of all pods of the workload. */
  readonly resources: { readonly before: PodResources; readonly after: PodResources };
  /** The predicted pod before and after; only with `--pods`. */
  readonly predicted?: { readonly before: unknown; readonly after: unknown };
}

/** All changes of one kind. */
export interface ChangeGroup {
  readonly kind: PodChangeKind;
  /** The number of workloads with such a change, and the number of their pods. */
  readonly workloads: number;
  readonly pods: number;
  /** The numbers of other changes of the kind, and of the fields that they change. */
  readonly otherChanges: number;
  readonly otherFields: number;
  /** The most frequent change, as one example. */
  readonly example: PodChange & { readonly namespace: string; readonly workload: string };
}

/** The result of `injector diff`, as printed by `-o json`. */
export interface DiffReport {
  /** What is compared, in words: `the active configurations`, `revision 1-25`, a file name. */
  readonly from: string;
  readonly to: string;
  readonly summary: {
    readonly workloads: number;
    readonly pods: number;
    readonly changed: number;
    /** Workloads whose pods would be refused. */
    readonly failing: number;
    readonly estimated: number;
    readonly changedByOthers: number;
    /** The live pods of changed workloads that can be updated in place, or need a restart. */
    readonly podsInPlace: number;
    readonly podsByRestart: number;
    /** Workloads that were not compared; the notes say why. */
    readonly unknown: number;
  };
  /** One entry for each kind that has a change, in a fixed order. */
  readonly groups: readonly ChangeGroup[];
  /** The sums over all pods, apart from estimated rows. */
  readonly resources: { readonly before: PodResources; readonly after: PodResources };
  /** The sums over all estimated rows. */
  readonly estimatedResources: { readonly before: PodResources; readonly after: PodResources };
  /** Refused workloads come first; then the others by namespace, kind and name. */
  readonly workloads: readonly WorkloadDiff[];
  /** Remarks, for example kinds of objects that could not be read. */
  readonly notes: readonly string[];
}

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
      ...updatesOf(workloads),
      unknown,
    },
    groups: podChangeKinds.flatMap((kind) => groupOf(kind, workloads) ?? []),
    resources: sumOf(false),
    estimatedResources: sumOf(true),
    workloads,
    notes,
  };
}

/** Counts the live pods of changed workloads by what an update of them takes. */
function updatesOf(workloads: readonly WorkloadDiff[]): Pick<DiffReport['summary'], 'podsInPlace' | 'podsByRestart'> {
  const podsOf = (is: (reasons: readonly InPlaceObstacle[]) => boolean): number =>
    workloads.reduce((sum, { pods, needsRestart }) => sum + (needsRestart && is(needsRestart) ? pods : 0), 0);
  return { podsInPlace: podsOf(({ length }) => length === 0), podsByRestart: podsOf(({ length }) => length > 0) };
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

function groupOf(kind: PodChangeKind, workloads: readonly WorkloadDiff[]): ChangeGroup | undefined {
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
  const [most, ...others] = [...counts.values()].sort((one, other) => other.count - one.count);
  if (most === undefined) return undefined;
  const pods = concerned.reduce((sum, workload) => sum + workload.pods, 0);
  const otherFields = new Set(others.map(({ example }) => example.path)).size;
  return { kind, workloads: concerned.length, pods, otherChanges: others.length, otherFields, example: most.example };
}
