import { Counter, type CounterConfiguration } from 'prom-client';

/** Increments since somebody last scraped. */
interface Tally<Label extends string> {
  readonly labels: Partial<Record<Label, string | number>>;
  pending: number;
}

/**
 * A counter for what happens with every request: it looks labels up by a text that whoever counts has at hand anyway, and gives prom-client, which checks, sorts and joins
 * them each time, the sum when somebody scrapes.
 */
export class TalliedCounter<Label extends string> {
  readonly #tallies = new Map<string, Tally<Label>>();

  constructor(configuration: Omit<CounterConfiguration<Label>, 'collect'>) {
    const tallies = this.#tallies;
    new Counter<Label>({
      ...configuration,
      collect() {
        for (const tally of tallies.values()) {
          if (tally.pending > 0) this.inc(tally.labels, tally.pending);
          tally.pending = 0;
        }
      },
    });
  }

  /**
   * Counts one more.
   * @param key different for different labels
   * @returns false when the key is new: then {@link introduce} it
   */
  increment(key: string): boolean {
    const tally = this.#tallies.get(key);
    if (tally === undefined) return false;
    tally.pending++;
    return true;
  }

  /** The first of its key. */
  introduce(key: string, labels: Partial<Record<Label, string | number>>): void {
    this.#tallies.set(key, { labels, pending: 1 });
  }
}
