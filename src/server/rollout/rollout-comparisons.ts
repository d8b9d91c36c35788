import { createHash } from 'node:crypto';
import { boundedError, type PairReport, type RolloutPair } from '../../api/shadow-report.ts';
import type { PodSurroundings } from '../inject-handler.ts';
import type { HeavyLane } from '../lane/heavy-lane.ts';
import type { LaneFailure } from '../lane/lane-job.ts';
import type { LaneLimits } from '../lane/lane-limits.ts';
import type { MonotonicClock } from '../ports.ts';
import { splitReview } from '../review-bytes.ts';
import type { Comparison } from './compare-tracks.ts';
import { ComparisonJob, type ComparisonOutcome } from './comparison-job.ts';
import { type PairTally, PairTallies } from './pair-tallies.ts';
import type { Comparisons } from './rollout-route.ts';
import type { RolloutTargets } from './rollout-targets.ts';

/** Told of each admission that was to be compared. */
export interface ComparisonObserver {
  /** @param canary the InjectorConfig that is tried */
  compared(canary: string, outcome: Comparison['outcome'] | 'dropped'): void;
}

/** Bounds of comparing. Sizes in bytes, times in milliseconds. */
export interface ComparisonLimits {
  /** Reviews that wait. */
  readonly maxWaiting: number;
  /** Larger reviews are not compared. */
  readonly maxReviewBytes: number;
  /** What a review may take before the canary is said to fail. Generous: its thread has the lowest claim to a core. */
  readonly deadline: number;
  /** After each comparison nothing is done for so many times as long as it took, */
  readonly rest: number;
  /** but for no longer than this. */
  readonly maxRest: number;
}

export const defaultComparisonLimits: ComparisonLimits = {
  maxWaiting: 16,
  maxReviewBytes: 128 * 1024,
  deadline: 30_000,
  rest: 4,
  maxRest: 2000,
};

/** Of the thread on which they are rendered. What is compared is small, and its memory is beside all that the process needs otherwise. */
export const comparisonLaneLimits: Partial<LaneLimits> = { heapMebibytes: 128, idle: 60_000 };

export interface RolloutComparisonsOptions {
  /** A thread of their own: those who wait for the answer to a heavy review must not wait for a comparison. */
  readonly lane: HeavyLane;
  readonly surroundings: PodSurroundings;
  readonly clock: MonotonicClock;
  readonly observer?: ComparisonObserver;
  readonly limits?: Partial<ComparisonLimits>;
}

interface Waiting {
  readonly namespace: string;
  readonly tally: PairTally;
  readonly known: Known;
  readonly forget: () => void;
  readonly targets: RolloutTargets;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** What is known of a review: what came of it, or how many of the same wait for that. */
interface Known {
  comparison: Comparison | undefined;
  waiting: number;
}

/** Reviews whose comparison is remembered: all pods of a ReplicaSet come as the same bytes. */
const maxKnown = 2048;

/**
 * Renders pods by both configurations of a rollout beside the answers, on another thread and no more than there is time for: what finds no room is
 * dropped and counted. What has come of it is told in reports, one for each pair of configurations.
 */
export class RolloutComparisons implements Comparisons {
  readonly #options: RolloutComparisonsOptions;
  readonly #limits: ComparisonLimits;
  readonly #tallies = new PairTallies();
  readonly #waiting: Waiting[] = [];
  /** By the digest of the path and the review, in order of use. */
  readonly #known = new Map<string, Known>();
  #isBusy = false;
  #isClosed = false;

  constructor(options: RolloutComparisonsOptions) {
    this.#options = options;
    this.#limits = { ...defaultComparisonLimits, ...options.limits };
  }

