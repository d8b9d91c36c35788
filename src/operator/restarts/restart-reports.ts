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
  /** The status of a tag is to be written. */
  readonly news: (tag: string) => void;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** What only figures make different is said at most this often. Milliseconds. */
const figuresMs = 5000;

/** What is told of the restarts of each tag, in status, metrics and Events of the tag, by what a pass finds. */
export class RestartReports {
  readonly #options: RestartReportsOptions;
  readonly #shown = new Map<string, { readonly status: RestartStatus; readonly at: number }>();
  /** The phase of which Events have told. */
  readonly #told = new Map<string, string>();

  constructor(options: RestartReportsOptions) {
    this.#options = options;
  }

  /** What the status of a tag is to say; undefined while this process knows nothing. */
  of(tag: string): RestartStatus | undefined {
    return this.#shown.get(tag)?.status;
  }

  /** What a pass has found. @param object the tag as stored, for Events about it */
  found(tag: RevisionTag, object: KubernetesObject, status: RestartStatus, counts: RestartCounts): void {
    const { name } = tag.metadata;
    const { recorder, metrics } = this.#options;
    const before = this.#told.get(name) ?? tag.status?.restarts?.phase;
    this.#told.set(name, status.phase);
    const isStopped = status.phase === 'Stopped';
    if (isStopped !== (before === 'Stopped')) {
      const news = isStopped
        ? ({ type: 'Warning', reason: 'RestartsStopped', note: status.message } as const)
        : ({ type: 'Normal', reason: 'RestartsResumed', note: `restarts go on: ${status.message}` } as const);
      recorder.record(object, { ...news, action: 'Restart' });
    }
    metrics.restarts?.(name, { phase: status.phase, counts });
    this.say(name, status);
  }

  /** What the status is to say; Events and metrics stay as they are. */
  say(tag: string, status: RestartStatus): void {
    const now = this.#options.clock.monotonic();
    const shown = this.#shown.get(tag);
    if (isDeepStrictEqual(shown?.status, status)) return;
    if (
      shown !== undefined &&
      now - shown.at < figuresMs &&
      isDeepStrictEqual(courseOf(shown.status), courseOf(status))
    )
      return;
    this.#shown.set(tag, { status, at: now });
    this.#options.news(tag);
  }

  /** Forgets all tags but these. */
  keepOnly(tags: ReadonlySet<string>): void {
    for (const tag of new Set([...this.#shown.keys(), ...this.#told.keys()])) if (!tags.has(tag)) this.#forget(tag);
  }

  #forget(tag: string): void {
    this.#shown.delete(tag);
    this.#told.delete(tag);
    this.#options.metrics.restarts?.(tag, undefined);
  }
}

/** What of a status is no figure. */
function courseOf({ phase, path, waiting, untouched }: RestartStatus): unknown {
  const names = (list: RestartStatus['waiting']) => {
    return list.map(({ namespace, kind, name, reason }) => [namespace, kind, name, reason]);
  };
  return { phase, path, waiting: names(waiting), untouched: names(untouched) };
}
