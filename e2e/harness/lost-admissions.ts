import { describeEvent, type AuditEvent } from './audit-log.ts';

/** A pod creation whose result differs from that on an idle system. */
export interface LostAdmission {
  /** `refused`: failed or denied; `plain`: stored uninjected; `mixed`: from two configurations. */
  kind: 'refused' | 'plain' | 'mixed';
  description: string;
}

export interface PodDefect {
  kind: 'plain' | 'mixed';
  what: string;
}

/**
 * Returns the pod creations in the audit log (including those by controllers) that failed or were
 * denied although an idle system accepts them. Refusals unrelated to admission do not count: a name
 * that is taken, a namespace that is being deleted, an exceeded quota.
 */
export function refusedCreations(events: AuditEvent[]): LostAdmission[] {
  return events
    .filter(isPodCreation)
    .filter((event) => (event.responseStatus?.code ?? 0) >= 400 && !isUnrelated(event))
    .map((event): LostAdmission => ({ kind: 'refused', description: describeEvent(event) }));
}

/** Reports whether an event creates a pod, dry runs included; subresources do not count. */
export function isPodCreation(event: AuditEvent): boolean {
  return event.verb === 'create' && event.objectRef?.resource === 'pods' && event.objectRef.subresource === undefined;
}

function isUnrelated(event: AuditEvent): boolean {
  const { code, reason, message = '' } = event.responseStatus ?? {};
  if (code === 409 && reason === 'AlreadyExists') return true;
  return code === 403 && /is being terminated|exceeded quota/.test(message);
}
