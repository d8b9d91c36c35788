import type { Clock } from '../kube/ports.ts';

/** So many pods of one maker (a ReplicaSet, a Job) get an Event for one reason within {@link windowMs}: the others' Events would say the same. */
const perMaker = 3;
const windowMs = 600_000;
/** Of all pods together: so many at once, then one each so many milliseconds. */
const overall = { burst: 25, refillMs: 1000 };

/** Keeps a cluster full of pods that are not injected from becoming a cluster full of Events. */
export class PodEventLimits {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #makers = new Map<string, { count: number; readonly until: number }>();
  /** When the bucket will be full again. */
  #fullAt = 0;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Whether an Event may be written about one more pod of this maker, for this reason. */
  take(maker: string, reason: string): boolean {
    const now = this.#clock.monotonic();
    this.#forgetOld(now);
    const key = `${maker} ${reason}`;
    const entry = this.#makers.get(key) ?? { count: 0, until: now + windowMs };
    if (entry.count >= perMaker) return false;
    const fullAt = Math.max(this.#fullAt, now) + overall.refillMs;
    if (fullAt - now > overall.burst * overall.refillMs) return false;
    this.#fullAt = fullAt;
    entry.count += 1;
    this.#makers.set(key, entry);
    return true;
  }

  /** The first of the map is the oldest; by the limit over all, at most some 600 are left. */
  #forgetOld(now: number): void {
    for (const [key, { until }] of this.#makers) {
      if (until > now) return;
      this.#makers.delete(key);
    }
  }
}
