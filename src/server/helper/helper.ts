import { FairShares, takeFromLargest } from '../../rollout/fair-shares.ts';
import type { MonotonicClock } from '../ports.ts';

/** The limits of a helper, with sizes in bytes and times in milliseconds. */
export const defaultHelperBounds = {
  /** The total size of waiting jobs. Beyond it, the helper refuses jobs. */
  maxWaitingBytes: Infinity,
  maxWaiting: Infinity,
  /** After a job, the helper rests for this multiple of the job's duration, up to `maxRest`. */
  rest: 0,
  maxRest: 2_000,
  /** The time after which a job that lacks CPU time ends as `starved`. */
  patience: 60_000,
  /** The time after which the helper ends an idle carrier. */
  idle: 15_000,
};

/** Why a job has no answer. `unstarted`: the carrier does not start. */
export type HelperFailure = 'full' | 'late' | 'deadline' | 'starved' | 'memory' | 'crash' | 'unstarted' | 'closed';

export interface HelperJob<Task, Answer, Note = never> {
  /** The size. The smallest job of a namespace is its next; equal jobs run in order of arrival. */
  readonly bytes: number;
  /** The namespace of the pod; '' if it is unknown. */
  readonly namespace: string;
  /** The latest useful start, in milliseconds on the helper's clock. */
  readonly startBy: number;
  /** The time allowed on the carrier, in milliseconds. */
  readonly allowed: number;
  /** Called once, when the job starts. */
  task(): Task;
  /** Called with each note before the answer. */
  read?(note: Note): void;
  /** Called once. @param seconds the time on the carrier; 0 if the job did not start */
  ended(outcome: Answer | HelperFailure, seconds: number): void;
}

/** A thread or a process that does one task at a time. */
export interface Carrier<Task> {
  post(task: Task): void;
  /** Returns the CPU time of the task, in milliseconds. If absent, the elapsed time is limited. */
  readonly processorTime?: () => number;
  /** Ends the carrier, even during a task. */
  end(): Promise<unknown>;
}

/** An event of a carrier. If it ends unexpectedly, it is `lost`. */
export type CarrierEvent<Answer, Note = never> =
  | { readonly note: Note }
  | { readonly answer: Answer }
  | { readonly lost: 'memory' | 'crash' | 'unstarted'; readonly problem: unknown };

export interface HelperOptions<Task, Answer, Note = never> {
  readonly clock: MonotonicClock;
  readonly bounds: Partial<typeof defaultHelperBounds>;
  /** Starts a carrier, which reports its events later. */
  readonly start: (report: (event: CarrierEvent<Answer, Note>) => void) => Carrier<Task>;
  /** Called when a carrier fails. @param problem the error, or the time allowed */
  readonly failed: (failure: HelperFailure, problem: unknown) => void;
}

/**
 * Does work that would delay or endanger this thread, on a carrier. The helper starts the carrier
 * on demand, runs one job at a time, and ends the carrier on timeout or when it is idle.
 */
