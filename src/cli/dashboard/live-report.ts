import type { LiveAnswer } from '../../api/dashboard-reports.ts';
import { printable } from '../../api/printable-text.ts';
import { messageOf } from '../files.ts';

/** The settings of a live report, in milliseconds. */
export interface LiveReportOptions {
  /** Computes the report. */
  readonly compute: () => Promise<unknown>;
  /** A number that changes if the report may have changed. */
  readonly changes: () => number;
  /** The shortest time between two computations. */
  readonly interval: number;
  /** The time after which a report is computed again without a change. */
  readonly maximumAge: number;
}

/** How long a request waits for a change, in milliseconds. */
const patience = 20_000;
/** How often a waiting request looks for changes, in milliseconds. */
const lookInterval = 200;
/** The computations use at most one in `restFactor` CPU seconds of a core. */
const restFactor = 4;

/** A report that is computed while a page waits for it, and not more often than it may be. */
export class LiveReport {
  readonly #options: LiveReportOptions;
  #computing: Promise<void> | undefined;
  #content = '';
  #version = 0;
  #changes = -1;
  #computedAt = -Infinity;
  /** Until when the report is not computed again. */
  #restsUntil = -Infinity;
  #succeeded: { readonly report: unknown; readonly at: string } | undefined;

  constructor(options: LiveReportOptions) {
    this.#options = options;
  }

  /**
   * Returns the answer as JSON as soon as its version is not `version`, or after 20 s.
   * @param signal ends the wait
   */
  async after(version: number, signal: AbortSignal): Promise<string> {
    const end = performance.now() + patience;
    for (;;) {
      if (this.#isOutdated()) this.#computing ??= this.#compute().finally(() => (this.#computing = undefined));
      await this.#computing;
      if (this.#version !== version || signal.aborted || performance.now() >= end) return this.#text();
      await new Promise((resolve) => setTimeout(resolve, lookInterval));
    }
  }

  #isOutdated(): boolean {
    const now = performance.now();
    const { changes, maximumAge } = this.#options;
    return now >= this.#restsUntil && (changes() !== this.#changes || now - this.#computedAt >= maximumAge);
  }

  async #compute(): Promise<void> {
    const before = process.cpuUsage();
    // A change during the computation counts for the next one.
    this.#changes = this.#options.changes();
    let failure: string | undefined;
    try {
      this.#succeeded = { report: await this.#options.compute(), at: new Date().toISOString() };
    } catch (error) {
      failure = messageOf(error);
    }
    this.#computedAt = performance.now();
    const { user, system } = process.cpuUsage(before);
    const rest = ((restFactor - 1) * (user + system)) / 1000;
    this.#restsUntil = this.#computedAt + Math.max(this.#options.interval, rest);
    // The time of the last success matters only if the report is old.
    const { report, at } = this.#succeeded ?? {};
    const content = reportJson({ report, ...(failure !== undefined && { failure, ...(at && { at }) }) });
    if (content === this.#content) return;
    this.#content = content;
    this.#version += 1;
  }

  #text(): string {
    const head: Pick<LiveAnswer<unknown>, 'version'> = { version: this.#version };
    return `${JSON.stringify(head).slice(0, -1)},${this.#content.slice(1)}`;
  }
}

/** Returns data as JSON for a page, with unprintable characters as commands show them. */
export function reportJson(data: unknown): string {
  return JSON.stringify(data, (_key, value: unknown) => (typeof value === 'string' ? printable(value, '\n') : value));
}
