import { isDeepStrictEqual } from 'node:util';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { RevisionTag, RestartStatus } from '../../api/revision-tag/revision-tag.ts';
import type { EventRecorder } from '../../kube/event-recorder.ts';
import type { EventReason } from '../reasons.ts';
import type { Clock } from '../../kube/ports.ts';
import type { RestartCounts } from '../../rollout/restarts.ts';
import type { OperatorMetrics } from '../ports.ts';

export interface RestartReportsOptions {
  readonly recorder: Pick<EventRecorder<EventReason>, 'record'>;
  readonly metrics: Pick<OperatorMetrics, 'restarts'>;
  /** Requests a write of a tag's status. */
  readonly news: (tag: string) => void;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** The minimum interval between status writes that change only numbers, in milliseconds. */
const figuresMs = 5000;

/** Reports the restarts of each tag in its status, metrics and Events. */
export class RestartReports {
  readonly #options: RestartReportsOptions;
  readonly #shown = new Map<string, { readonly status: RestartStatus; readonly at: number }>();
  /** The phase that was last reported for each tag. */
  readonly #emitted = new Map<string, string>();

  constructor(options: RestartReportsOptions) {
    this.#options = options;
  }

  /** Returns the status of a tag; undefined before the first report. */
  of(tag: string): RestartStatus | undefined {
    return this.#shown.get(tag)?.status;
  }

  /** Reports the result of a pass. @param object the stored tag, to which Events refer */
  found(tag: RevisionTag, object: KubernetesObject, status: RestartStatus, counts: RestartCounts): void {
    const { name } = tag.metadata;
    const { recorder, metrics } = this.#options;
    const before = this.#emitted.get(name) ?? tag.status?.restarts?.phase;
    this.#emitted.set(name, status.phase);
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
    const shown = this.#shown.get(tag);
    if (isDeepStrictEqual(shown?.status, status)) return;
    if (
      shown !== undefined &&
      now - shown.at < figuresMs &&
      isDeepStrictEqual(withoutFigures(shown.status), withoutFigures(status))
    )
      return;
    this.#shown.set(tag, { status, at: now });
    this.#options.news(tag);
  }

  /** Forgets all tags except these. */
  keepOnly(tags: ReadonlySet<string>): void {
    for (const tag of new Set([...this.#shown.keys(), ...this.#emitted.keys()])) if (!tags.has(tag)) this.#forget(tag);
  }

  #forget(tag: string): void {
    this.#shown.delete(tag);
    this.#emitted.delete(tag);
    this.#options.metrics.restarts?.(tag, undefined);
  }
}

/** Returns a status without numbers and messages. */
function withoutFigures({ phase, path, waiting, untouched }: RestartStatus): unknown {
  const names = (list: RestartStatus['waiting']) => {
    return list.map(({ namespace, kind, name, reason }) => [namespace, kind, name, reason]);
  };
  return { phase, path, waiting: names(waiting), untouched: names(untouched) };
}
