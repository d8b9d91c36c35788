import { Registry } from 'prom-client';
import { LaneMetrics } from '../../server/lane/lane-metrics.ts';
import { ServerMetrics } from '../../server/server-metrics.ts';
import { TrialMetrics } from '../../server/trial/trial-metrics.ts';
import { PrometheusOperatorMetrics } from '../operator/operator-metrics.ts';

export interface OfferedMetric {
  readonly name: string;
  /** `counter`, `gauge` or `histogram`. */
  readonly type: string;
  readonly labels: readonly string[];
}

/** Everything that a process of role `all` offers of its own. */
export function offeredMetrics(): OfferedMetric[] {
  const registry = new Registry();
  for (const Metrics of [ServerMetrics, LaneMetrics, TrialMetrics, PrometheusOperatorMetrics]) new Metrics(registry);
  return registry.getMetricsAsArray().map((metric) => {
    const { name, type, labelNames } = metric as unknown as { name: string; type: string; labelNames?: string[] };
    return { name, type, labels: labelNames ?? [] };
  });
}
