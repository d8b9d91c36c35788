import type { PodChange, PodChangeKind } from '../../explain/pod-changes.ts';
import type { PodResources } from '../../explain/pod-resources.ts';

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
