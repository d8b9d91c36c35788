import { group } from './injector-config/injector-config.ts';

/**
 * Labels of the objects we write. Never `istio.io/rev` or `app: sidecar-injector`: istiod rewrites the caBundle of every webhook
 * configuration that carries its own revision there.
 */
export const labelNames = {
  /** The revision an object belongs to. */
  revision: `${group}/revision`,
  /** metadata.name of the InjectorConfig an object belongs to. */
  injectorConfig: `${group}/injector-config`,
  /** The RevisionTag that a webhook configuration is written for; the other labels say where it leads now. */
  tag: `${group}/tag`,
  /** The operator class that looks after an object. */
  operatorClass: `${group}/operator-class`,
  /** On hashed ConfigMaps: the hash of the configuration. */
  configurationHash: `${group}/configuration-hash`,
  /** On the Leases by which replicas report: their operator class. */
  replica: `${group}/replica`,
  managedBy: 'app.kubernetes.io/managed-by',
} as const;

/** Value of {@link labelNames.managedBy}. */
export const managedBy = 'sidecar-injector';

/** Annotation of an injected pod: `N.<hash8>`, the InjectorConfig and the configuration that injected it. */
export const injectedByAnnotation = `${group}/config`;

/** Annotations of a replica's Lease. */
export const replicaAnnotations = {
  /** What it serves, as JSON: InjectorConfig → hashes and the fingerprint of the certificate. */
  serves: `${group}/serves`,
  /** Of the program that the replica runs. */
  version: `${group}/version`,
  /** `true` once it is on its way out. */
  draining: `${group}/draining`,
  /** What it found when it rendered pods by both configurations of a rollout, as JSON (`src/rollout/shadow-report.ts`). */
  shadow: `${group}/shadow`,
  /** Which configurations could not inject pods in the last minutes, as JSON (`src/operator/replicas/failures-annotation.ts`). */
  failures: `${group}/failures`,
} as const;

/** The finalizer with which the operator removes webhooks before anything that serves them. */
export const finalizer = `${group}/cleanup`;
