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
}

/** Whether an object is Ready at its present generation; with the condition's reason, or that no operator has looked at it. */
export function readinessOf({ metadata, status }: Observed): Readiness {
  const condition = status?.conditions?.find(({ type }) => type === 'Ready');
  const isSeen = (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
  if (condition === undefined || !isSeen) {
    return { ready: false, reason: 'NotLookedAt', message: 'no operator has looked at it; is one running?' };
  }
  return { ready: condition.status === 'True', reason: condition.reason, message: condition.message };
}

/** `True`, or `False (Paused)`. */
export function formatReadiness({ ready, reason }: Readiness): string {
  return ready ? 'True' : `False (${reason})`;
}