export class Helper<Task, Answer, Note = never> {
  readonly clock: MonotonicClock;
  readonly #options: HelperOptions<Task, Answer, Note>;
  readonly #bounds: typeof defaultHelperBounds;
  /** The waiting jobs, smallest first; jobs of equal size are in order of arrival. */
  readonly #waiting: HelperJob<Task, Answer, Note>[] = [];
  /** Shares the time of the carrier among namespaces, in milliseconds. */
  readonly #shares = new FairShares();
  #carrier: Carrier<Task> | undefined;
  /** The running job, and the time of its last note. */
  #running: { readonly job: HelperJob<Task, Answer, Note>; readonly started: number; noted: number } | undefined;
  /** Set while a carrier ends. */
  #ending: Promise<void> | undefined;
  #restUntil = -Infinity;
  /** Ends the running job, a rest, or an idle carrier. */
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: HelperOptions<Task, Answer, Note>) {
    this.clock = options.clock;
    this.#options = options;
    this.#bounds = { ...defaultHelperBounds, ...options.bounds };
  }

  /** Whether the carrier runs. */
  get isAwake(): boolean {
    return this.#carrier !== undefined;
  }

  get waitingBytes(): number {
    return this.#waiting.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /**
   * Queues a job. The namespace that used the least time is next, with its smallest job. If the
   * queue is full, refuses the largest job of the namespace that fills most of it.
   */
  submit(job: HelperJob<Task, Answer, Note>): void {
    const index = this.#waiting.findIndex((other) => other.bytes > job.bytes);
    this.#waiting.splice(index === -1 ? this.#waiting.length : index, 0, job);
    const { maxWaiting, maxWaitingBytes } = this.#bounds;
    while (this.#waiting.length > maxWaiting || this.waitingBytes > maxWaitingBytes) {
      const isTooMany = this.#waiting.length > maxWaiting;
      takeFromLargest(this.#waiting, ({ bytes }) => (isTooMany ? 1 : bytes))?.ended('full', 0);
    }
    this.#next();
  }

  /** Ends the carrier. Running, waiting and later jobs fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#finish('closed');
    this.#next();
    this.#endCarrier();
    await this.#ending;
  }

  #next(): void {
    if (this.#running !== undefined || this.#ending !== undefined) return;
    clearTimeout(this.#timer);
    const rest = this.#restUntil - this.clock();
    if (rest > 0 && !this.#isClosed) {
      this.#timer = setTimeout(() => this.#next(), rest).unref();
      return;
    }
    for (let job = this.#takeNext(); job !== undefined; job = this.#takeNext()) {
      if (this.#isClosed) job.ended('closed', 0);
      else if (this.clock() > job.startBy) job.ended('late', 0);
      else {
        this.#start(job);
        return;
      }
    }
    this.#timer = setTimeout(() => this.#endCarrier(), this.#bounds.idle).unref();
  }

  #takeNext(): HelperJob<Task, Answer, Note> | undefined {
    const starts = this.#waiting.map(({ namespace }) => this.#shares.startOf(namespace));
    return this.#waiting.splice(starts.indexOf(Math.min(...starts)), 1)[0];
  }

  #start(job: HelperJob<Task, Answer, Note>): void {
    const started = this.clock();
    this.#running = { job, started, noted: started };
    this.#watch(job.allowed, started, job.allowed);
    try {
      const carrier: Carrier<Task> = (this.#carrier ??= this.#options.start((event) => {
        // Ignore late events of a carrier that has been replaced.
        if (this.#carrier === carrier) this.#receive(event);
      }));
      carrier.post(job.task());
    } catch (error) {
      this.#lose(this.#carrier === undefined ? 'unstarted' : 'crash', error);
    }
  }

  /** Checks the time after a delay. The timer also keeps this process alive. */
  #watch(allowed: number, started: number, delay: number): void {
    this.#timer = setTimeout(() => {
      const left = allowed - (this.#carrier?.processorTime?.() ?? Infinity);
      const isPatient = this.clock() - started < this.#bounds.patience;
      if (left > 0 && isPatient) this.#watch(allowed, started, Math.max(left, 50));
      else this.#lose(left > 0 ? 'starved' : 'deadline', allowed);
    }, delay);
  }

  #receive(event: CarrierEvent<Answer, Note>): void {
    if ('answer' in event) this.#finish(event.answer);
    else if ('lost' in event) this.#lose(event.lost, event.problem);
    else if (this.#running !== undefined) {
      this.#running.noted = this.clock();
      this.#running.job.read?.(event.note);
    }
  }

  #lose(failure: HelperFailure, problem: unknown): void {
    this.#options.failed(failure, problem);
    this.#endCarrier();
    this.#finish(failure);
  }

  #endCarrier(): void {
    // Wait, because two carriers at once would need twice the memory.
    this.#ending ??= this.#carrier?.end().then(() => {
      this.#ending = undefined;
      this.#next();
    });
    this.#carrier = undefined;
  }

  #finish(outcome: Answer | HelperFailure): void {
    if (this.#running === undefined) return;
    const { job, started, noted } = this.#running;
    clearTimeout(this.#timer);
    this.#running = undefined;
    const now = this.clock();
    this.#restUntil = now + Math.min(this.#bounds.maxRest, this.#bounds.rest * (now - noted));
    this.#shares.serve(job.namespace, now - started);
    job.ended(outcome, (now - started) / 1000);
    this.#next();
  }
}
