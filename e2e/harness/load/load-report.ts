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

/**
 * Counts what was lost, from the audit log (creations by controllers count) and from the stored pods.
 *
 * @param events what the API server has recorded since before the load began
 * @param until counts only what was answered before this time, in milliseconds since 1970
 */
export function reportLoad(load: PodLoad, events: AuditEvent[], from = 0, until = Infinity): LoadReport {
  const creations = events.filter(
    (event) =>
      isPodCreation(event) &&
      event.objectRef?.namespace === load.namespace &&
      isBetween(event.stageTimestamp, from, until),
  );
  const defects = [
    ...load.creations
      .filter(({ endedAt }) => endedAt >= from && endedAt <= until)
      .map(({ name, defect }) => [name, defect] as const),
    ...(from === 0 && until === Infinity ? load.replicaSetPods : []),
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

function isBetween(timestamp: string, from: number, until: number): boolean {
  const time = Date.parse(timestamp);
  return time >= from && time <= until;
}
