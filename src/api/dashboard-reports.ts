/** What `injector dashboard` sends to its page. The field names are those of the commands. */
import type { CanaryStep } from './revision-tag/rollout-strategy.ts';
import type { RestartStatus, RolloutState } from './revision-tag/revision-tag.ts';

/** An answer to a request for a report. The page then asks for a version that is not this one. */
export interface LiveAnswer<Report> {
  readonly version: number;
  /** The latest report that could be computed. */
  readonly report?: Report;
  /** Why there is no newer report. */
  readonly failure?: string;
  /** When `report` was computed (RFC 3339), if there is a failure. */
  readonly at?: string;
}

/** The number of pods in each state. */
interface Pods {
  readonly current: number;
  readonly stale: number;
  readonly missing: number;
}

/** Whether an object is ready, as its conditions say. */
interface Ready {
  readonly ready: boolean;
  readonly reason: string;
  readonly message: string;
  /** Since when no leader updates the conditions; null if there never was one. */
  readonly unknownSince?: string | null;
}

/** An injector, as `injector revisions` lists it. */
export interface DashboardRevision extends Partial<Ready> {
  readonly revision: string;
  readonly name: string;
  readonly foreign: boolean;
  readonly hash?: string;
  readonly tags: readonly string[];
  readonly namespaces: readonly string[];
  readonly pods?: Pods;
  readonly certificateExpires?: string;
}

/**
 * The state of a step of a rollout. `skipped`: the rollout was promoted before the step.
 * `rolledBack`: the rollout ended in the step.
 */
export type StepMark = 'done' | 'current' | 'rolledBack' | 'skipped' | 'coming';

/** The actions of `injector tag` that the page offers. */
export const dashboardVerbs = ['resume', 'retry', 'promote', 'abort'] as const;
export type DashboardVerb = (typeof dashboardVerbs)[number];

/** What the page asks before an action. */
export interface DashboardQuestion {
  readonly id: string;
  readonly tag: string;
  readonly verb: DashboardVerb;
  /** What will happen. */
  readonly effect: string;
  /** The state of the rollout, and what speaks against the action. */
  readonly evidence: readonly string[];
}

/** A tag, as `injector tag list` and `injector tag watch` show it. */
export interface DashboardTag extends Ready {
  readonly tag: string;
  readonly revision: string;
  readonly stableRevision?: string;
  readonly injectorConfig?: string;
  readonly namespaces: readonly string[];
  readonly pods: Pods;
  readonly phase: string;
  /** What happens now, or why the rollout waits. */
  readonly news: string;
  /** What to do after a rollback. */
  readonly advice?: string;
  /** The actions that the operator would accept now. */
  readonly actions: readonly DashboardVerb[];
  readonly steps: readonly (CanaryStep & { readonly mark: StepMark })[];
  readonly state?: RolloutState;
  readonly restartState?: RestartStatus;
}

/** A process of an operator. */
export interface DashboardReplica {
  readonly operatorClass: string;
  readonly name: string;
  readonly version?: string;
  readonly isLive: boolean;
  readonly isLeader: boolean;
}

/** The first view of the dashboard. */
export interface OverviewReport {
  /** The URL of the API server. */
  readonly server: string;
  readonly replicas: readonly DashboardReplica[];
  /** What is wrong with the operators, if anything is. */
  readonly outages: readonly string[];
  readonly revisions: readonly DashboardRevision[];
  readonly tags: readonly DashboardTag[];
  /** Remarks about held pods, and about what could not be read. */
  readonly notes: readonly string[];
  /** Whether the page may carry out actions (`--allow-actions`). */
  readonly allowsActions?: boolean;
}

/** The certificates of an InjectorConfig, as `injector certs status` shows them. */
export interface DashboardCertificate {
  readonly name: string;
  /** `Stable`, or the phase of a rotation: `Publishing`, `Confirming` or `Retiring`. */
  readonly phase: string;
  readonly fingerprint?: string;
  readonly notAfter?: string;
  readonly renewAt?: string;
  readonly caNotAfter?: string;
  /** The authorities that each webhook configuration trusts. */
  readonly bundles: readonly { readonly configuration: string; readonly authorities: readonly string[] }[];
  /** The certificate that each replica serves. */
  readonly replicas: Readonly<Record<string, string>>;
  readonly problems: readonly string[];
}

