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

/** Bounds of comparing. Sizes in bytes, times in milliseconds. */
export const defaultComparisonLimits = {
  /** Reviews that wait. */
  maxWaiting: 16,
  /** Larger reviews are not compared. */
  maxReviewBytes: 128 * 1024,
  /** What a review may take before the canary is said to fail. Generous: its thread has the lowest claim to a core. */
  deadline: 30_000,
  /** After each comparison nothing is done for so many times as long as it took, */
  rest: 4,
  /** but for no longer than this. */
  maxRest: 2000,
};

export type ComparisonLimits = Readonly<typeof defaultComparisonLimits>;

/** Of the thread on which they are rendered. What is compared is small, and its memory is beside all that the process needs otherwise. */
export const comparisonBounds: Partial<WorkerBounds> = { heapMebibytes: 128, idle: 60_000 };

export interface RolloutComparisonsOptions {
  /** A thread of their own: those who wait for the answer to a heavy review must not wait for a comparison. */
  readonly worker: ReviewWorker;
  readonly surroundings: () => Surroundings;
  readonly observer?: Pick<ServerMetrics, 'compared'>;
  readonly limits?: Partial<ComparisonLimits>;
}

interface Waiting {
  readonly namespace: string;
  readonly pair: RolloutPair;
  readonly key: string;
  readonly known: Known;
  readonly targets: RolloutTargets;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** What is known of a review: what came of it, or how many of the same wait for that. */
interface Known {
  comparison: Comparison | undefined;
  waiting: number;
}

/** Levels to which a review may nest; it has been decided, so it is within the server's own bound already. */
const maxDepth = 1000;

/** Pairs that are kept: anybody who reaches the listener can name a tag of his own. */
const mostPairs = 32;

/** Reviews whose comparison is remembered: all pods of a ReplicaSet come as the same bytes. */
const maxKnown = 2048;

/**
 * Renders pods by both configurations of a rollout beside the answers, on another thread and no more than there is time for: what finds no room is
 * dropped and counted. What has come of it is told in reports, one for each pair of configurations.
 */
export class RolloutComparisons {
  readonly #options: RolloutComparisonsOptions;
  readonly #limits: ComparisonLimits;
  /** By pair, in order of use. */
  readonly #reports = new Map<string, PairReport>();
  readonly #waiting: Waiting[] = [];
  /** By the digest of the path and the review, in order of use. */
  readonly #known = new Map<string, Known>();
  #isBusy = false;
  #isClosed = false;

  constructor(options: RolloutComparisonsOptions) {
    this.#options = options;
    this.#limits = { ...defaultComparisonLimits, ...options.limits };
  }

  /** Never throws, and waits for nothing. @param body a whole review of the namespace, of which nothing is changed */
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
    const known: Known = { comparison: undefined, waiting: 1 };
    this.#known.set(key, known);
    const [oldest = key] = this.#known.keys();
    if (this.#known.size > maxKnown) this.#known.delete(oldest);
    this.#waiting.push({ namespace, pair, key, known, targets, body: new Uint8Array(body) });
    this.#next();
  }

  /** Ends the thread; what waits is forgotten, and what comes is dropped. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#waiting.length = 0;
    await this.#options.worker.close();
  }

  /** The pairs that were asked for last, the newest first. */
  reports(): readonly PairReport[] {
    return [...this.#reports.values()].reverse();
  }

  /** When the queue is full, the namespace with the most reviews in it gives up its last one, so that no author crowds out the rest. */
  #makesRoom(namespace: string): boolean {
    if (this.#waiting.length < this.#limits.maxWaiting) return true;
    const held = new Map<string, number>();
    for (const each of this.#waiting) held.set(each.namespace, (held.get(each.namespace) ?? 0) + 1);
    const [largest, most] = [...held].reduce((one, other) => (other[1] > one[1] ? other : one), ['', 0]);
    if (most <= (held.get(namespace) ?? 0) + 1) return false;
    const last = this.#waiting.findLastIndex((each) => each.namespace === largest);
    for (const given of this.#waiting.splice(last, 1)) this.#drop(given);
    return true;
  }

  #next(): void {
    if (this.#isBusy) return;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    const { worker, surroundings } = this.#options;
    const { body, targets } = next;
    this.#isBusy = true;
    let begun = worker.clock();
    worker.submit({
      bytes: body.length,
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
        // A thread that was just started took longer to get here.
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

  /** `nothing`: there was nothing to compare. Undefined when the thread could not do its work, which says nothing of the canary. */
  #comparisonOf(outcome: WorkerAnswer | WorkerFailure, { canary }: RolloutTargets): Comparison | 'nothing' | undefined {
    const { heapMebibytes } = this.#options.worker.bounds;
    if (outcome === 'deadline') return tooMuch(canary.name, `more than ${this.#limits.deadline} ms`);
    if (outcome === 'memory') return tooMuch(canary.name, `more than ${heapMebibytes} MiB`);
    if (typeof outcome === 'string' || outcome.kind === 'defect') return undefined;
    return outcome.kind === 'compared' ? (outcome.comparison ?? 'nothing') : 'nothing';
  }

  /** The report of a pair, as the one that was asked for last. */
  #report(pair: RolloutPair): PairReport {
    const key = keyOf(pair);
    const report = this.#reports.get(key) ?? { ...pair, ...emptyShadowReport };
    this.#reports.delete(key);
    this.#reports.set(key, report);
    const [oldest = key] = this.#reports.keys();
    if (this.#reports.size > mostPairs) this.#reports.delete(oldest);
    return report;
  }

  /** @param times how many admissions it holds for */
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

/** Equal for the same bytes behind the uid on the same path. Authors choose the bytes: a short checksum would let them make two reviews look the same. */
function digestOf(path: string, body: Buffer): string {
  const rest = splitReview(body)?.rest ?? body;
  return createHash('sha256').update(`${path.length} ${path}`).update(rest).digest('base64');
}

function tooMuch(name: string, what: string): Comparison {
  return { outcome: 'failed', error: boundedError(`rendering a pod by ${name} takes ${what}`) };
}
