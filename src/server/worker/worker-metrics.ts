import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { ReviewWorker, type ReviewWorkerOptions } from './review-worker.ts';

/** A worker with metrics. */
export function measuredWorker(registry: Registry, options: ReviewWorkerOptions): ReviewWorker {
  const registers = [registry];
  const jobs = new Counter({
    name: 'injector_lane_jobs_total',
    help: 'Large or slow reviews that were given to the other thread, by how that ended.',
    labelNames: ['outcome'],
    registers,
  });
  const duration = new Histogram({
    name: 'injector_lane_seconds',
    help: 'Time that the other thread took for one of them.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  const worker = new ReviewWorker({
    ...options,
    observer: (outcome, seconds) => {
      jobs.inc({ outcome });
      if (seconds > 0) duration.observe(seconds);
    },
  });
  const gauge = (name: string, help: string, read: () => number): void => {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  };
  gauge('injector_lane_waiting_bytes', 'Bytes of reviews that wait for the other thread.', () => worker.waitingBytes);
  gauge('injector_lane_threads', 'Whether the other thread runs, 0 or 1: it is started when needed.', () =>
    Number(worker.isAwake),
  );
  return worker;
}
