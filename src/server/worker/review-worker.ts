import { Worker } from 'node:worker_threads';
import type { Injector } from '../../inject/injector.ts';
import type { InjectionTarget, Surroundings } from '../admission/inject-handler.ts';
import type { LogPort, MonotonicClock } from '../ports.ts';
import type { FromThread, NumberedTarget, ReadReview, ReviewTask, ToThread, WorkerAnswer } from './messages.ts';
import { workerProgram, type WorkerProgram } from './worker-program.ts';

/** Bounds of a worker. Sizes in bytes, times in milliseconds. */
export const defaultWorkerBounds = {
  /** What a review may take, from when it reaches the thread: then the thread is ended, and a new one takes what comes next. */
  deadline: 5_000,
  /** For reviews that do not say how long they can wait. */
  defaultTimeout: 10_000,
  /** All reviews that wait, together; beyond it the largest of them is refused. */
  maxWaitingBytes: 40 * 1024 * 1024,
  maxWaiting: 256,
  /** A thread without work is ended after this time. */
  idle: 15_000,
  /** Of the thread's heap, in MiB; a review that needs more is refused. */
  heapMebibytes: 384,
};

export type WorkerBounds = Readonly<typeof defaultWorkerBounds>;

/** Why a job has no answer: no room, started too late, took too long or too much memory, or the thread broke. */
export type WorkerFailure = 'full' | 'late' | 'deadline' | 'memory' | 'crash';

/** One thing for the worker to do. */
export interface WorkerJob {
  readonly bytes: number;
  /** Milliseconds on the worker's clock: later there is no point in starting. */
  readonly startBy: number;
  /** How long it may take from its start on, in milliseconds. */
  readonly allowed: number;
  /** Is asked once, when the job starts. */
  task(): ReviewTask;
  /** Is told what the thread has read, before it decides. */
  read(review: ReadReview): void;
  /** Is told once. */
  ended(outcome: WorkerAnswer | WorkerFailure): void;
}

/** Told when a job has come to its end. `seconds` are from its start on the thread; 0 for one that never started. */
export type JobObserver = (outcome: 'done' | WorkerFailure, seconds: number) => void;

export interface ReviewWorkerOptions {
  readonly log: LogPort;
  readonly clock: MonotonicClock;
  readonly observer?: JobObserver;
  readonly bounds?: Partial<WorkerBounds>;
  readonly program?: WorkerProgram;
}

/**
 * One more thread, for what would hold up the requests of the main one: large reviews, and templates that take long. It is started when there is something to do,
 * does one thing after the other, and is ended when it takes too long over one or has had nothing to do for a while.
 */
export class ReviewWorker {
  readonly bounds: WorkerBounds;
  readonly log: LogPort;
  readonly clock: MonotonicClock;
  readonly #observer: JobObserver | undefined;
  readonly #program: WorkerProgram;
  /** The smallest first; of one size, in order of arrival. */
  readonly #waiting: WorkerJob[] = [];
  #waitingBytes = 0;
  #thread: Worker | undefined;
  /** What the thread was told last. */
  #surroundings: Surroundings = {};
  #running: { readonly job: WorkerJob; readonly started: number; readonly timer: NodeJS.Timeout } | undefined;
  /** While a thread is being ended. */
  #ending: Promise<void> | undefined;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor({ log, clock, observer, bounds, program = workerProgram }: ReviewWorkerOptions) {
    this.bounds = { ...defaultWorkerBounds, ...bounds };
    this.log = log;
    this.clock = clock;
    this.#observer = observer;
    this.#program = program;
  }

  /** Whether there is a thread now. */
  get isAwake(): boolean {
    return this.#thread !== undefined;
  }

  /** Of the reviews that wait. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** Takes a job on. Large bodies cost little to send and must not keep out the others, so the smallest is next, and the largest goes where there is no room. */
  submit(job: WorkerJob): void {
    const place = this.#waiting.findIndex((other) => other.bytes > job.bytes);
    this.#waiting.splice(place === -1 ? this.#waiting.length : place, 0, job);
    this.#waitingBytes += job.bytes;
    const { maxWaiting, maxWaitingBytes } = this.bounds;
    while (this.#waiting.length > maxWaiting || this.#waitingBytes > maxWaitingBytes) {
      const [largest] = this.#takeWaiting(-1, 1);
      if (largest !== undefined) this.#tell(largest, 'full', 0);
    }
    this.#next();
  }

  /** Ends the thread; what it was doing fails, and so does what waits. */
  async close(): Promise<void> {
    for (const job of this.#takeWaiting(0, Infinity)) this.#tell(job, 'crash', 0);
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

  #next(): void {
    if (this.#running !== undefined || this.#ending !== undefined) return;
    clearTimeout(this.#idleTimer);
    for (let [job] = this.#takeWaiting(0, 1); job !== undefined; [job] = this.#takeWaiting(0, 1)) {
      if (this.clock() <= job.startBy) {
        this.#start(job);
        return;
      }
      this.#tell(job, 'late', 0);
    }
    if (this.#thread === undefined) return;
    this.#idleTimer = setTimeout(() => this.#endThread(), this.bounds.idle).unref();
  }

  #start(job: WorkerJob): void {
    const timer = setTimeout(() => {
      this.log.warn('the worker took too long over something and is restarted', { milliseconds: job.allowed });
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
    // What waits for an answer has a connection that keeps the process alive; an idle thread must not.
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
    this.log.error("the worker's thread ended and is restarted", { how, problem });
    this.#endThread();
    this.#finish(how);
  }

  #endThread(): void {
    if (this.#thread === undefined) return;
    // Two threads at once would need twice the memory.
    this.#ending = this.#thread.terminate().then(() => {
      this.#ending = undefined;
      this.#next();
    });
    this.#thread = undefined;
  }

  /** What is running has come to its end. */
  #finish(outcome: WorkerAnswer | WorkerFailure): void {
    if (this.#running === undefined) return;
    const { job, started, timer } = this.#running;
    clearTimeout(timer);
    this.#running = undefined;
    this.#tell(job, outcome, (this.clock() - started) / 1000);
    this.#next();
  }

  #tell(job: WorkerJob, outcome: WorkerAnswer | WorkerFailure, seconds: number): void {
    this.#observer?.(typeof outcome === 'string' ? outcome : 'done', seconds);
    job.ended(outcome);
  }
}

const numbers = new WeakMap<Injector, number>();
let lastNumber = 0;

/** Another configuration is another object and gets another number, whatever its name and hash. */
function numbered({ injector, ...target }: InjectionTarget): NumberedTarget {
  const number = numbers.get(injector) ?? ++lastNumber;
  numbers.set(injector, number);
  return { ...target, number, files: injector.files };
}
