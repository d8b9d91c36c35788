import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import type { ApiClient } from './api-client.ts';
import { messageOf } from './api-error.ts';
import type { Clock, Logger } from './ports.ts';

export interface EventRecorderOptions {
  client: Pick<ApiClient, 'create' | 'patch'>;
  clock: Clock;
  logger: Logger;
  /** Who reports, e.g. `sidecar-injector.io/operator` (reportingController). */
  controller: string;
  /** Which process reports (reportingInstance), at most 128 characters. */
  instance: string;
}

export interface RecordedEvent<Reason extends string = string> {
  type: 'Normal' | 'Warning';
  /** One CamelCase word, e.g. `Published`. */
  reason: Reason;
  /** What was being done, one word, e.g. `Reconcile`. */
  action: string;
  /** A sentence for people; cut at 1024 bytes, the limit of events.k8s.io/v1. Never holds secrets. */
  note: string;
}

interface Series {
  object: KubernetesObject;
  count: number;
  written: number;
  lastSeen: number;
}

/** The same event again within this time counts up the one that is there, in milliseconds (client-go: 6 minutes). */
const seriesMs = 6 * 60_000;
/** A series is written this long after its first repetition: a storm of one event is two requests a minute. */
const flushMs = 30_000;
/** New events about one object: this many at once, then one each so many milliseconds (client-go's spam filter: 25, one in 5 minutes). */
const spam = { burst: 25, refillMs: 300_000 };
const noteLimit = 1024;

/**
 * Events about objects (events.k8s.io/v1). The same event again becomes a series; many different ones about one object are thinned out.
 * Recording returns at once and never fails: an event that cannot be written is worth a debug line.
 */
export class EventRecorder<Reason extends string = string> {
  readonly #options: EventRecorderOptions;
  readonly #series = new Map<string, Series>();
  /** By uid: when the bucket of new events will be full again. */
  readonly #buckets = new Map<string, number>();
  #sequence = 0;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
  }

  record(regarding: KubernetesObject, event: RecordedEvent<Reason>): void {
    const { client, clock } = this.#options;
    const now = clock.monotonic();
    this.#forgetOld(now);
    const { uid = '', name } = regarding.metadata;
    const { type, reason, action } = event;
    const note = cut(event.note);
    const key = [uid === '' ? name : uid, type, reason, action, note].join('\n');
    const series = this.#series.get(key);
    if (series !== undefined) {
      series.count += 1;
      series.lastSeen = now;
      if (series.count === series.written + 1) clock.after(flushMs, this.#flush.bind(this, series));
      return;
    }
    if (!this.#takeToken(uid, now)) return;
    const object = this.#eventObject(regarding, { type, reason, action, note });
    this.#series.set(key, { object, count: 1, written: 1, lastSeen: now });
    this.#write(() => client.create(object));
  }

  #flush(series: Series): void {
    const { object, count } = series;
    series.written = count;
    const lastObservedTime = microTime(this.#options.clock.now());
    this.#write(() => this.#options.client.patch(object, 'merge', { series: { count, lastObservedTime } }));
  }

  #write(request: () => Promise<unknown>): void {
    request().catch((error: unknown) =>
      this.#options.logger.debug('an event was not written', { error: messageOf(error) }),
    );
  }

  #eventObject(regarding: KubernetesObject, event: RecordedEvent): KubernetesObject {
    const { clock, controller, instance } = this.#options;
    const { name = '', namespace, uid, resourceVersion } = regarding.metadata;
    this.#sequence += 1;
    const unique = `${clock.now().getTime().toString(16)}${this.#sequence.toString(16).padStart(4, '0')}`;
    return {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      // Events about cluster-scoped objects live in `default` (validation of events.k8s.io/v1).
      metadata: { name: `${name.slice(0, 220)}.${unique}`, namespace: namespace ?? 'default' },
      eventTime: microTime(clock.now()),
      ...event,
      reportingController: controller,
      reportingInstance: instance.slice(0, 128),
      regarding: { apiVersion: regarding.apiVersion, kind: regarding.kind, name, namespace, uid, resourceVersion },
    };
  }

  #takeToken(uid: string, now: number): boolean {
    const fullAt = Math.max(this.#buckets.get(uid) ?? now, now) + spam.refillMs;
    if (fullAt - now > spam.burst * spam.refillMs) return false;
    this.#buckets.set(uid, fullAt);
    return true;
  }

  #forgetOld(now: number): void {
    for (const [key, series] of this.#series) if (now - series.lastSeen > seriesMs) this.#series.delete(key);
    for (const [uid, fullAt] of this.#buckets) if (fullAt <= now) this.#buckets.delete(uid);
  }
}

/** metav1.MicroTime. */
export function microTime(time: Date): string {
  return time.toISOString().replace(/Z$/, '000Z');
}

function cut(note: string): string {
  if (Buffer.byteLength(note) <= noteLimit) return note;
  const bytes = Buffer.from(note).subarray(0, noteLimit - 3);
  return `${bytes.toString('utf8').replace(/\uFFFD$/u, '')}…`;
}
