import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

type Series = readonly (readonly [labels: Record<string, string>, figure: number])[];

/** Makes metrics of one registry. Labels must be bounded. */
export function registerMetrics(registry: Registry) {
  const registers = [registry];
  return {
    counter: <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
      new Counter({ name, help, labelNames, registers }),
    histogram: <Label extends string>(name: string, help: string, buckets: number[], ...labelNames: Label[]) =>
      new Histogram({ name, help, buckets, labelNames, registers }),
    /** Is read when somebody scrapes. */
    gauge: (name: string, help: string, read: () => number) =>
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read());
        },
      }),
    /** A gauge whose series are read when somebody scrapes. */
    series: (name: string, help: string, labelNames: string[], read: () => Series) =>
      new Gauge({
        name,
        help,
        labelNames,
        registers,
        collect() {
          this.reset();
          for (const [labels, figure] of read()) this.set(labels, figure);
        },
      }),
  };
}
