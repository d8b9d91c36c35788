import { Worker } from 'node:worker_threads';
import type { Injector } from '../../inject/injector.ts';
import { FairShares, takeFromLargest } from '../../rollout/fair-shares.ts';
import type { InjectionTarget, Surroundings } from '../admission/inject-handler.ts';
import type { LogPort, MonotonicClock } from '../ports.ts';
import type { FromThread, NumberedTarget, ReadReview, ReviewTask, ToThread, WorkerAnswer } from './messages.ts';
import { workerProgram, type WorkerProgram } from './worker-program.ts';

/** The limits of a worker, with sizes in bytes and times in milliseconds. */
export const defaultWorkerBounds = {
  /** The time after which the worker replaces a thread that has not decided its review. */
  deadline: 5_000,
  /** The timeout of reviews whose request states no timeout. */
  defaultTimeout: 10_000,
  /** The total size of waiting reviews. Beyond it, the worker refuses reviews. */
  maxWaitingBytes: 40 * 1024 * 1024,
  maxWaiting: 256,
  /** The time after which the worker ends an idle thread. */
  idle: 15_000,
  /** The heap of the thread, in MiB. The worker refuses a review that needs more. */
  heapMebibytes: 384,
};

export type WorkerBounds = Readonly<typeof defaultWorkerBounds>;

/** Why a job has no answer: full queue, late start, timeout, out of memory, or crash. */
export type WorkerFailure = 'full' | 'late' | 'deadline' | 'memory' | 'crash';

export interface WorkerJob {
  readonly bytes: number;
  /** The namespace of the pod; '' if it is unknown. */
  readonly namespace: string;
  /** The latest useful start, in milliseconds on the worker's clock. */
  readonly startBy: number;
  /** The time allowed on the thread, in milliseconds. */
  readonly allowed: number;
  /** Called once, when the job starts. */
  task(): ReviewTask;
  /** Called with the decoded review, before the thread decides it. */
  read(review: ReadReview): void;
  /** Called once. */
  ended(outcome: WorkerAnswer | WorkerFailure): void;
}

/** Called at the end of a job. @param seconds the time on the thread; 0 if the job did not start */
export type JobObserver = (outcome: 'done' | WorkerFailure, seconds: number) => void;

export interface ReviewWorkerOptions {
  readonly log: LogPort;
  readonly clock: MonotonicClock;
  readonly observer?: JobObserver;
  readonly bounds?: Partial<WorkerBounds>;
  readonly program?: WorkerProgram;
}

/**
 * A thread for work that would delay requests on the main thread: large reviews and slow templates.
 * The worker starts the thread on demand, runs one job at a time, and ends the thread on timeout or
 * when it is idle.
 */
