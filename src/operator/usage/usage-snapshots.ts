import { isDeepStrictEqual } from 'node:util';
import type { UsageStatus } from '../../api/injector-config/usage-status.ts';
import type { Clock } from '../../kube/ports.ts';

export interface UsageSnapshotsOptions {
  readonly clock: Clock;
  /** The divisor of the interval, for tests; default 1. */
  readonly timeScale?: number | undefined;
  /** Returns the current usage of a subject; undefined while the usage is unknown. */
  readonly compute: (subject: string) => UsageStatus | undefined;
  /** Requests a write of a subject's status, after a new snapshot. */
  readonly news: (subject: string) => void;
}

/** The minimum interval between two snapshots of a subject, in milliseconds. */
const intervalMs = 30_000;
/** How long to collect changes before a snapshot, in milliseconds. */
const batchMs = 250;

/**
 * Takes snapshots of usage for statuses. A snapshot stays the same for 30 s, regardless of other
 * status writes and the number of changes. After 30 s without a change, the next change is shown
 * immediately.
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

  /** Records that a subject may have changed. */
  changed(subject: string): void {
    if (this.#due.has(subject)) return;
    const { clock, timeScale = 1 } = this.#options;
    const last = this.#taken.get(subject)?.at ?? -Infinity;
    const wait = Math.max(batchMs, last + intervalMs / timeScale - clock.monotonic());
    const cancel = clock.after(wait, () => {
      this.#due.delete(subject);
      this.#take(subject);
    });
    this.#due.set(subject, cancel);
  }

  /** Forgets a deleted subject. */
  forget(subject: string): void {
    this.#due.get(subject)?.();
    this.#due.delete(subject);
    this.#taken.delete(subject);
  }

  /** Forgets all subjects and cancels all timers. */
  clear(): void {
    for (const cancel of this.#due.values()) cancel();
    this.#due.clear();
    this.#taken.clear();
  }

  #take(subject: string): void {
    const status = this.#options.compute(subject);
    if (status === undefined || isDeepStrictEqual(status, this.of(subject))) return;
    this.#taken.set(subject, { status, at: this.#options.clock.monotonic() });
    this.#options.news(subject);
  }
}
