import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

type Series = readonly (readonly [labels: Record<string, string>, value: number])[];

/** Returns functions that create metrics in one registry. Labels must be bounded. */
export function registerMetrics(registry: Registry) {
  const registers = [registry];
  return {
    counter: <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
      new Counter({ name, help, labelNames, registers }),
    histogram: <Label extends string>(name: string, help: string, buckets: number[], ...labelNames: Label[]) =>
      new Histogram({ name, help, buckets, labelNames, registers }),
    /** Creates a gauge that calls `read` at each scrape. */
    gauge: (name: string, help: string, read: () => number) =>
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read());
        },
      }),
    /** Creates a gauge with labels that calls `read` at each scrape. */
    series: (name: string, help: string, labelNames: string[], read: () => Series) =>
      new Gauge({
        name,
        help,
        labelNames,
        registers,
        collect() {
          this.reset();
          for (const [labels, value] of read()) this.set(labels, value);
        },
      }),
  };
}
