import { isDeepStrictEqual } from 'node:util';
import type { UsageStatus } from '../../api/injector-config/usage-status.ts';
import type { Clock } from '../../kube/ports.ts';

export interface UsageSnapshotsOptions {
  readonly clock: Clock;
  /** What would stand in the status of a subject now; undefined while that cannot be said. */
  readonly look: (subject: string) => UsageStatus | undefined;
  /** There is a new snapshot of a subject: its status is to be written. */
  readonly news: (subject: string) => void;
}

/** A status is written for its usage at most this often. Milliseconds. */
const intervalMs = 30_000;
/** What comes together is written together. Milliseconds. */
const settleMs = 250;

/**
 * What the statuses say of usage: each a snapshot that stays the same for 30 s, whoever writes the status meanwhile and however many pods come; the
 * first change after a quiet time shows at once.
 */
export class UsageSnapshots {
  readonly #options: UsageSnapshotsOptions;
  readonly #taken = new Map<string, { readonly status: UsageStatus; readonly at: number }>();
  readonly #due = new Map<string, () => void>();

  constructor(options: UsageSnapshotsOptions) {
    this.#options = options;
  }

  /** The latest snapshot of a subject. */
  of(subject: string): UsageStatus | undefined {
    return this.#taken.get(subject)?.status;
  }

  /** A subject may be different now. */
  changed(subject: string): void {
    if (this.#due.has(subject)) return;
    const { clock } = this.#options;
    const last = this.#taken.get(subject)?.at ?? -Infinity;
    const wait = Math.max(settleMs, last + intervalMs - clock.monotonic());
    const cancel = clock.after(wait, () => {
      this.#due.delete(subject);
      this.#take(subject);
    });
    this.#due.set(subject, cancel);
  }

  /** The subject is gone. */
  forget(subject: string): void {
    this.#due.get(subject)?.();
    this.#due.delete(subject);
    this.#taken.delete(subject);
  }

  /** Forgets all of them and waits for nothing more. */
  clear(): void {
    for (const cancel of this.#due.values()) cancel();
    this.#due.clear();
    this.#taken.clear();
  }

  #take(subject: string): void {
    const status = this.#options.look(subject);
    if (status === undefined || isDeepStrictEqual(status, this.of(subject))) return;
    this.#taken.set(subject, { status, at: this.#options.clock.monotonic() });
    this.#options.news(subject);
  }
}
