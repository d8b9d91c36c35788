import type { Clock, Logger } from '../../kube/ports.ts';
import { WorkQueue } from '../../kube/work-queue.ts';

/**
 * Runs the handlers of resource events one after the other, as the library's own queue does, but keeps what a handler throws at: the event is
 * delivered again with back-off until a handler has taken it. Of several events of one object the last counts.
 */
export class EventDispatcher {
  readonly #logger: Logger;
  readonly #queue: WorkQueue;
  readonly #latest = new Map<string, () => Promise<void>>();

  constructor(clock: Clock, logger: Logger) {
    this.#logger = logger;
    this.#queue = new WorkQueue({ clock });
  }

  /** Delivers an event, under a key that names its object. */
  dispatch(key: string, deliver: () => Promise<void>): void {
    this.#latest.set(key, deliver);
    this.#queue.add(key);
  }

  stop(): void {
    this.#queue.stop();
  }

  /** Delivers until stopped. */
  async run(): Promise<void> {
    for (let key = await this.#queue.take(); key !== undefined; key = await this.#queue.take()) {
      const deliver = this.#latest.get(key);
      try {
        await deliver?.();
        this.#queue.forget(key);
        if (this.#latest.get(key) === deliver) this.#latest.delete(key);
      } catch (error) {
        this.#logger.error('an event was not handled; delivering it again', {
          key,
          error: error instanceof Error ? error.message : String(error),
        });
        this.#queue.addRateLimited(key);
      }
      this.#queue.done(key);
    }
  }
}
