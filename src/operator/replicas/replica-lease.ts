import { z } from 'zod';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { labelNames, managedBy, replicaAnnotations, replicaLeaseName } from '../../api/names.ts';
import type { PairReport } from '../../rollout/shadow-report.ts';
import { pathFormats } from '../../routing/route.ts';
import { parseAnnotation, readFailures, type ReportedFailure, writeFailures } from './failures-annotation.ts';
import { readShadowReports, writeShadowReports } from './shadow-annotation.ts';

/** What a replica can answer for one InjectorConfig. */
export interface ServedConfiguration {
  /** Hashes of the configurations in memory. */
  readonly hashes: readonly string[];
  /** SHA-256 of the certificate that it serves, 64 lower-case hex digits; absent while it has none. */
  readonly certificate?: string;
}

/** What a replica says of itself; the validating webhook's certificate is under {@link validatorReport}. */
export interface ReplicaState {
  /** Of its program; older ones do not say. */
  readonly version?: string;
  readonly isDraining: boolean;
  readonly serves: ReadonlyMap<string, ServedConfiguration>;
  readonly pathFormats: readonly string[];
  /** What it found in rollouts, the newest pair first. */
  readonly shadow?: readonly PairReport[];
  /** Which configurations could not inject pods in the last minutes, the newest last. */
  readonly failures?: readonly ReportedFailure[];
}

/** Instead of an InjectorConfig's name, which it cannot be. */
export const validatorReport = '(validator)';

/**
 * Annotations of an object may be 256 KiB together (apimachinery's TotalAnnotationSizeLimitB). An entry takes at most 200 bytes with three
 * hashes, so this is the room for more than a thousand InjectorConfigs.
 */
const maximumBytes = 250_000;

const longestVersion = 64;

/** More configurations of one InjectorConfig than any replica keeps. */
const mostHashes = 64;

/** What a replica may claim; a Lease beyond it says nothing. */
const servesSchema = z.record(
  z.string().max(63),
  z.object({ hashes: z.array(z.string().max(8)).max(mostHashes), certificate: z.string().max(64).exactOptional() }),
);

/**
 * Labels and annotations of a replica's Lease (coordination.k8s.io/v1). What does not fit is left out whole, from the end of the alphabet: the
 * leader then waits for this replica, which is late but never wrong.
 * @returns the metadata, and how many InjectorConfigs it leaves out
 */
export function replicaLeaseMetadata(
  identity: string,
  { namespace, operatorClass }: { readonly namespace: string; readonly operatorClass: string },
  { version, isDraining, serves, shadow = [], failures = [] }: Omit<ReplicaState, 'pathFormats'>,
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
      ...(version === undefined ? {} : { [replicaAnnotations.version]: version }),
      ...(isDraining ? { [replicaAnnotations.draining]: 'true' } : {}),
      ...(shadow.length === 0 ? {} : { [replicaAnnotations.shadow]: writeShadowReports(shadow) }),
      ...(failures.length === 0 ? {} : { [replicaAnnotations.failures]: writeFailures(failures) }),
    },
  };
  return { metadata, omitted: entries.length - fitting.length };
}

/** Selects the Leases of an operator class's replicas. */
export function replicaLeaseSelector(operatorClass: string): string {
  return `${labelNames.managedBy}=${managedBy},${labelNames.replica}=${operatorClass}`;
}

/** What a Lease says; one that cannot be read says that its replica serves nothing. */
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
    // Versions before the list read 1.
    pathFormats: (annotations?.[replicaAnnotations.pathFormats] ?? '1').slice(0, longestVersion).split(','),
    ...(shadow.length === 0 ? {} : { shadow }),
    ...(failures.length === 0 ? {} : { failures }),
  };
}

/** The part of a Lease that is kept and read. @param isRead false: it counts, and says nothing */
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

/** Whose Lease it is: by its name, which is what the chart's admission policy holds a replica to, not by what it says. */
export function replicaOf(lease: KubernetesObject): string {
  return (lease.metadata.name ?? '').slice(replicaLeaseName('').length);
}