  offer(pair: RolloutPair, targets: RolloutTargets, path: string, namespace: string, body: Buffer): void {
    const tally = this.#tallies.of(pair);
    if (body.length > this.#limits.maxReviewBytes) {
      this.#drop(tally, 1);
      return;
    }
    const key = digestOf(path, body);
    const before = this.#known.get(key);
    if (before !== undefined) {
      this.#known.delete(key);
      this.#known.set(key, before);
      if (before.comparison === undefined) before.waiting += 1;
      else this.#count(tally, before.comparison, 1);
      return;
    }
    if (this.#isClosed || !this.#makesRoom(namespace)) {
      this.#drop(tally, 1);
      return;
    }
    const known: Known = { comparison: undefined, waiting: 1 };
    const forget = (): void => {
      if (this.#known.get(key) === known) this.#known.delete(key);
    };
    this.#known.set(key, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > maxKnown && oldest !== undefined) this.#known.delete(oldest);
    this.#waiting.push({ namespace, tally, known, forget, targets, body: new Uint8Array(body) });
    this.#next();
  }

  /** Ends the thread; what waits is forgotten, and what comes is dropped. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#waiting.length = 0;
    await this.#options.lane.close();
  }

  /** The pairs that were asked for last, the newest first. */
  reports(): readonly PairReport[] {
    return this.#tallies.reports();
  }

  /** When the queue is full, the namespace with the most reviews in it gives up its last one, so that no author crowds out the rest. */
  #makesRoom(namespace: string): boolean {
    if (this.#waiting.length < this.#limits.maxWaiting) return true;
    const held = new Map<string, number>();
    for (const each of this.#waiting) held.set(each.namespace, (held.get(each.namespace) ?? 0) + 1);
    const [largest, most] = [...held].reduce((one, other) => (other[1] > one[1] ? other : one), ['', 0]);
    if (most <= (held.get(namespace) ?? 0) + 1) return false;
    const [given] = this.#waiting.splice(
      this.#waiting.findLastIndex((each) => each.namespace === largest),
      1,
    );
    if (given !== undefined) {
      given.forget();
      this.#drop(given.tally, given.known.waiting);
    }
    return true;
  }

  #next(): void {
    if (this.#isBusy) return;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    const { lane, surroundings, clock } = this.#options;
    this.#isBusy = true;
    const ended = (outcome: ComparisonOutcome, milliseconds: number): void => {
      this.#end(next, outcome);
      setTimeout(
        () => {
          this.#isBusy = false;
          this.#next();
        },
        Math.min(this.#limits.maxRest, this.#limits.rest * milliseconds),
      ).unref();
    };
    lane.submit(new ComparisonJob(next.body, next.targets, surroundings, this.#limits.deadline, clock, ended));
  }

  #end({ tally, known, forget, targets }: Waiting, outcome: ComparisonOutcome): void {
    if (outcome === 'nothing') {
      forget();
      return;
    }
    const comparison = typeof outcome === 'string' ? this.#failure(outcome, targets) : outcome;
    if (comparison === undefined) {
      forget();
      this.#drop(tally, known.waiting);
      return;
    }
    known.comparison = comparison;
    this.#count(tally, comparison, known.waiting);
  }

  /** Bounds that the canary has run into; nothing is said of it when the thread could not do its work. */
  #failure(why: LaneFailure, { canary }: RolloutTargets): Comparison | undefined {
    const { heapMebibytes } = this.#options.lane.limits;
    if (why === 'deadline') return tooMuch(canary.name, `more than ${this.#limits.deadline} ms`);
    if (why === 'memory') return tooMuch(canary.name, `more than ${heapMebibytes} MiB`);
    return undefined;
  }

  #count(tally: PairTally, comparison: Comparison, times: number): void {
    tally.add(comparison, times);
    for (let count = 0; count < times; count++) {
      this.#options.observer?.compared(tally.pair.canary.name, comparison.outcome);
    }
  }

  #drop(tally: PairTally, times: number): void {
    for (let count = 0; count < times; count++) {
      this.#options.observer?.compared(tally.pair.canary.name, 'dropped');
    }
  }
}

/** Equal for the same bytes behind the uid on the same path. Authors choose the bytes: a short checksum would let them make two reviews look the same. */
function digestOf(path: string, body: Buffer): string {
  const rest = body.subarray(splitReview(body)?.restStart ?? 0);
  return createHash('sha256').update(`${path.length} ${path}`).update(rest).digest('base64');
}

function tooMuch(name: string, what: string): Comparison {
  return { outcome: 'failed', error: boundedError(`rendering a pod by ${name} takes ${what}`) };
}
