import type { Figures } from '../../../bench/report.ts';
import type { HostileReview } from './attack-worker.ts';

const described = 5;

/** The slowest review of each class, slowest first. */
export function slowestFirst(reviews: readonly HostileReview[]): HostileReview[] {
  const slowest = new Map<string, HostileReview>();
  for (const review of reviews) {
    if (review.milliseconds > (slowest.get(review.name)?.milliseconds ?? -1)) slowest.set(review.name, review);
  }
  return [...slowest.values()].sort((left, right) => right.milliseconds - left.milliseconds);
}

/** Lines for people: what became of hostile reviews, the slowest of them, and some that were not answered. */
export function describeReviews(reviews: readonly HostileReview[]): string[] {
  const failed = reviews.filter(({ outcome }) => outcome === 'deadline' || outcome === 'failed');
  return [
    `outcomes: ${JSON.stringify(outcomesOf(reviews))}`,
    ...slowestFirst(reviews)
      .slice(0, described)
      .map(({ name, milliseconds, outcome }) => `${Math.round(milliseconds)} ms: ${name} (${outcome})`),
    ...failed.slice(0, described).map(({ name, message }) => `not answered: ${name}: ${message}`),
  ];
}

/** For docs/measurements. */
export function summarise(reviews: readonly HostileReview[]): Figures {
  const [slowest] = slowestFirst(reviews);
  return {
    outcomes: outcomesOf(reviews),
    slowestClass: slowest?.name ?? 'none',
    slowestClassMilliseconds: Math.round(slowest?.milliseconds ?? 0),
  };
}

function outcomesOf(reviews: readonly HostileReview[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { outcome } of reviews) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}
