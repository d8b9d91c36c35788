import { isDeepStrictEqual } from 'node:util';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { RevisionTag, RestartStatus } from '../../api/revision-tag/revision-tag.ts';
import type { EventRecorder } from '../../kube/event-recorder.ts';
import type { EventReason } from '../reasons.ts';
import type { Clock } from '../../kube/ports.ts';
import { durationMilliseconds } from '../../api/duration.ts';
import type { RestartStrategy } from '../../api/revision-tag/rollout-strategy.ts';
import type { RestartCounts, RestartPlan } from '../../rollout/restarts.ts';
import type { OperatorMetrics } from '../ports.ts';

export interface RestartReportsOptions {
  readonly recorder: Pick<EventRecorder<EventReason>, 'record'>;
  readonly metrics: Pick<OperatorMetrics, 'restarts'>;
  /** Requests a write of a tag's status. */
  readonly news: (tag: string) => void;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}

/** The minimum interval between status writes that change only numbers, in milliseconds. */
const figuresMs = 5000;

/** What a leader remembers of a tag that asks for restarts. Times are of `clock.monotonic`. */
interface TagRecord {
  /** The status that was reported last, and when. */
  status?: RestartStatus;
  at?: number;
  /** The phase that was last reported in Events and metrics. */
  phase?: string;
  /** The path by which its pods are judged, and when this path was first seen. */
  path?: string | null | undefined;
  since?: number;
  /** From when the tag needs no plan while the path stays and no pod is stale, in ms since 1970. */
  overFrom?: number;
}

/** Remembers the tags of one leader, and reports their restarts in status, metrics and Events. */
export class RestartReports {
  readonly #options: RestartReportsOptions;
  readonly #tags = new Map<string, TagRecord>();

  constructor(options: RestartReportsOptions) {
    this.#options = options;
  }

  /** Returns the status of a tag; undefined before the first report. */
  of(tag: string): RestartStatus | undefined {
    return this.#tags.get(tag)?.status;
  }

  /** Reports the result of a pass. @param object the stored tag, to which Events refer */
  found(tag: RevisionTag, object: KubernetesObject, status: RestartStatus, counts: RestartCounts): void {
    const { name } = tag.metadata;
    const { recorder, metrics } = this.#options;
    const record = this.#record(name);
    const before = record.phase ?? tag.status?.restarts?.phase;
    record.phase = status.phase;
    const isStopped = status.phase === 'Stopped';
    if (isStopped !== (before === 'Stopped')) {
      const news = isStopped
        ? ({ type: 'Warning', reason: 'RestartsStopped', note: status.message } as const)
        : ({ type: 'Normal', reason: 'RestartsResumed', note: `restarts continue: ${status.message}` } as const);
      recorder.record(object, { ...news, action: 'Restart' });
    }
    metrics.restarts?.(name, { phase: status.phase, counts });
    this.updateStatus(name, status);
  }

  /** Updates the status of a tag, without Events and metrics. */
  updateStatus(tag: string, status: RestartStatus): void {
    const now = this.#options.clock.monotonic();
    const record = this.#record(tag);
    const { status: shown, at = -Infinity } = record;
    if (isDeepStrictEqual(shown, status)) return;
    const isRecent = shown !== undefined && now - at < figuresMs;
    if (isRecent && isDeepStrictEqual(withoutFigures(shown), withoutFigures(status))) return;
    Object.assign(record, { status, at: now });
    this.#options.news(tag);
  }

  /** Returns when the path by which pods are judged last changed. Call this in each pass. */
  judgedSince(tag: string, path: string | null | undefined): number {
    const record = this.#record(tag);
    if (record.since !== undefined && record.path === path) return record.since;
    const since = this.#options.clock.monotonic();
    Object.assign(record, { path, since, overFrom: Infinity });
    return since;
  }

  /**
   * Records a plan. If no pod is stale, further plans are empty once `readyTimeout` has passed
   * since the last restart, so passes can skip tens of thousands of workloads.
   * @param latestRestart returns the time of the latest restart for any tag, in ms since 1970
   */
  planned(
    tag: string,
    { status, counts }: RestartPlan,
    { readyTimeout }: RestartStrategy,
    latestRestart: () => number,
  ): void {
    const isOver = status.phase === 'Idle' && counts.stale === 0;
    this.#record(tag).overFrom = isOver ? latestRestart() + durationMilliseconds(readyTimeout) : Infinity;
  }

  /** Reports whether a tag needs no plan while none of its pods is stale. */
  isOver(tag: string): boolean {
    return (this.#tags.get(tag)?.overFrom ?? Infinity) <= this.#options.clock.now().getTime();
  }

  #record(tag: string): TagRecord {
    const record = this.#tags.get(tag) ?? {};
    this.#tags.set(tag, record);
    return record;
  }

  /** Forgets all tags except these. */
  keepOnly(tags: ReadonlySet<string>): void {
    for (const tag of this.#tags.keys()) {
      if (tags.has(tag)) continue;
      this.#tags.delete(tag);
      this.#options.metrics.restarts?.(tag, undefined);
    }
  }
}

/** Returns a status without numbers and messages. */
function withoutFigures({ phase, path, waiting, untouched }: RestartStatus): unknown {
  const names = (list: RestartStatus['waiting']) => {
    return list.map(({ namespace, kind, name, reason }) => [namespace, kind, name, reason]);
  };
  return { phase, path, waiting: names(waiting), untouched: names(untouched) };
}
