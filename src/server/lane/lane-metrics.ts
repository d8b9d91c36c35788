import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { HeavyLane, LaneObserver } from './heavy-lane.ts';

/** The lane's metrics. */
export class LaneMetrics implements LaneObserver {
  readonly #jobs;
  readonly #seconds;
  #lane: HeavyLane | undefined;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#jobs = new Counter({
      name: 'injector_lane_jobs_total',
      help: 'Large or slow reviews that were given to the other thread, by how that ended.',
      labelNames: ['outcome'],
      registers,
    });
    this.#seconds = new Histogram({
      name: 'injector_lane_seconds',
      help: 'Time that the other thread took for one of them.',
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    });
    const lane = (): HeavyLane | undefined => this.#lane;
    new Gauge({
      name: 'injector_lane_waiting_bytes',
      help: 'Bytes of reviews that wait for the other thread.',
      registers,
      collect() {
        this.set(lane()?.waitingBytes ?? 0);
      },
    });
    new Gauge({
      name: 'injector_lane_threads',
      help: 'Whether the other thread runs, 0 or 1: it is started when needed.',
      registers,
      collect() {
        this.set(lane()?.isAwake === true ? 1 : 0);
      },
    });
  }

  /** Where the gauges read from. */
  readFrom(lane: HeavyLane): void {
    this.#lane = lane;
  }

  ended(outcome: Parameters<NonNullable<LaneObserver['ended']>>[0], seconds: number): void {
    this.#jobs.inc({ outcome });
    if (seconds > 0) this.#seconds.observe(seconds);
  }
}
