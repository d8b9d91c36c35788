import type { MonotonicClock, LogPort } from '../ports.ts';
import type { LaneFailure, LaneJob } from './lane-job.ts';
import { defaultLaneLimits, type LaneLimits } from './lane-limits.ts';
import type { FromLane } from './lane-messages.ts';
import { laneProgram, type LaneProgram } from './lane-program.ts';
import { LaneQueue } from './lane-queue.ts';
import { type LaneLoss, LaneThreadHandle } from './lane-thread-handle.ts';

/** Told of what the lane does. */
export interface LaneObserver {
  /** A job has come to its end. `seconds` are from its start on the thread; 0 for one that never started. */
  ended?(outcome: 'done' | LaneFailure, seconds: number): void;
}

export interface HeavyLaneOptions {
  readonly log: LogPort;
  readonly clock: MonotonicClock;
  readonly observer?: LaneObserver;
  readonly limits?: Partial<LaneLimits>;
  readonly program?: LaneProgram;
}

/**
 * One more thread, for what would hold up the requests of the main one: large reviews, and templates that take long. It is started when there is something to do,
 * does one thing after the other, and is ended when it takes too long over one or has had nothing to do for a while.
 */
export class HeavyLane {
  readonly limits: LaneLimits;
  readonly #options: HeavyLaneOptions;
  readonly #queue: LaneQueue<LaneJob>;
  #thread: LaneThreadHandle | undefined;
  #running: { readonly job: LaneJob; readonly started: number; readonly timer: NodeJS.Timeout } | undefined;
  /** While a thread is being ended. */
  #ending: Promise<void> | undefined;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(options: HeavyLaneOptions) {
    this.#options = options;
    this.limits = { ...defaultLaneLimits, ...options.limits };
    this.#queue = new LaneQueue(this.limits);
  }

  /** Whether there is a thread now. */
  get isAwake(): boolean {
    return this.#thread !== undefined;
  }

  /** Of the reviews that wait. */
  get waitingBytes(): number {
    return this.#queue.bytes;
  }

  get clock(): MonotonicClock {
    return this.#options.clock;
  }

  get log(): LogPort {
    return this.#options.log;
  }

  /** Takes a job on, and tells it when it starts, or that it never will. */
  submit(job: LaneJob): void {
    for (const refused of this.#queue.add(job)) this.#fail(refused, 'full', 0);
    this.#next();
  }

  /** Ends the thread; what it was doing fails, and so does what waits. */
  async close(): Promise<void> {
    clearTimeout(this.#idleTimer);
    for (let job = this.#queue.next(); job !== undefined; job = this.#queue.next()) this.#fail(job, 'crash', 0);
    this.#finish('crash');
    this.#endThread();
    await this.#ending;
  }

  #next(): void {
    if (this.#running !== undefined || this.#ending !== undefined) return;
    const { clock } = this.#options;
    for (let job = this.#queue.next(); job !== undefined; job = this.#queue.next()) {
      const started = clock();
      if (started <= job.startBy) {
        this.#start(job, started);
        return;
      }
      this.#fail(job, 'late', 0);
    }
    if (this.#thread === undefined) return;
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => {
      this.#endThread();
    }, this.limits.idle).unref();
  }

  #start(job: LaneJob, started: number): void {
    clearTimeout(this.#idleTimer);
    const timer = setTimeout(() => {
      this.#options.log.warn('the lane took too long over something and is started anew', {
        milliseconds: job.allowed,
      });
      this.#endThread();
      this.#finish('deadline');
    }, job.allowed);
    this.#running = { job, started, timer };
    try {
      this.#thread ??= this.#startThread();
      job.start(this.#thread);
    } catch (error) {
      this.#logLoss('crash', error);
      this.#endThread();
      this.#finish('crash');
    }
  }

  #startThread(): LaneThreadHandle {
    const { program = laneProgram } = this.#options;
    return new LaneThreadHandle(
      program,
      this.limits,
      (message) => {
        this.#receive(message);
      },
      (how, error) => {
        this.#lose(how, error);
      },
    );
  }

  #receive(message: FromLane): void {
    if (this.#thread === undefined) return;
    if (this.#running?.job.receive(message, this.#thread) === true) this.#finish('done');
  }

  #lose(how: LaneLoss, error: unknown): void {
    this.#logLoss(how, error);
    this.#thread = undefined;
    this.#finish(how);
  }

  #logLoss(how: LaneLoss, error: unknown): void {
    const problem = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#options.log.error("the lane's thread ended and is started anew", { how, problem });
  }

  #endThread(): void {
    const thread = this.#thread;
    if (thread === undefined) return;
    this.#thread = undefined;
    // Two threads at once would need twice the memory.
    this.#ending = thread.end().then(() => {
      this.#ending = undefined;
      this.#next();
    });
  }

  /** What is running has come to its end. */
  #finish(outcome: 'done' | LaneFailure): void {
    const running = this.#running;
    if (running === undefined) return;
    const { job, started, timer } = running;
    clearTimeout(timer);
    this.#running = undefined;
    const seconds = (this.#options.clock() - started) / 1000;
    if (outcome === 'done') this.#options.observer?.ended?.('done', seconds);
    else this.#fail(job, outcome, seconds);
    this.#next();
  }

  #fail(job: LaneJob, why: LaneFailure, seconds: number): void {
    this.#options.observer?.ended?.(why, seconds);
    job.fail(why);
  }
}
