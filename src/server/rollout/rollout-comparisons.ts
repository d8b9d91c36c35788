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
import type { ServerMetrics } from '../metrics/server-metrics.ts';
import type { ReviewWorker, WorkerBounds, WorkerFailure } from '../worker/review-worker.ts';
import type { WorkerAnswer } from '../worker/messages.ts';
import type { Comparison } from './compare-tracks.ts';
import type { RolloutTargets } from './rollout-targets.ts';

/** The limits of comparisons, with sizes in bytes and times in milliseconds. */
export const defaultComparisonLimits = {
  /** The number of waiting reviews. */
  maxWaiting: 16,
  /** Larger reviews are not compared. */
  maxReviewBytes: 128 * 1024,
  /** The time after which the canary counts as failed; long because the thread has low priority. */
  deadline: 30_000,
  /** After a comparison, the thread rests for this multiple of the comparison's duration. */
  rest: 4,
  /** The maximum time for which the thread rests. */
  maxRest: 2000,
};

export type ComparisonLimits = Readonly<typeof defaultComparisonLimits>;

/** The limits of the rendering thread, whose heap adds to the memory of the process. */
export const comparisonBounds: Partial<WorkerBounds> = { heapMebibytes: 128, idle: 60_000 };

export interface RolloutComparisonsOptions {
  /** A worker for comparisons only, so that heavy reviews do not wait for comparisons. */
  readonly worker: ReviewWorker;
  readonly surroundings: () => Surroundings;
  readonly observer?: Pick<ServerMetrics, 'compared'>;
  readonly limits?: Partial<ComparisonLimits>;
}

interface Waiting {
  readonly namespace: string;
  readonly pair: RolloutPair;
  readonly key: string;
  readonly known: KnownReview;
  readonly targets: RolloutTargets;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** The result of a review, or the number of equal reviews that wait for the result. */
interface KnownReview {
  comparison: Comparison | undefined;
  waiting: number;
}

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
  readonly #limits: ComparisonLimits;
  /** The reports by pair; the least recently used report is first. */
  readonly #reports = new Map<string, PairReport>();
  readonly #waiting: Waiting[] = [];
  /** The known reviews by digest; the least recently used review is first. */
  readonly #known = new Map<string, KnownReview>();
  #isBusy = false;
  #isClosed = false;

  constructor(options: RolloutComparisonsOptions) {
    this.#options = options;
    this.#limits = { ...defaultComparisonLimits, ...options.limits };
  }

  /** Queues a comparison. Never throws or waits. @param body a review, which stays unchanged */
  offer(pair: RolloutPair, targets: RolloutTargets, path: string, namespace: string, body: Buffer): void {
    this.#report(pair);
    if (body.length > this.#limits.maxReviewBytes) {
      this.#observe(pair, 'dropped', 1);
      return;
    }
    const key = digestOf(path, body);
    const before = this.#known.get(key);
    if (before !== undefined) {
      this.#known.delete(key);
      this.#known.set(key, before);
      if (before.comparison === undefined) before.waiting += 1;
      else this.#count(pair, before.comparison, 1);
      return;
    }
    if (this.#isClosed || !this.#makesRoom(namespace)) {
      this.#observe(pair, 'dropped', 1);
      return;
    }
    const known: KnownReview = { comparison: undefined, waiting: 1 };
    this.#known.set(key, known);
    const [oldest = key] = this.#known.keys();
    if (this.#known.size > maxKnown) this.#known.delete(oldest);
    this.#waiting.push({ namespace, pair, key, known, targets, body: new Uint8Array(body) });
    this.#next();
  }

  /** Ends the thread, discards waiting reviews and drops later reviews. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#waiting.length = 0;
    await this.#options.worker.close();
  }

  /** Returns the reports, the most recently used first. */
  reports(): readonly PairReport[] {
    return [...this.#reports.values()].reverse();
  }

  /** Drops a review of the most frequent namespace, so that no author fills the queue. */
  #makesRoom(namespace: string): boolean {
    if (this.#waiting.length < this.#limits.maxWaiting) return true;
    const counts = new Map<string, number>();
    for (const each of this.#waiting) counts.set(each.namespace, (counts.get(each.namespace) ?? 0) + 1);
    const [largest, most] = [...counts].reduce((one, other) => (other[1] > one[1] ? other : one), ['', 0]);
    if (most <= (counts.get(namespace) ?? 0) + 1) return false;
    const last = this.#waiting.findLastIndex((each) => each.namespace === largest);
    for (const dropped of this.#waiting.splice(last, 1)) this.#drop(dropped);
    return true;
  }

  #next(): void {
    if (this.#isBusy) return;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    const { worker, surroundings } = this.#options;
    const { body, namespace, targets } = next;
    this.#isBusy = true;
    let begun = worker.clock();
    worker.submit({
      bytes: body.length,
      namespace,
      startBy: Infinity,
      allowed: this.#limits.deadline,
      task: () => ({
        body,
        maxDepth,
        target: targets.stable,
        rollout: { canary: targets.canary, choice: 'compare' },
        surroundings: surroundings(),
      }),
      read: () => {
        // Do not count the time in which the thread starts.
        begun = worker.clock();
      },
      ended: (outcome) => {
        this.#end(next, outcome);
        const rest = Math.min(this.#limits.maxRest, this.#limits.rest * (worker.clock() - begun));
        setTimeout(() => {
          this.#isBusy = false;
          this.#next();
        }, rest).unref();
      },
    });
  }

  #end(waiting: Waiting, outcome: WorkerAnswer | WorkerFailure): void {
    const { pair, known, targets } = waiting;
    const comparison = this.#comparisonOf(outcome, targets);
    if (comparison === undefined) this.#drop(waiting);
    else if (comparison === 'nothing') this.#forget(waiting);
    else {
      known.comparison = comparison;
      this.#count(pair, comparison, known.waiting);
    }
  }

  /** Returns `'nothing'` if the review has no pod to compare; undefined if the thread failed. */
  #comparisonOf(outcome: WorkerAnswer | WorkerFailure, { canary }: RolloutTargets): Comparison | 'nothing' | undefined {
    const { heapMebibytes } = this.#options.worker.bounds;
    if (outcome === 'deadline') return tooMuch(canary.name, `more than ${this.#limits.deadline} ms`);
    if (outcome === 'memory') return tooMuch(canary.name, `more than ${heapMebibytes} MiB`);
    if (typeof outcome === 'string' || outcome.kind === 'defect') return undefined;
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

  #drop(waiting: Waiting): void {
    this.#forget(waiting);
    this.#observe(waiting.pair, 'dropped', waiting.known.waiting);
  }

  #forget({ key, known }: Waiting): void {
    if (this.#known.get(key) === known) this.#known.delete(key);
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
