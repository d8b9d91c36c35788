import type { RestartStrategy } from '../api/rollout-strategy.ts';
import { lateAt, restartedAt, type RestartCandidate } from './restart-candidate.ts';
import { left, type Left } from './restart-reasons.ts';

/** So many restarts in a row that come to nothing are no accident. */
const lastLooked = 3;

/** What is wrong with a workload that was restarted for what is current: while anything is, nothing more is restarted. */
export function whyStopped(
  candidate: RestartCandidate,
  bounds: RestartStrategy,
  isInProgress: boolean,
  now: number,
): Left[] {
  const { crashing = 0, uninjected = 0, completeSince } = candidate;
  if (crashing > 0) {
    return [left(candidate, { reason: 'Crashing', message: `restarted, and ${crashing} of its new pods crash` })];
  }
  if (uninjected > 0) {
    const message = `restarted, and ${uninjected} of its new pods have no sidecar: see why, and make them anew`;
    return [left(candidate, { reason: 'NotInjected', message })];
  }
  if (!isInProgress || completeSince !== undefined || lateAt(restartedAt(candidate), candidate, bounds) > now)
    return [];
  return [left(candidate, { reason: 'Late', message: 'restarted and not complete in time (readyTimeout)' })];
}

/**
 * When the last few that are over have changed nothing, the next ones will not either. One alone may have a template that never gets anything else:
 * one that was injected by hand.
 */
export function withoutEffect(done: readonly RestartCandidate[]): Left[] {
  const last = latestOf(done);
  if (last.length < lastLooked || !last.every(({ stale }) => stale > 0)) return [];
  return last.map((each) =>
    left(each, { reason: 'NoEffect', message: 'restarted, and still has stale pods: see why' }),
  );
}

/** The last few, the latest first. Sorting all of them would take long. */
function latestOf(done: readonly RestartCandidate[]): RestartCandidate[] {
  const last: RestartCandidate[] = [];
  for (const each of done) {
    const place = last.findIndex((other) => restartedAt(each) > restartedAt(other));
    last.splice(place === -1 ? last.length : place, 0, each);
    if (last.length > lastLooked) last.pop();
  }
  return last;
}
