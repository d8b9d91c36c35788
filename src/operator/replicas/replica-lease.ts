import { z } from 'zod';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { labelNames, managedBy, replicaAnnotations, replicaLeaseName } from '../../api/names.ts';
import type { PairReport } from '../../rollout/shadow-report.ts';
import { pathFormats } from '../../routing/route.ts';
import {
  parseAnnotation,
  readFailures,
  readShadowReports,
  type ReportedFailure,
  writeFailures,
  writeShadowReports,
} from './report-annotations.ts';

/** The configurations and certificate that a replica serves for one InjectorConfig. */
export interface ServedConfiguration {
  /** Hashes of the configurations in memory. */
  readonly hashes: readonly string[];
  /** SHA-256 of the served certificate, 64 lower-case hex digits; absent if none is served. */
  readonly certificate?: string;
}

/** The report of a replica. Key {@link validatorReport} has the validator's certificate. */
export interface ReplicaState {
  /** The version of the replica's program; old versions omit it. */
  readonly version?: string;
  readonly isDraining: boolean;
  readonly serves: ReadonlyMap<string, ServedConfiguration>;
  readonly pathFormats: readonly string[];
  /** Whether the replica removes the gate of failurePolicy Hold; old versions do not. */
  readonly holdsPods: boolean;
  /** The results of shadow comparisons, the newest pair first. */
  readonly shadow?: readonly PairReport[];
  /** The configurations that recently failed to inject pods, the newest last. */
  readonly failures?: readonly ReportedFailure[];
}

/** The key of the validating webhook, which is not a valid name for an InjectorConfig. */
export const validatorReport = '(validator)';

/**
 * The maximum size of a report, in bytes. All annotations of an object together may have 256 KiB
 * (apimachinery's TotalAnnotationSizeLimitB). An entry with three hashes takes at most 200 bytes.
 */
const maximumBytes = 250_000;

const longestVersion = 64;

/** The maximum number of hashes, which is more than a replica keeps per InjectorConfig. */
const mostHashes = 64;

/** The schema of a report, with bounds. A Lease that exceeds them counts as empty. */
const servesSchema = z.record(
  z.string().max(63),
  z.object({ hashes: z.array(z.string().max(8)).max(mostHashes), certificate: z.string().max(64).exactOptional() }),
);

/**
 * Returns the metadata of a replica's Lease (coordination.k8s.io/v1), and the number of omitted
 * InjectorConfigs. Omits the last InjectorConfigs by name if the report is too large: the leader
 * then waits for this replica, which delays publications but is safe.
 */
export function replicaLeaseMetadata(
  identity: string,
  { namespace, operatorClass }: { readonly namespace: string; readonly operatorClass: string },
  { version, isDraining, serves, shadow = [], failures = [] }: Omit<ReplicaState, 'pathFormats' | 'holdsPods'>,
): { metadata: KubernetesObject['metadata']; omitted: number } {
  const entries = [...serves].sort(([one], [other]) => (one < other ? -1 : 1));
  let bytes = 2;
  const fitting = entries.filter(([name, served]) => {
    bytes += Buffer.byteLength(JSON.stringify({ [name]: served }));
    return bytes <= maximumBytes;
  });
  const metadata = {
    name: replicaLeaseName(identity),
    namespace,
    labels: {
      [labelNames.managedBy]: managedBy,
      [labelNames.operatorClass]: operatorClass,
      [labelNames.replica]: operatorClass,
    },
    annotations: {
      [replicaAnnotations.serves]: JSON.stringify(Object.fromEntries(fitting)),
      [replicaAnnotations.pathFormats]: pathFormats.map(({ name }) => name).join(),
      [replicaAnnotations.holdsPods]: 'true',
      ...(version === undefined ? {} : { [replicaAnnotations.version]: version }),
      ...(isDraining ? { [replicaAnnotations.draining]: 'true' } : {}),
      ...(shadow.length === 0 ? {} : { [replicaAnnotations.shadow]: writeShadowReports(shadow) }),
      ...(failures.length === 0 ? {} : { [replicaAnnotations.failures]: writeFailures(failures) }),
    },
  };
  return { metadata, omitted: entries.length - fitting.length };
}

/** Returns the label selector for the Leases of an operator class's replicas. */
export function replicaLeaseSelector(operatorClass: string): string {
  return `${labelNames.managedBy}=${managedBy},${labelNames.replica}=${operatorClass}`;
}

/** Reads the report in a Lease. An invalid report counts as a replica that serves nothing. */
export function readReplicaLease(lease: KubernetesObject): ReplicaState {
  const { annotations } = lease.metadata;
  const shadow = readShadowReports(annotations?.[replicaAnnotations.shadow]);
  const failures = readFailures(annotations?.[replicaAnnotations.failures]);
  const serves = parseAnnotation(annotations?.[replicaAnnotations.serves], Infinity);
  const version = annotations?.[replicaAnnotations.version]?.slice(0, longestVersion);
  return {
    ...(version === undefined ? {} : { version }),
    isDraining: annotations?.[replicaAnnotations.draining] === 'true',
    serves: new Map(Object.entries(servesSchema.catch({}).parse(serves))),
    // Versions without this annotation read format 1.
    pathFormats: (annotations?.[replicaAnnotations.pathFormats] ?? '1').slice(0, longestVersion).split(','),
    holdsPods: annotations?.[replicaAnnotations.holdsPods] === 'true',
    ...(shadow.length === 0 ? {} : { shadow }),
    ...(failures.length === 0 ? {} : { failures }),
  };
}

/** Returns the part of a Lease that is cached. @param isRead whether to keep the report as well */
export function keptOfLease({ apiVersion, kind, metadata, spec }: KubernetesObject, isRead: boolean): KubernetesObject {
  const { name = '', namespace = '', uid = '', resourceVersion = '', annotations = {} } = metadata;
  const names = Object.values(replicaAnnotations).filter((each) => isRead && annotations[each] !== undefined);
  const kept = Object.fromEntries(names.map((each) => [each, annotations[each] ?? '']));
  const { leaseDurationSeconds } = (spec ?? {}) as { leaseDurationSeconds?: number };
  return {
    apiVersion,
    kind,
    metadata: { name, namespace, uid, resourceVersion, ...(isRead ? { annotations: kept } : {}) },
    spec: { leaseDurationSeconds },
  };
}

/** Returns the replica that a Lease's name contains. The chart's admission policy checks names. */
export function replicaOf(lease: KubernetesObject): string {
  return (lease.metadata.name ?? '').slice(replicaLeaseName('').length);
}
