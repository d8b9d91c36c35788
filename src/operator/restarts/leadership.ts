import { durationMilliseconds } from '../../api/duration.ts';
import type { RestartStrategy } from '../../api/revision-tag/rollout-strategy.ts';
import type { Clock } from '../../kube/ports.ts';
import type { RestartPlan } from '../../rollout/restarts.ts';
import { FollowedWorkloads, type FollowedWorkloadsOptions } from './followed-workloads.ts';

interface LeadershipOptions extends Pick<FollowedWorkloadsOptions, 'follow' | 'changed'> {
  /** Aborts when this process stops leading. */
  readonly leading: AbortSignal;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}

/** The watches and observations of one leader while tags ask for restarts. */
export class Leadership {
  readonly leading: AbortSignal;
  readonly workloads: FollowedWorkloads;
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly #ended = new AbortController();
  /** For each tag, the path by which its pods are judged, and when this path was first seen. */
  readonly #judged = new Map<string, { readonly path: string | null | undefined; readonly since: number }>();
  /** The time from which a tag with this path and no stale pods needs no plan (ms since 1970). */
  readonly #over = new Map<string, { readonly path: string | null; readonly from: number }>();

  constructor({ leading, follow, clock, changed }: LeadershipOptions) {
    this.leading = leading;
    this.#clock = clock;
    this.workloads = new FollowedWorkloads({
      follow,
      signal: AbortSignal.any([leading, this.#ended.signal]),
      clock,
      changed: () => {
        if (!this.#ended.signal.aborted) changed();
      },
    });
  }

  /** Aborts when the watches end. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /** Forgets all tags except these. */
  keepOnly(tags: ReadonlySet<string>): void {
    for (const known of [this.#judged, this.#over]) {
      for (const tag of known.keys()) if (!tags.has(tag)) known.delete(tag);
    }
  }

  /** Returns when the path last changed, according to `clock.monotonic`. Call this in each pass. */
  judgedSince(tag: string, path: string | null | undefined): number {
    const known = this.#judged.get(tag);
    if (known !== undefined && known.path === path) return known.since;
    const since = this.#clock.monotonic();
    this.#judged.set(tag, { path, since });
    return since;
  }

  /**
   * Records a plan. If no pod is stale, further plans are empty once `readyTimeout` has passed
   * since the last restart, so passes can skip tens of thousands of workloads.
   */
  planned(tag: string, { status, counts }: RestartPlan, path: string | null, { readyTimeout }: RestartStrategy): void {
    const isOver = status.phase === 'Idle' && counts.stale === 0;
    const latest = isOver ? this.workloads.latestRestart() : Infinity;
    this.#over.set(tag, { path, from: latest + durationMilliseconds(readyTimeout) });
  }

  /** Reports whether a tag needs no plan while none of its pods is stale. */
  isOver(tag: string, path: string | null): boolean {
    const over = this.#over.get(tag);
    return over !== undefined && over.path === path && over.from <= this.#clock.now().getTime();
  }

  /** Ends the watches. */
  end(): void {
    this.#ended.abort();
  }
}
