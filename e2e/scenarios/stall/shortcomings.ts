import type { StretchFigures } from './stretch.ts';

/** Milliseconds by which innocent pods may take longer than undisturbed. */
const mostSlower = 100;
/** Milliseconds after which a leader that has not renewed its Lease gives it up. */
const renewDeadline = 10_000;

/** What is wrong with what innocent pods, and the Lease, met. */
export function shortcomings(stretch: StretchFigures, undisturbed: StretchFigures, holder: string): string[] {
  const { created, lost, p99Milliseconds, ownP99Milliseconds, lease } = stretch;
  const found: string[] = [];
  if (lost.length > 0) found.push(`${lost.length} of ${created + lost.length} innocent pods lost`);
  if (ownP99Milliseconds > undisturbed.ownP99Milliseconds + mostSlower) {
    found.push(
      `p99 ${p99Milliseconds} ms, without standstill ${ownP99Milliseconds} ms, undisturbed ${undisturbed.ownP99Milliseconds} ms`,
    );
  }
  const others = lease.holders.filter((each) => each !== holder);
  if (others.length > 0 || lease.transitions > 0 || lease.longestGap >= renewDeadline) {
    found.push(`the Lease: ${lease.transitions} transitions, not renewed for ${lease.longestGap} ms`);
  }
  return found;
}
