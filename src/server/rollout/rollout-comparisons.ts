import { createHash } from 'node:crypto';
import {
  boundedError,
  emptyShadowReport,
  mostChangedFields,
  type PairReport,
  type RolloutPair,
} from '../../rollout/shadow-report.ts';
import type { Surroundings } from '../admission/inject-handler.ts';
import { splitReview } from '../admission/review-bytes.ts';
import type { HelperFailure } from '../helper/helper.ts';
import type { ServerMetrics } from '../metrics/server-metrics.ts';
import type { WorkerAnswer } from '../worker/review-thread.ts';
import type { ReviewWorker, WorkerBounds } from '../worker/review-worker.ts';
import type { Comparison } from './compare-tracks.ts';
import type { RolloutTargets } from './rollout-targets.ts';

/** The bounds of the worker, whose heap adds to the memory of the process. */
export const comparisonBounds: Partial<WorkerBounds> = {
  maxWaiting: 16,
  /** The time after which the canary counts as failed; long because the thread has low priority. */
  deadline: 30_000,
  rest: 4,
  heapMebibytes: 128,
  idle: 60_000,
};

export interface RolloutComparisonsOptions {
  /** A worker for comparisons only, so that heavy reviews do not wait for comparisons. */
  readonly worker: ReviewWorker;
  readonly surroundings: () => Surroundings;
  readonly observer?: Pick<ServerMetrics, 'compared'>;
}

/** The result of a review, or the number of equal reviews that wait for the result. */
interface KnownReview {
  comparison: Comparison | undefined;
  waiting: number;
}

/** Larger reviews, in bytes, are not compared. */
const maxReviewBytes = 128 * 1024;

/** A depth, in levels, that no review reaches, because the server refuses deep reviews. */
const maxDepth = 1000;

/** The maximum number of reports; necessary, because clients can send arbitrary tag names. */
const mostPairs = 32;

/** The maximum number of cached results. All pods of a ReplicaSet arrive as the same bytes. */
const maxKnown = 2048;

/**
 * Renders pods with both configurations of a rollout on another thread. Drops and counts reviews
 * for which there is no time. Reports the results for each pair of configurations.
 */
export class RolloutComparisons {
  readonly #options: RolloutComparisonsOptions;
  /** The reports by pair; the least recently used report is first. */
  readonly #reports = new Map<string, PairReport>();
  /** The known reviews by digest; the least recently used review is first. */
  readonly #known = new Map<string, KnownReview>();

  constructor(options: RolloutComparisonsOptions) {
    this.#options = options;
  }

  /** Queues a comparison. Never throws or waits. @param body a review, which stays unchanged */
  offer(pair: RolloutPair, targets: RolloutTargets, path: string, namespace: string, body: Buffer): void {
    this.#report(pair);
    if (body.length > maxReviewBytes) {
      this.#observe(pair, 'dropped', 1);
      return;
    }
    const key = digestOf(path, body);
    const before = this.#known.get(key);
    const known: KnownReview = before ?? { comparison: undefined, waiting: 0 };
    this.#known.delete(key);
    this.#known.set(key, known);
    if (known.comparison !== undefined) this.#count(pair, known.comparison, 1);
    else known.waiting += 1;
    if (before !== undefined) return;
    const [oldest = key] = this.#known.keys();
    if (this.#known.size > maxKnown) this.#known.delete(oldest);
    const { worker, surroundings } = this.#options;
    const copy = new Uint8Array(body);
    worker.submit({
      // Reviews of one namespace are compared in order of arrival.
      bytes: 0,
      namespace,
      startBy: Infinity,
      allowed: worker.bounds.deadline,
      task: () => ({
        body: copy,
        maxDepth,
        target: targets.stable,
        rollout: { canary: targets.canary, choice: 'compare' },
        surroundings: surroundings(),
      }),
      ended: (outcome) => {
        const comparison = this.#comparisonOf(outcome, targets);
        if (typeof comparison === 'object') {
          known.comparison = comparison;
          this.#count(pair, comparison, known.waiting);
          return;
        }
        if (this.#known.get(key) === known) this.#known.delete(key);
        if (comparison === 'dropped') this.#observe(pair, 'dropped', known.waiting);
      },
    });
  }

  /** Returns the reports, the most recently used first. */
  reports(): readonly PairReport[] {
    return [...this.#reports.values()].reverse();
  }

  /** Returns `nothing` if the review has no pod to compare; `dropped` if the thread failed. */
  #comparisonOf(outcome: WorkerAnswer | HelperFailure, { canary }: RolloutTargets): Comparison | 'nothing' | 'dropped' {
    const { deadline, heapMebibytes } = this.#options.worker.bounds;
    if (outcome === 'deadline') return tooMuch(canary.name, `more than ${deadline} ms`);
    if (outcome === 'memory') return tooMuch(canary.name, `more than ${heapMebibytes} MiB`);
    if (typeof outcome === 'string' || outcome.kind === 'defect') return 'dropped';
    return outcome.kind === 'compared' ? (outcome.comparison ?? 'nothing') : 'nothing';
  }

  /** Returns the report of a pair, and marks the report as the most recently used. */
  #report(pair: RolloutPair): PairReport {
    const key = keyOf(pair);
    const report = this.#reports.get(key) ?? { ...pair, ...emptyShadowReport };
    this.#reports.delete(key);
    this.#reports.set(key, report);
    const [oldest = key] = this.#reports.keys();
    if (this.#reports.size > mostPairs) this.#reports.delete(oldest);
    return report;
  }

  /** @param times the number of equal admissions */
  #count(pair: RolloutPair, comparison: Comparison, times: number): void {
    const report = this.#report(pair);
    const { outcome } = comparison;
    const fields = outcome === 'changed' ? comparison.fields : [];
    const error = report.error ?? (outcome === 'failed' ? boundedError(comparison.error) : undefined);
    this.#reports.set(keyOf(pair), {
      ...report,
      compared: report.compared + times,
      failed: report.failed + (outcome === 'failed' ? times : 0),
      differing: report.differing + (outcome === 'changed' ? times : 0),
      changed: [...new Set([...report.changed, ...fields])].slice(0, mostChangedFields),
      ...(error !== undefined && { error }),
    });
    this.#observe(pair, outcome, times);
  }

  #observe({ canary }: RolloutPair, outcome: Comparison['outcome'] | 'dropped', times: number): void {
    for (let count = 0; count < times; count++) this.#options.observer?.compared(canary.injectorConfig, outcome);
  }
}

function keyOf({ tag, stable, canary }: RolloutPair): string {
  return [tag, stable.injectorConfig, stable.hash, canary.injectorConfig, canary.hash].join('/');
}

/** Hashes the path and the bytes after the uid. Uses SHA-256, because authors choose the bytes. */
function digestOf(path: string, body: Buffer): string {
  const rest = splitReview(body)?.rest ?? body;
  return createHash('sha256').update(`${path.length} ${path}`).update(rest).digest('base64');
}

function tooMuch(name: string, what: string): Comparison {
  return { outcome: 'failed', error: boundedError(`rendering a pod with ${name} takes ${what}`) };
}
