import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import type { ApiClient } from './api-client.ts';
import { messageOf } from './api-error.ts';
import type { Clock, Logger } from './ports.ts';

export interface EventRecorderOptions {
  client: Pick<ApiClient, 'create' | 'patch'>;
  clock: Clock;
  logger: Logger;
  /** The reportingController, e.g. `sidecar-injector.io/operator`. */
  controller: string;
  /** The reportingInstance, which names the process; at most 128 characters. */
  instance: string;
}

export interface RecordedEvent<Reason extends string = string> {
  type: 'Normal' | 'Warning';
  /** One CamelCase word, e.g. `Published`. */
  reason: Reason;
  /** The operation as one word, e.g. `Reconcile`. */
  action: string;
  /** A sentence without secrets; cut at 1024 bytes, the limit of events.k8s.io/v1. */
  note: string;
}

interface Series {
  object: KubernetesObject;
  count: number;
  /** When the last occurrence was, according to `clock.monotonic` and `clock.now`. */
  lastSeen: number;
  lastObservedTime: string;
  /** When the Event was or will be written last, according to `clock.monotonic`. */
  writeAt: number;
}

/** How long an equal event extends a series, in milliseconds (6 minutes, as in client-go). */
const seriesMs = 6 * 60_000;
/** The minimum interval between two writes of a series, in milliseconds. */
const flushMs = 30_000;
/**
 * Limits new events per object and reason (client-go's spam filter: a burst of 25, then one in 5
 * minutes). Authors of pods can cause some reasons, which must not use up those of others.
 */
const spam = { burst: 25, refillMs: 300_000 };
const noteLimit = 1024;

/**
 * Records Events (events.k8s.io/v1) with the times of their first and last occurrence. Equal events
 * become a series; the rate of different events is limited for each object and reason. `record`
 * returns immediately and never throws; a failed write is logged at debug level.
 */
export class EventRecorder<Reason extends string = string> {
  readonly #options: EventRecorderOptions;
  readonly #series = new Map<string, Series>();
  /** When a bucket of new events is full again, by the object's uid and the reason. */
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
      series.lastObservedTime = microTime(clock.now());
      if (series.writeAt > now) return;
      series.writeAt = Math.max(now, series.writeAt + flushMs);
      clock.after(series.writeAt - now, this.#flush.bind(this, series));
      return;
    }
    if (!this.#takeToken(`${uid} ${reason}`, now)) return;
    const object = this.#eventObject(regarding, { type, reason, action, note });
    const lastObservedTime = microTime(clock.now());
    this.#series.set(key, { object, count: 1, lastSeen: now, lastObservedTime, writeAt: now });
    this.#write(() => client.create(object));
  }

  #flush(series: Series): void {
    const { object, count, lastObservedTime } = series;
    series.writeAt = this.#options.clock.monotonic();
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
    // A part of a DNS name must not end with `-` or `.`.
    const prefix = name.slice(0, 220).replace(/(?<![-.])[-.]+$/, '');
    return {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      // The API server requires the namespace `default` for Events about cluster-scoped objects.
      metadata: { name: `${prefix}.${unique}`, namespace: namespace ?? 'default' },
      eventTime: microTime(clock.now()),
      ...event,
      reportingController: controller,
      reportingInstance: instance.slice(0, 128),
      regarding: { apiVersion: regarding.apiVersion, kind: regarding.kind, name, namespace, uid, resourceVersion },
    };
  }

  #takeToken(bucket: string, now: number): boolean {
    const fullAt = Math.max(this.#buckets.get(bucket) ?? now, now) + spam.refillMs;
    if (fullAt - now > spam.burst * spam.refillMs) return false;
    this.#buckets.set(bucket, fullAt);
    return true;
  }

  #forgetOld(now: number): void {
    for (const [key, series] of this.#series) if (now - series.lastSeen > seriesMs) this.#series.delete(key);
    for (const [bucket, fullAt] of this.#buckets) if (fullAt <= now) this.#buckets.delete(bucket);
  }
}

/** Formats a time as metav1.MicroTime. */
export function microTime(time: Date): string {
  return time.toISOString().replace(/Z$/, '000Z');
}

function cut(note: string): string {
  if (Buffer.byteLength(note) <= noteLimit) return note;
  const bytes = Buffer.from(note).subarray(0, noteLimit - 3);
  return `${bytes.toString('utf8').replace(/\uFFFD$/u, '')}…`;
}
