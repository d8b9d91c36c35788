import type { ManifestContext } from '../manifests/manifest-context.ts';
import type { ClusterView } from './cluster-view.ts';

/** What the operator is told when it starts. */
export interface OperatorSettings {
  /** Where it lives and how it is reached. */
  readonly context: Omit<ManifestContext, 'owner'>;
  /** Name of the MutatingWebhookConfiguration that owns what we write of that kind; without it nothing removes them but us. */
  readonly owner?: string;
  /** Tells this process from the other candidates and replicas, e.g. the pod's name. */
  readonly identity: string;
  /** Whether the leader follows the cluster's pods, for Events about them and for who uses what; true unless told. */
  readonly followPods?: boolean;
  /** Whether RevisionTags may ask for restarts of workloads (`--restart-workloads`); false unless told. */
  readonly restartWorkloads?: boolean;
  /** Whether certificates may come from signers (`--certificate-signing-requests`) and cert-manager (`--cert-manager`); false unless told. */
  readonly certificateSigningRequests?: boolean;
  readonly certManager?: boolean;
  /** What every duration of a certificate policy is divided by, for tests that cross expiries; 1 otherwise. */
  readonly certificateTimeScale?: number;
  /** What the durations of the leader's Lease are divided by, for tests; 1 otherwise. */
  readonly leaseTimeScale?: number;
}

/** Under which name the API server records our fields. */
export const fieldManager = 'sidecar-injector';
/** Another name for status, so that the two never hold each other's fields. */
export const statusManager = 'sidecar-injector-status';
/** A third one for the annotation by which a workload is restarted: nothing else of a workload is ever ours. */
export const restartManager = 'sidecar-injector-restarts';

/** How many configurations of a revision are kept, so that editing back finds them loaded. */
export const keptConfigurations = 3;

/** Everything is looked at again after this long even when nothing happens: deadlines survive clocks that jump. Milliseconds. */
export const resyncMs = 600_000;

/** The context for webhook configurations; undefined when the settings name an owner and it does not exist (any more). */
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
