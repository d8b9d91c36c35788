import { durationMilliseconds } from '../../api/duration.ts';
import type { RestartStrategy } from '../../api/revision-tag/rollout-strategy.ts';
import type { Clock } from '../../kube/ports.ts';
import type { RestartPlan } from '../../rollout/restarts.ts';
import { FollowedWorkloads, type FollowedWorkloadsOptions } from './followed-workloads.ts';

interface LeadershipOptions extends Pick<FollowedWorkloadsOptions, 'follow' | 'changed'> {
  /** Until when this process leads. */
  readonly leading: AbortSignal;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}

/** What is followed, and what has been seen, while one leader has restarts to do. */
export class Leadership {
  readonly leading: AbortSignal;
  readonly workloads: FollowedWorkloads;
  readonly #clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly #ended = new AbortController();
  /** By what path the pods of each tag are judged, and since when. */
  readonly #judged = new Map<string, { readonly path: string | null | undefined; readonly since: number }>();
  /** From when on there is nothing to do for a tag, while its pods are judged by this path and none is stale. Milliseconds since 1970. */
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

  /** Aborts when nothing is followed any more. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /** Tags that ask for restarts no more begin anew when they do again. */
  keepOnly(tags: ReadonlySet<string>): void {
    for (const known of [this.#judged, this.#over]) {
      for (const tag of known.keys()) if (!tags.has(tag)) known.delete(tag);
    }
  }

  /** Since when the pods of a tag are judged by this path (undefined: by none), by `clock.monotonic`; to be asked at each look. */
  judgedSince(tag: string, path: string | null | undefined): number {
    const known = this.#judged.get(tag);
    if (known !== undefined && known.path === path) return known.since;
    const since = this.#clock.monotonic();
    this.#judged.set(tag, { path, since });
    return since;
  }

  /**
   * What has been planned for a tag. While nothing is stale nothing else will be planned, once no restart is so young any more that its pods are
   * watched: tens of thousands of workloads need not be looked at for that.
   */
  planned(tag: string, { status, counts }: RestartPlan, path: string | null, { readyTimeout }: RestartStrategy): void {
    const isOver = status.phase === 'Idle' && counts.stale === 0;
    const latest = isOver ? this.workloads.latestRestart() : Infinity;
    this.#over.set(tag, { path, from: latest + durationMilliseconds(readyTimeout) });
  }

  /** Whether there is nothing to plan for a tag as long as none of its pods is stale. */
  isOver(tag: string, path: string | null): boolean {
    const over = this.#over.get(tag);
    return over !== undefined && over.path === path && over.from <= this.#clock.now().getTime();
  }

  /** Nothing is followed any more. */
  end(): void {
    this.#ended.abort();
  }
}
