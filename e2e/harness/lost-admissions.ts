import { describeEvent, type AuditEvent } from './audit-log.ts';

/** A pod creation that did not end as it would have on an idle system. */
export interface LostAdmission {
  /** `refused`: the creation failed or was denied. `plain`, `mixed`: the pod was stored as it should not be. */
  kind: 'refused' | 'plain' | 'mixed';
  description: string;
}

export interface PodDefect {
  kind: 'plain' | 'mixed';
  what: string;
}

/**
 * Creations of pods that failed or were denied although the same pod is accepted on an idle system: creations by controllers count, so they are read from the
 * audit log. Refusals that have nothing to do with admission are not counted: a name that is taken, a namespace that is being deleted, an exceeded quota.
 */
export function refusedCreations(events: AuditEvent[]): LostAdmission[] {
  return events
    .filter(isPodCreation)
    .filter((event) => (event.responseStatus?.code ?? 0) >= 400 && !isUnrelated(event))
    .map((event): LostAdmission => ({ kind: 'refused', description: describeEvent(event) }));
}

/** Creations of pods, dry runs included; bindings and other subresources are not creations. */
export function isPodCreation(event: AuditEvent): boolean {
  return event.verb === 'create' && event.objectRef?.resource === 'pods' && event.objectRef.subresource === undefined;
}

function isUnrelated(event: AuditEvent): boolean {
  const { code, reason, message = '' } = event.responseStatus ?? {};
  if (code === 409 && reason === 'AlreadyExists') return true;
  return code === 403 && /is being terminated|exceeded quota/.test(message);
}
