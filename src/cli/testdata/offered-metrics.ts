import { Registry } from 'prom-client';
import { ServerMetrics } from '../../server/metrics/server-metrics.ts';
import { trialMetrics } from '../../server/trial/trial-metrics.ts';
import { measuredWorker } from '../../server/worker/worker-metrics.ts';
import { prometheusOperatorMetrics } from '../operator/operator-metrics.ts';

export interface OfferedMetric {
  readonly name: string;
  /** `counter`, `gauge` or `histogram`. */
  readonly type: string;
  readonly labels: readonly string[];
  readonly help: string;
}

/** Returns the metrics of a process of role `all`, without the metrics of libraries. */
export function offeredMetrics(): OfferedMetric[] {
  const registry = new Registry();
  new ServerMetrics(registry);
  prometheusOperatorMetrics(registry);
  trialMetrics(registry);
  const quiet = (): void => undefined;
  measuredWorker(registry, { log: { error: quiet, warn: quiet, info: quiet, debug: quiet }, clock: () => 0 });
  return registry.getMetricsAsArray().map((metric) => {
    const { labelNames, ...others } = metric as unknown as OfferedMetric & { labelNames?: string[] };
    return { ...others, labels: labelNames ?? [] };
  });
}
