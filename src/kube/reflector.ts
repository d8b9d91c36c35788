import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import type { ApiClient } from './api-client.ts';
import { ApiError, isExpired, isNotFound, messageOf } from './api-error.ts';
import { BackOff } from './back-off.ts';
import { pause } from './clock.ts';
import { objectKey, type ObjectStore } from './object-store.ts';
import type { Clock, Logger, Random, WatchEnd, WatchObserver } from './ports.ts';
import type { ListPage } from './request-options.ts';
import type { ResourceKind } from './resource-kinds.ts';

/** With what any collection is followed. */
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
  /** Objects per page (100 unless told): small enough that reading one never holds up the event loop for long. */
  pageSize?: number;
  /** Milliseconds between two pages, for a large collection that nobody waits for; the whole list must be read within the five minutes that etcd remembers it. */
  pagePauseMs?: number;
  /** What is kept of each object; the whole of it but its managedFields unless told. */
  transform?: (object: T) => T;
  /** Called after each success that follows a failure. */
  onRecovered?: () => void;
}

/**
 * A watch lives 30 to 45 s. The server sends a bookmark before it ends one, so resuming is cheap and never expires; and a stream on which
 * nothing comes any more (half-open, or held by a proxy) is noticed {@link graceSeconds} after its end was due: within a minute.
 */
const watchSeconds = { shortest: 30, longest: 45 };
const graceSeconds = 10;
/** How long an answer may take: pages are small, and a watch is answered before anything has happened. Milliseconds. */
const requestTimeoutMs = 10_000;
/** Back-off after errors, in milliseconds. */
const backOffMs = { base: 100, maximum: 2000 };
/** A relist after an expired resourceVersion waits up to this many milliseconds, since every watcher of the server relists then. */
const relistJitterMs = 1000;
/** The same error is logged again after this many milliseconds. */
const repeatLogMs = 60_000;

/**
 * Keeps a store equal to a collection of the API server: a paged list, then a watch with bookmarks that is resumed for ever. Errors are
 * logged, retried with a back-off of at most 2 s, and never end anything.
 */
export class Reflector<T extends KubernetesObject = KubernetesObject> {
  readonly #options: ReflectorOptions<T>;
  /** Of lists and watches alike. */
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
        // A server that ends watches as soon as they begin must not be asked in a tight loop.
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

  /** Follows one watch to its end; true when it ended at once without having said anything. */
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
        // A resumed watch may be quiet for long; that it was answered is the recovery. The back-off goes on until something comes.
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
      logger.info(`the watch of ${plural} is too far behind; listing again`, { resource: plural });
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
    const asked = error instanceof ApiError && error.retryAfter !== undefined ? error.retryAfter * 1000 : 0;
    const delay = Math.max(this.#backOff.next('watch'), Math.min(asked, backOffMs.maximum));
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
    const advice = isNotFound(error) && group !== '' ? '; is its CustomResourceDefinition installed?' : '';
    logger.warn(`cannot follow ${plural}; trying again${advice}`, { resource: plural, error: message });
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

/** Nothing came any more on a stream that should have ended. */
class HungWatch extends Error {}

/**
 * Whether the watch can go on where it was: the server or the way to it failed. After anything else (no right, no such resource, an answer that
 * cannot be read, a resourceVersion from the future of an etcd that was restored) the collection is listed again.
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
