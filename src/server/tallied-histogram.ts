import { Histogram } from 'prom-client';

interface Distribution {
  /** One for each bucket, and one for what is above the last. */
  readonly counts: number[];
  sum: number;
}

export interface TalliedHistogramConfiguration {
  readonly name: string;
  readonly help: string;
  readonly buckets: readonly number[];
  /** Whether it has the label `path`; without one it shows zeros from the beginning. */
  readonly byPath?: boolean;
  readonly registers: NonNullable<ConstructorParameters<typeof Histogram>[0]['registers']>;
}

type Scraped = Awaited<ReturnType<Histogram['get']>>;

/**
 * A histogram for what happens with every request, by kind of path: where prom-client's would check, sort and join the labels of each observation, this only counts, and
 * the rest is done when somebody scrapes.
 */
export class TalliedHistogram extends Histogram {
  readonly #name: string;
  /** Says what a scraped histogram has beside its values. */
  readonly #shape: Histogram;
  readonly #buckets: readonly number[];
  /** By the value of the label `path`; under the empty text where there is no label. */
  readonly #distributions = new Map<string, Distribution>();

  constructor({ name, help, buckets, byPath = false, registers }: TalliedHistogramConfiguration) {
    super({ name, help, buckets: [...buckets], labelNames: byPath ? ['path'] : [], registers });
    this.#shape = new Histogram({ name, help, buckets: [...buckets], registers: [] });
    this.#name = name;
    this.#buckets = buckets;
    if (!byPath) this.#distributions.set('', this.#empty());
  }

  /** One more value. */
  note(path: string, value: number): void {
    let distribution = this.#distributions.get(path);
    if (distribution === undefined) {
      distribution = this.#empty();
      this.#distributions.set(path, distribution);
    }
    let bucket = 0;
    while (bucket < this.#buckets.length && value > (this.#buckets[bucket] ?? Infinity)) bucket++;
    distribution.counts[bucket] = (distribution.counts[bucket] ?? 0) + 1;
    distribution.sum += value;
  }

  override async get(): Promise<Scraped> {
    return { ...(await this.#shape.get()), values: this.#values() };
  }

  /** What prom-client's registry asks in place of `get` when it writes the text. */
  getForPromString(): Promise<Scraped> {
    return this.get();
  }

  #empty(): Distribution {
    return { counts: Array.from({ length: this.#buckets.length + 1 }, () => 0), sum: 0 };
  }

  #values(): Scraped['values'] {
    const values: Scraped['values'] = [];
    for (const [path, { counts, sum }] of this.#distributions) {
      const labels = path === '' ? {} : { path };
      let total = 0;
      counts.forEach((count, index) => {
        total += count;
        const le = this.#buckets[index] ?? '+Inf';
        values.push({ metricName: `${this.#name}_bucket`, labels: { le, ...labels }, value: total });
      });
      values.push({ metricName: `${this.#name}_sum`, labels, value: sum });
      values.push({ metricName: `${this.#name}_count`, labels, value: total });
    }
    return values;
  }
}
