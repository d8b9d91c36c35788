import { describeEvent, type AuditEvent } from './audit-log.ts';

/** A pod creation whose result differs from the result on an idle system. */
export interface LostAdmission {
  /** `refused` or failed, `plain` (stored without a sidecar), or `mixed` (two configurations). */
  kind: 'refused' | 'plain' | 'mixed';
  description: string;
}

export interface PodDefect {
  kind: 'plain' | 'mixed';
  what: string;
}

/**
 * Returns the pod creations (including those by controllers) that failed or were denied although an
 * idle system accepts them. Refusals for reasons other than admission do not count: a name in use,
 * a namespace in deletion, an exceeded quota.
 */
export function refusedCreations(events: AuditEvent[]): LostAdmission[] {
  return events
    .filter(isPodCreation)
    .filter((event) => (event.responseStatus?.code ?? 0) >= 400 && !isUnrelated(event))
    .map((event): LostAdmission => ({ kind: 'refused', description: describeEvent(event) }));
}

/** Reports whether an event is the creation of a pod. Includes dry runs, but no subresources. */
export function isPodCreation(event: AuditEvent): boolean {
  return event.verb === 'create' && event.objectRef?.resource === 'pods' && event.objectRef.subresource === undefined;
}

function isUnrelated(event: AuditEvent): boolean {
  const { code, reason, message = '' } = event.responseStatus ?? {};
  if (code === 409 && reason === 'AlreadyExists') return true;
  return code === 403 && /is being terminated|exceeded quota/.test(message);
}
