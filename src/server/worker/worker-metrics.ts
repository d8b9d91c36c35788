import type { Registry } from 'prom-client';
import { registerMetrics } from '../metrics/register-metrics.ts';
import { ReviewWorker, type ReviewWorkerOptions } from './review-worker.ts';

const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function measuredWorker(registry: Registry, options: ReviewWorkerOptions): ReviewWorker {
  const { counter, histogram, gauge } = registerMetrics(registry);
  const jobsHelp = 'Large or slow reviews that the worker handled, by outcome.';
  const jobs = counter('injector_lane_jobs_total', jobsHelp, 'outcome');
  const duration = histogram('injector_lane_seconds', 'Time that the worker spent on a review.', buckets);
  const worker = new ReviewWorker({
    ...options,
    observer: (outcome, seconds) => {
      jobs.inc({ outcome });
      if (seconds > 0) duration.observe(seconds);
    },
  });
  gauge('injector_lane_waiting_bytes', 'Bytes of reviews that wait for the worker.', () => worker.waitingBytes);
  const threadsHelp = 'Whether the thread of the worker runs, 0 or 1. It starts on demand.';
  gauge('injector_lane_threads', threadsHelp, () => Number(worker.isAwake));
  return worker;
}
