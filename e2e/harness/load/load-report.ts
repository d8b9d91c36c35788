import type { AuditEvent } from '../audit-log.ts';
import { isPodCreation, refusedCreations, type LostAdmission } from '../lost-admissions.ts';
import type { PodLoad } from './pod-load.ts';

/** What a load came to. */
export interface LoadReport {
  /** Creations that the API server has answered, by us and by the ReplicaSet's controller, dry runs not. */
  created: number;
  byReplicaSet: number;
  lost: LostAdmission[];
  /** Milliseconds of a creation as this client saw it, the whole of it. */
  p50Milliseconds: number;
  p99Milliseconds: number;
}

/** Which creations are counted, by times in milliseconds since 1970: all of them unless told. */
export interface Stretch {
  /** Those that were answered since. */
  readonly answeredSince?: number;
  /** Those that were asked for since: however late the answer is, it does not depend on what was before. */
  readonly askedSince?: number;
  /** Those that were asked for before. */
  readonly askedBefore?: number;
}

/**
 * Counts what was lost, from the audit log (creations by controllers count) and from the stored pods.
 *
 * @param events what the API server has recorded since before the load began
 */
export function reportLoad(load: PodLoad, events: AuditEvent[], stretch: Stretch = {}): LoadReport {
  const { answeredSince = 0, askedSince = 0, askedBefore = Infinity } = stretch;
  const isMeant = (asked: number, answered: number) =>
    answered >= answeredSince && asked >= askedSince && asked < askedBefore;
  const creations = events.filter(
    (event) =>
      isPodCreation(event) &&
      event.objectRef?.namespace === load.namespace &&
      isMeant(Date.parse(event.requestReceivedTimestamp), Date.parse(event.stageTimestamp)),
  );
  const defects = [
    ...load.creations
      .filter(({ startedAt, endedAt }) => isMeant(startedAt, endedAt))
      .map(({ name, defect }) => [name, defect] as const),
    ...(Object.keys(stretch).length === 0 ? load.replicaSetPods : []),
  ];
  const stored = defects.flatMap(([name, defect]): LostAdmission[] =>
    defect === undefined ? [] : [{ kind: defect.kind, description: `pod ${load.namespace}/${name}: ${defect.what}` }],
  );
  const times = load.creations
    .filter(({ failure }) => failure === undefined)
    .map(({ startedAt, endedAt }) => endedAt - startedAt)
    .sort((left, right) => left - right);
  const quantile = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  const stands = creations.filter(({ responseStatus }) => responseStatus?.code === 201);
  return {
    created: stands.length,
    byReplicaSet: stands.filter(({ user }) => user.username.startsWith('system:')).length,
    lost: [...refusedCreations(creations), ...stored],
    p50Milliseconds: quantile(0.5),
    p99Milliseconds: quantile(0.99),
  };
}
