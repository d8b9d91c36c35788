import {
  boundedError,
  emptyShadowReport,
  mostChangedFields,
  type PairReport,
  type RolloutPair,
  type ShadowReport,
} from '../../api/shadow-report.ts';
import type { Comparison } from './compare-tracks.ts';

/** What has come of comparing one pair of configurations. */
export class PairTally {
  readonly pair: RolloutPair;
  #report: ShadowReport = emptyShadowReport;

  constructor(pair: RolloutPair) {
    this.pair = pair;
  }

  /** @param times how many admissions it holds for */
  add(comparison: Comparison, times: number): void {
    const { compared, failed, differing, changed, error } = this.#report;
    const fields = comparison.outcome === 'changed' ? comparison.fields : [];
    const why = error ?? (comparison.outcome === 'failed' ? boundedError(comparison.error) : undefined);
    this.#report = {
      compared: compared + times,
      failed: failed + (comparison.outcome === 'failed' ? times : 0),
      differing: differing + (comparison.outcome === 'changed' ? times : 0),
      changed: fields.every((field) => changed.includes(field))
        ? changed
        : [...new Set([...changed, ...fields])].slice(0, mostChangedFields),
      ...(why === undefined ? {} : { error: why }),
    };
  }

  report(): PairReport {
    return { ...this.pair, ...this.#report };
  }
}

/** Pairs that are kept: anybody who reaches the listener can name a tag of his own. */
const mostPairs = 32;

/** The tallies of the pairs that were asked for last. */
export class PairTallies {
  /** In order of use. */
  readonly #tallies = new Map<string, PairTally>();

  of(pair: RolloutPair): PairTally {
    const { tag, stable, canary } = pair;
    const key = `${tag}/${stable.name}/${stable.hash}/${canary.name}/${canary.hash}`;
    const tally = this.#tallies.get(key) ?? new PairTally(pair);
    this.#tallies.delete(key);
    this.#tallies.set(key, tally);
    const [oldest] = this.#tallies.keys();
    if (this.#tallies.size > mostPairs && oldest !== undefined) this.#tallies.delete(oldest);
    return tally;
  }

  /** The newest first. */
  reports(): PairReport[] {
    return [...this.#tallies.values()].reverse().map((tally) => tally.report());
  }
}