/** The pods of one workload, as `injector status` counts them. */
export interface DashboardWorkload extends Pods {
  readonly namespace: string;
  /** `Deployment/web`. */
  readonly workload: string;
  /** The InjectorConfig that new pods get, else the one that injected the pods. */
  readonly injectorConfig: string;
  readonly tag?: string;
  /** The number of pods that wait for their sidecar (failurePolicy Hold). */
  readonly held: number;
  /** Why the API server refuses new pods. */
  readonly refused?: string;
  /** Why pods are not current. */
  readonly causes: readonly string[];
}

/** All workloads with injected pods, or with pods that should be. */
export interface WorkloadsReport {
  readonly workloads: readonly DashboardWorkload[];
  readonly total: Pods;
  /** The number of pods that another injector injected, and that do not count. */
  readonly injectedByOthers: number;
  /** Labels of namespaces without effect, and what could not be read. */
  readonly notes: readonly string[];
}

/** A problem, as `injector analyze` finds it. */
export interface DashboardProblem {
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
  readonly reason: string;
  readonly message: string;
  /** A command that solves or explains the problem. */
  readonly command: string;
}

/** The problems of the cluster. */
export interface ProblemsReport {
  readonly problems: readonly DashboardProblem[];
  readonly notes: readonly string[];
}

/** Why a workload's new pods are injected or not, as `injector check` explains it. */
export interface DashboardCheck {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly result: 'Injected' | 'NotInjected' | 'Refused' | 'Unknown';
  readonly message: string;
  readonly command?: string;
  readonly injectedBy: readonly string[];
  readonly advice: readonly { readonly sentence: string; readonly commands: readonly string[] }[];
  readonly notes: readonly string[];
  /** The state of a pod that exists. */
  readonly existing?: { readonly state: string; readonly message: string };
  readonly rollouts: readonly { readonly message: string }[];
  readonly webhooks: readonly ExplainedWebhook[];
}

/** What a webhook does with the pod. */
export interface ExplainedWebhook {
  readonly configuration: string;
  readonly webhook: string;
  readonly outcome: 'NotCalled' | 'Called' | 'Injected' | 'Skipped' | 'Refused' | 'Unknown';
  readonly message: string;
  readonly steps: readonly { readonly step: string; readonly result: string; readonly message: string }[];
}

/** A pod before or after: whether an injector injects it, which one, and why. */
interface DiffedPod {
  readonly outcome: 'Injected' | 'NotInjected' | 'Refused';
  readonly configuration: string;
  readonly message: string;
}

/** How new pods of a workload would differ from its newest running pod, as `injector diff` says. */
export interface DashboardDiff {
  /** Absent if nothing injects new pods of the workload. */
  readonly compared?: {
    readonly before: DiffedPod;
    readonly after: DiffedPod;
    /** The differences, with values as text; long texts and lists are cut. */
    readonly changes: readonly { readonly path: string; readonly before?: string; readonly after?: string }[];
    readonly unlistedChanges: number;
    /** Why the running pod cannot become the new one; empty if it can, absent without changes. */
    readonly needsRestart?: readonly { readonly field: string; readonly reason: string }[];
  };
  readonly notes: readonly string[];
}

/** The reports by name: the page requests `/reports/NAME`. */
export interface DashboardReports {
  readonly overview: OverviewReport;
  readonly certificates: readonly DashboardCertificate[];
  readonly workloads: WorkloadsReport;
  readonly problems: ProblemsReport;
}

/** The data of a file that `injector dashboard --snapshot` writes. */
export interface DashboardSnapshot {
  /** When the file was written, RFC 3339. */
  readonly at: string;
  /** The answers to requests for reports, by name. */
  readonly answers: Readonly<Record<string, LiveAnswer<unknown>>>;
}
