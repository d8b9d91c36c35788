import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import type { ApiClient, ListPage } from './api-client.ts';
import { ApiError, isExpired, isNotFound, messageOf } from './api-error.ts';
import { BackOff } from './back-off.ts';
import { pause } from './clock.ts';
import { objectKey, type ObjectStore } from './object-store.ts';
import type { Clock, Logger, Random, WatchEnd, WatchObserver } from './ports.ts';
import type { ResourceKind } from './resource-kinds.ts';

/** The dependencies of every reflector. */
export interface FollowingParts {
  readonly client: Pick<ApiClient, 'list' | 'watch'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly observer?: WatchObserver;
}

export interface ReflectorOptions<T extends KubernetesObject> extends FollowingParts {
  resource: ResourceKind;
  store: ObjectStore<T>;
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
  /** The number of objects per page (default 100); parsing a page blocks the event loop. */
  pageSize?: number;
  /** The pause between two pages in milliseconds (default 0); etcd forgets a list after 5 min. */
  pagePauseMs?: number;
  /** Selects the part of an object to store; default: everything but managedFields. */
  transform?: (object: T) => T;
  /** Called after the first success that follows a failure. */
  onRecovered?: () => void;
}

/**
 * The range of the watch timeout, in seconds. The server sends a bookmark before the timeout, so
 * the next watch can resume. A hung stream is detected {@link graceSeconds} after the timeout.
 */
const watchSeconds = { shortest: 30, longest: 45 };
const graceSeconds = 10;
/** The time limit for a page, or for the headers of a watch, in milliseconds. */
const requestTimeoutMs = 10_000;
/** Back-off after errors, in milliseconds. */
const backOffMs = { base: 100, maximum: 2000 };
/** The maximum random delay before a relist, in milliseconds; it spreads the watchers. */
const relistJitterMs = 1000;
/** The time before an equal error is logged again, in milliseconds. */
const repeatLogMs = 60_000;

/**
 * Keeps a store equal to a collection through a paged list and then watches with bookmarks. Retries
 * errors forever, with a back-off of at most 2 s.
 */