export class ReviewWorker {
  readonly bounds: WorkerBounds;
  readonly log: LogPort;
  readonly clock: MonotonicClock;
  readonly #observer: JobObserver | undefined;
  readonly #program: WorkerProgram;
  /** The waiting jobs, smallest first; jobs of equal size are in order of arrival. */
  readonly #waiting: WorkerJob[] = [];
  #waitingBytes = 0;
  /** Shares the time of the thread among namespaces, in milliseconds. */
  readonly #shares = new FairShares();
  #thread: Worker | undefined;
  /** The surroundings that the thread has. */
  #surroundings: Surroundings = {};
  #running: { readonly job: WorkerJob; readonly started: number; readonly timer: NodeJS.Timeout } | undefined;
  /** Set while a thread terminates. */
  #ending: Promise<void> | undefined;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor({ log, clock, observer, bounds, program = workerProgram }: ReviewWorkerOptions) {
    this.bounds = { ...defaultWorkerBounds, ...bounds };
    this.log = log;
    this.clock = clock;
    this.#observer = observer;
    this.#program = program;
  }

  /** Whether the thread runs. */
  get isAwake(): boolean {
    return this.#thread !== undefined;
  }

  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /**
   * Queues a job. The namespace that used the least time is next, with its smallest job. If the
   * queue is full, refuses the largest job of the namespace that fills most of it.
   */
  submit(job: WorkerJob): void {
    const index = this.#waiting.findIndex((other) => other.bytes > job.bytes);
    this.#waiting.splice(index === -1 ? this.#waiting.length : index, 0, job);
    this.#waitingBytes += job.bytes;
    const { maxWaiting, maxWaitingBytes } = this.bounds;
    while (this.#waiting.length > maxWaiting || this.#waitingBytes > maxWaitingBytes) {
      const isTooMany = this.#waiting.length > maxWaiting;
      const largest = takeFromLargest(this.#waiting, ({ bytes }) => (isTooMany ? 1 : bytes));
      this.#waitingBytes -= largest?.bytes ?? 0;
      if (largest !== undefined) this.#report(largest, 'full', 0);
    }
    this.#next();
  }

  /** Ends the thread. Running and waiting jobs fail. */
  async close(): Promise<void> {
    for (const job of this.#takeWaiting(0, Infinity)) this.#report(job, 'crash', 0);
    this.#finish('crash');
    clearTimeout(this.#idleTimer);
    this.#endThread();
    await this.#ending;
  }

  #takeWaiting(start: number, count: number): WorkerJob[] {
    const jobs = this.#waiting.splice(start, count);
    for (const job of jobs) this.#waitingBytes -= job.bytes;
    return jobs;
  }

  #takeNext(): WorkerJob | undefined {
    const starts = this.#waiting.map(({ namespace }) => this.#shares.startOf(namespace));
    return this.#takeWaiting(starts.indexOf(Math.min(...starts)), 1)[0];
  }

  #next(): void {
    if (this.#running !== undefined || this.#ending !== undefined) return;
    clearTimeout(this.#idleTimer);
    for (let job = this.#takeNext(); job !== undefined; job = this.#takeNext()) {
      if (this.clock() <= job.startBy) {
        this.#start(job);
        return;
      }
      this.#report(job, 'late', 0);
    }
    if (this.#thread === undefined) return;
    this.#idleTimer = setTimeout(() => this.#endThread(), this.bounds.idle).unref();
  }

  #start(job: WorkerJob): void {
    const timer = setTimeout(() => {
      this.log.warn('the worker timed out on a job; restarting its thread', { milliseconds: job.allowed });
      this.#endThread();
      this.#finish('deadline');
    }, job.allowed);
    this.#running = { job, started: this.clock(), timer };
    try {
      this.#thread ??= this.#startThread();
      const { body, maxDepth, target, rollout, surroundings } = job.task();
      const { nodes, proxyConfigs } = surroundings;
      const message: ToThread = {
        body,
        maxDepth,
        target: numbered(target),
        ...(rollout && { rollout: { ...rollout, canary: numbered(rollout.canary) } }),
        surroundings: {
          ...(nodes && nodes !== this.#surroundings.nodes && { nodes }),
          ...(proxyConfigs && proxyConfigs !== this.#surroundings.proxyConfigs && { proxyConfigs }),
        },
      };
      this.#surroundings = surroundings;
      this.#thread.postMessage(message, [body.buffer]);
    } catch (error) {
      this.#lose('crash', error);
    }
  }

  #startThread(): Worker {
    const { source, isText } = this.#program;
    const resourceLimits = { maxOldGenerationSizeMb: this.bounds.heapMebibytes };
    const thread = new Worker(source, { eval: isText, name: 'worker', resourceLimits });
    this.#surroundings = {};
    // Open connections keep the process alive while jobs wait; an idle thread must not do so.
    thread.unref();
    const lose = (how: 'memory' | 'crash', error: Error): void => {
      if (this.#thread === thread) this.#lose(how, error);
    };
    thread.on('message', (message: FromThread) => {
      if (this.#thread !== thread) return;
      if (message.kind === 'decoded') this.#running?.job.read(message);
      else this.#finish(message);
    });
    thread.on('error', (error: NodeJS.ErrnoException) =>
      lose(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'crash', error),
    );
    thread.on('exit', (code) => lose('crash', new Error(`the worker's thread ended with code ${code}`)));
    return thread;
  }

  #lose(how: 'memory' | 'crash', error: unknown): void {
    const problem = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.log.error("the worker's thread ended unexpectedly; restarting it", { how, problem });
    this.#endThread();
    this.#finish(how);
  }

  #endThread(): void {
    if (this.#thread === undefined) return;
    // Wait, because two threads at once would need twice the memory.
    this.#ending = this.#thread.terminate().then(() => {
      this.#ending = undefined;
      this.#next();
    });
    this.#thread = undefined;
  }

  #finish(outcome: WorkerAnswer | WorkerFailure): void {
    if (this.#running === undefined) return;
    const { job, started, timer } = this.#running;
    clearTimeout(timer);
    this.#running = undefined;
    const took = this.clock() - started;
    this.#shares.serve(job.namespace, took);
    this.#report(job, outcome, took / 1000);
    this.#next();
  }

  #report(job: WorkerJob, outcome: WorkerAnswer | WorkerFailure, seconds: number): void {
    this.#observer?.(typeof outcome === 'string' ? outcome : 'done', seconds);
    job.ended(outcome);
  }
}

const numbers = new WeakMap<Injector, number>();
let lastNumber = 0;

/** Numbers loaded configurations, because name and hash may be equal for different objects. */
function numbered({ injector, ...target }: InjectionTarget): NumberedTarget {
  const number = numbers.get(injector) ?? ++lastNumber;
  numbers.set(injector, number);
  return { ...target, number, files: injector.files };
}
