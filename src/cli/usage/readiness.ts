import type { Stale } from './operator-health.ts';
import type { Condition } from '../../api/kubernetes/kubernetes.ts';

interface Observed {
  readonly metadata: { readonly generation?: number };
  readonly status?: { readonly observedGeneration?: number; readonly conditions?: readonly Condition[] } | undefined;
}

/** The readiness of an object, from its conditions. */
export interface Readiness {
  readonly ready: boolean;
  readonly reason: string;
  readonly message: string;
  /** When the last leader was live (RFC 3339); null if there was none; absent while one is live. */
  readonly unknownSince?: string | null;
}

/**
 * Returns the condition of the current spec.
 * @param stale set if no leader is live
 */
export function readinessOf({ metadata, status }: Observed, stale?: Stale, type = 'Ready'): Readiness {
  if (stale !== undefined) {
    const when = stale.since === undefined ? 'there is no leader' : `no leader since ${stale.since}`;
    const message = `${when}: start the operator; until then the state is unknown`;
    return { ready: false, reason: 'Unknown', message, unknownSince: stale.since ?? null };
  }
  const condition = status?.conditions?.find((each) => each.type === type);
  const isSeen = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
  const unseen = 'no operator has reconciled the current spec; check that the operator is running';
  if (condition === undefined || !isSeen) return { ready: false, reason: 'NotLookedAt', message: unseen };
  return { ready: condition.status === 'True', reason: condition.reason, message: condition.message };
}

/** Formats `True`, `False (Paused)`, `False`, or `unknown since 2026-11-22T10:00:00Z`. */
export function formatReadiness({ ready, reason, unknownSince }: Omit<Readiness, 'message'>): string {
  if (unknownSince !== undefined) return unknownSince === null ? 'unknown' : `unknown since ${unknownSince}`;
  if (ready) return 'True';
  return reason === '' ? 'False' : `False (${reason})`;
}