export class Reflector<T extends KubernetesObject = KubernetesObject> {
  readonly #options: ReflectorOptions<T>;
  /** The arguments of lists and watches. */
  readonly #selection;
  readonly #backOff: BackOff;
  readonly #transform: (object: T) => T;
  #resourceVersion: string | undefined;
  #lastError: { message: string; at: number } | undefined;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    const { namespace, labelSelector, fieldSelector } = options;
    this.#selection = { namespace, labelSelector, fieldSelector, timeoutMs: requestTimeoutMs };
    this.#transform = options.transform ?? withoutManagedFields;
    this.#backOff = new BackOff({ baseMs: backOffMs.base, maximumMs: backOffMs.maximum, random: options.random });
  }

  /** Runs until the signal aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        this.#resourceVersion ??= await this.#list(signal);
        const quick = await this.#watch(this.#resourceVersion, signal);
        // A server that ends watches immediately must not be queried in a tight loop.
        if (quick) await this.#pauseAfterFailure(undefined, signal);
      } catch (error) {
        await this.#afterError(error, signal);
      }
    }
  }

  async #list(signal: AbortSignal): Promise<string> {
    const { client, resource, store, observer, clock, pageSize: limit = 100, pagePauseMs = 0 } = this.#options;
    const listed = new Set<string>();
    let token: string | undefined;
    let page: ListPage<T>;
    do {
      page = await client.list<T>(resource, { ...this.#selection, limit, continue: token, signal });
      for (const item of page.items) {
        const object = this.#transform(item);
        listed.add(objectKey(object));
        store.upsert(object);
      }
      token = page.continue;
      if (token !== undefined && pagePauseMs > 0) await pause(clock, pagePauseMs, signal);
    } while (token !== undefined);
    store.keepOnly(listed, page.resourceVersion);
    this.#succeeded();
    observer?.listed?.(resource.plural, listed.size);
    return page.resourceVersion;
  }

  /** Follows one watch to its end; returns true if it ended immediately without an event. */
  async #watch(resourceVersion: string, signal: AbortSignal): Promise<boolean> {
    const { client, resource, clock, random, observer } = this.#options;
    const ended = (reason: WatchEnd) => observer?.watchEnded?.(resource.plural, reason);
    const { shortest, longest } = watchSeconds;
    const timeoutSeconds = Math.round(shortest + random() * (longest - shortest));
    const hung = new AbortController();
    const stop = (): void => hung.abort(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    const cancel = clock.after((timeoutSeconds + graceSeconds) * 1000, () =>
      hung.abort(new HungWatch(`the watch of ${resource.plural} did not end when it was due`)),
    );
    const began = clock.monotonic();
    let events = 0;
    try {
      const stream = client.watch<T>(resource, {
        ...this.#selection,
        resourceVersion,
        timeoutSeconds,
        signal: hung.signal,
        // A resumed watch may send no event, so opening it counts as the recovery. Only an event
        // resets the back-off.
        onOpen: () => this.#recovered(),
      });
      for await (const event of stream) {
        events += 1;
        this.#take(event.type, event.object);
      }
      ended('Timeout');
      return events === 0 && clock.monotonic() - began < 1000;
    } catch (error) {
      if (!signal.aborted) ended(isExpired(error) ? 'Expired' : error instanceof HungWatch ? 'Hung' : 'Error');
      throw error;
    } finally {
      cancel();
      signal.removeEventListener('abort', stop);
    }
  }

  #take(type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK', object: T): void {
    this.#succeeded();
    if (object.metadata.resourceVersion !== undefined) this.#resourceVersion = object.metadata.resourceVersion;
    if (type === 'BOOKMARK') return;
    if (type === 'DELETED') this.#options.store.remove(this.#transform(object));
    else this.#options.store.upsert(this.#transform(object));
  }

  async #afterError(error: unknown, signal: AbortSignal): Promise<void> {
    const { clock, random, logger } = this.#options;
    const { plural } = this.#options.resource;
    if (signal.aborted) return;
    if (isExpired(error)) {
      this.#resourceVersion = undefined;
      logger.info(`the resourceVersion of the watch of ${plural} has expired; listing again`, { resource: plural });
      await pause(clock, random() * relistJitterMs, signal);
      return;
    }
    if (error instanceof HungWatch) {
      logger.warn(error.message, { resource: plural });
      return;
    }
    if (!isResumable(error)) this.#resourceVersion = undefined;
    this.#log(error);
    await this.#pauseAfterFailure(error, signal);
  }

  async #pauseAfterFailure(error: unknown, signal: AbortSignal): Promise<void> {
    const requested = error instanceof ApiError && error.retryAfter !== undefined ? error.retryAfter * 1000 : 0;
    const delay = Math.max(this.#backOff.next('watch'), Math.min(requested, backOffMs.maximum));
    await pause(this.#options.clock, delay, signal);
  }

  #log(error: unknown): void {
    const { clock, resource, logger } = this.#options;
    const { plural, group } = resource;
    const message = messageOf(error);
    const now = clock.monotonic();
    const last = this.#lastError;
    if (last?.message === message && now - last.at < repeatLogMs) return;
    this.#lastError = { message, at: now };
    const advice = isNotFound(error) && group !== '' ? '; check that its CustomResourceDefinition is installed' : '';
    logger.warn(`cannot list or watch ${plural}; retrying${advice}`, { resource: plural, error: message });
  }

  #succeeded(): void {
    if (this.#backOff.forget('watch')) this.#recovered();
  }

  #recovered(): void {
    if (this.#lastError === undefined) return;
    this.#lastError = undefined;
    this.#options.onRecovered?.();
  }
}

/** A watch that neither ended at its timeout nor sent an event. */
class HungWatch extends Error {}

/**
 * Reports whether the watch can resume because only the server or the connection failed. Any other
 * error (no permission, no such resource, a malformed response, a resourceVersion newer than a
 * restored etcd) requires a new list.
 */
function isResumable(error: unknown): boolean {
  if (!(error instanceof ApiError) || error.reason === 'Malformed') return false;
  if (error.causes.some(({ reason }) => reason === 'ResourceVersionTooLarge')) return false;
  return error.code === 0 || error.code === 429 || error.code >= 500;
}

function withoutManagedFields<T extends KubernetesObject>(object: T): T {
  delete object.metadata.managedFields;
  return object;
}
