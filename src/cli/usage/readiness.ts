import type { Stale } from './operator-health.ts';
import type { Condition } from '../../api/kubernetes/kubernetes.ts';

interface Observed {
  readonly metadata: { readonly generation?: number };
  readonly status?: { readonly observedGeneration?: number; readonly conditions?: readonly Condition[] };
}

/** What an operator says of an object as it is now. */
export interface Readiness {
  readonly ready: boolean;
  readonly reason: string;
  readonly message: string;
  /** RFC 3339: since when nobody has looked at it; what it says is of then. Present only while nobody leads; null when nobody ever has. */
  readonly unknownSince?: string | null;
}

/**
 * Whether an object is Ready at its present generation; with the condition's reason, or that no operator has looked at it.
 * @param stale nobody keeps it true
 */
export function readinessOf({ metadata, status }: Observed, stale?: Stale): Readiness {
  if (stale !== undefined) {
    const when = stale.since === undefined ? 'no operator leads' : `nobody leads since ${stale.since}`;
    const message = `${when}: start the operator; until then nothing is known of it`;
    return { ready: false, reason: 'Unknown', message, unknownSince: stale.since ?? null };
  }
  const condition = status?.conditions?.find(({ type }) => type === 'Ready');
  const isSeen = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
  if (condition === undefined || !isSeen)
    return { ready: false, reason: 'NotLookedAt', message: 'no operator has looked at it; is one running?' };
  return { ready: condition.status === 'True', reason: condition.reason, message: condition.message };
}

/** `True`, `False (Paused)`, `False` where the reason stands elsewhere, or `unknown since 2026-11-22T10:00:00Z`. */
export function formatReadiness({ ready, reason, unknownSince }: Omit<Readiness, 'message'>): string {
  if (unknownSince !== undefined) return unknownSince === null ? 'unknown' : `unknown since ${unknownSince}`;
  if (ready) return 'True';
  return reason === '' ? 'False' : `False (${reason})`;
}
