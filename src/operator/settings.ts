import type { ManifestContext } from '../manifests/manifest-context.ts';
import type { ClusterView } from './cluster-view.ts';

export interface OperatorSettings {
  /** The operator's namespace and class, and how the API server reaches the replicas. */
  readonly context: Omit<ManifestContext, 'owner'>;
  /** The webhook configuration that owns all others of this operator, for garbage collection. */
  readonly owner?: string;
  /** A name that no other candidate or replica has, for example the name of the pod. */
  readonly identity: string;
  /** The role of the process (`--role`). Default: `all`, which also serves admissions. */
  readonly role?: 'all' | 'controller' | 'webhook';
  /** Whether the leader watches pods, for their Events and for usage. Default: true. */
  readonly followPods?: boolean;
  /** Whether RevisionTags may restart workloads (`--restart-workloads`). Default: false. */
  readonly restartWorkloads?: boolean;
  /** Whether RevisionTags may update running pods in place (`--update-pods`). Default: false. */
  readonly updatePods?: boolean;
  /** Whether InjectorConfigs may hold pods (`--hold-pods`). Default: false. */
  readonly holdPods?: boolean;
  /** Whether signers may issue certificates (`--certificate-signing-requests`). Default: false. */
  readonly certificateSigningRequests?: boolean;
  /** Whether cert-manager may issue certificates (`--cert-manager`). Default: false. */
  readonly certManager?: boolean;
  /** The divisor of all durations of certificate policies, for tests of expiry. Default: 1. */
  readonly testCertificateTimeScale?: number;
  /** The divisor of the durations of Leases, of the wait for a replica and of usage, for tests. */
  readonly testLeaseTimeScale?: number;
}

/** The field manager under which the API server records our fields. */
export const fieldManager = 'sidecar-injector';
/** The field manager of status, so that writes of spec and status never own each other's fields. */
export const statusManager = 'sidecar-injector-status';
/** The field manager of the restart annotation, the only field of a workload that we write. */
export const restartManager = 'sidecar-injector-restarts';

/** The field manager of updates in place of running pods. */
export const updateManager = 'sidecar-injector-updates';

/** The number of configurations kept per revision, so that a reverted edit needs no compilation. */
export const keptConfigurations = 3;

/** The resync period, in milliseconds. It keeps deadlines effective when the clock jumps. */
export const resyncMs = 600_000;

/** Returns the context for webhook configurations; undefined if the configured owner is missing. */
export function manifestContext(
  { context, owner: name }: OperatorSettings,
  view: ClusterView,
): ManifestContext | undefined {
  if (name === undefined) return context;
  const owner = view.mutatingWebhooks.get(name);
  const { uid, deletionTimestamp } = owner?.metadata ?? {};
  if (owner === undefined || uid === undefined || deletionTimestamp !== undefined) return undefined;
  return { ...context, owner: { apiVersion: owner.apiVersion, kind: owner.kind, name, uid } };
}
