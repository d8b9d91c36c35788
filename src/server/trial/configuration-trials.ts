import { createHash } from 'node:crypto';
import { deserialize } from 'node:v8';
import type { ConfigurationFiles } from '../../api/injector-config/configuration-files.ts';
import { ConfigurationError, tooCostly, TooCostlyError } from '../../api/errors.ts';
import type { ReadConfiguration } from '../../inject/configuration/read-configuration.ts';
import { workerProgram, type WorkerProgram } from '../worker/worker-program.ts';
import type { LogPort, MonotonicClock } from '../ports.ts';
import { defaultTrialLimits, type TrialLimits, TrialProcess } from './trial-process.ts';
import type { FromTrial, ToTrial } from './try-configuration.ts';

/** `put off`: the trial runs again later. `not tried`: the machine prevented the trial. */
export type TrialOutcome = 'fine' | 'mistake' | 'costly' | 'put off' | 'not tried';

export interface ConfigurationTrialsOptions {
  readonly log: LogPort;
  readonly clock: MonotonicClock;
  /** Called at the end of each trial with its duration. */
  readonly observer?: (outcome: TrialOutcome, seconds: number) => void;
  readonly limits?: Partial<TrialLimits>;
  readonly program?: WorkerProgram;
}

interface Trial extends Pick<ToTrial, 'files' | 'pods'> {
  readonly resolve: (configuration: ReadConfiguration) => void;
  readonly reject: (error: Error) => void;
  /** Whether the trial was put off once, or has a low priority. */
  isLong: boolean;
}

interface RunningTrial extends Trial {
  readonly started: number;
  /** The CPU time of the process before this trial, in milliseconds. */
  processorTime: number;
  timer: NodeJS.Timeout | undefined;
}

/** The maximum number of cached refusals. Applying a refused object again costs no trial. */
const maxRefused = 64;

/**
 * Tries configurations in another process before this process loads them. The other process
 * parses, compiles and renders one configuration at a time. It starts on demand, and ends on
 * timeout or when it is idle. A crash of the other process does no harm.
 */
export class ConfigurationTrials {
  readonly #options: ConfigurationTrialsOptions;
  readonly #limits: TrialLimits;
  readonly #waiting: Trial[] = [];
  /** The unfinished trials and the refusals, by the configuration's digest. */
  readonly #known = new Map<string, Promise<ReadConfiguration>>();
  #process: TrialProcess | undefined;
  #isReady = false;
  #running: RunningTrial | undefined;
  #ending: Promise<void> | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: ConfigurationTrialsOptions) {
    this.#options = options;
    this.#limits = { ...defaultTrialLimits, ...options.limits };
  }

  /**
   * Returns the parsed configuration once it has passed a trial.
   * @param pods pods of the cluster to render instead of typical pods; such trials run last
   * @throws ConfigurationError; TooCostlyError beyond a limit; another Error if no trial was
   * possible
   */
  try(files: ConfigurationFiles, pods?: ToTrial['pods']): Promise<ReadConfiguration> {
    if (this.#isClosed) return Promise.reject(notTried('this process stops'));
    const key = createHash('sha256')
      .update(JSON.stringify([files, pods]))
      .digest('base64');
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const trial = new Promise<ReadConfiguration>((resolve, reject) => {
      this.#waiting.push({ files, pods, resolve, reject, isLong: pods !== undefined });
    });
    this.#known.set(key, trial);
    const forget = (): boolean => this.#known.delete(key);
    trial.then(forget, (error: unknown) => error instanceof ConfigurationError || forget());
    const [oldest = key] = this.#known.keys();
    if (this.#known.size > maxRefused) this.#known.delete(oldest);
    this.#next();
    return trial;
  }

  /** Ends the process. Running and waiting trials fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idleTimer);
    const waiting = this.#waiting.splice(0);
    if (this.#running !== undefined) waiting.push(this.#finish('not tried', this.#running));
    for (const { reject } of waiting) reject(notTried('this process stops'));
    this.#endProcess();
    await this.#ending;
  }

  #next(): void {
    if (this.#running !== undefined || this.#ending !== undefined) return;
    const { clock, program = workerProgram } = this.#options;
    clearTimeout(this.#idleTimer);
    const index = this.#waiting.findIndex(({ isLong }) => !isLong);
    const [trial] = this.#waiting.splice(Math.max(index, 0), 1);
    if (trial === undefined) {
      if (this.#process === undefined) return;
      this.#idleTimer = setTimeout(() => this.#endProcess(), this.#limits.idle).unref();
      return;
    }
    const running: RunningTrial = { ...trial, started: clock(), processorTime: 0, timer: undefined };
    this.#running = running;
    if (this.#isReady) this.#send(running);
    else {
      this.#watch(running, this.#limits.patience);
      const [receive, lose] = [this.#receive.bind(this), this.#lose.bind(this)];
      this.#process ??= new TrialProcess(program, this.#limits, clock, receive, lose);
    }
  }

  #send(running: RunningTrial): void {
    if (this.#process === undefined) return;
    running.processorTime = this.#process.processorTime();
    this.#watch(running, this.#allowed(running));
    const { files, pods } = running;
    this.#process.send({ files, pods, maxAnswerBytes: this.#limits.maxAnswerBytes });
  }

  #allowed({ isLong }: Trial): number {
    return this.#limits.processorTimes[isLong ? 1 : 0];
  }

  #watch(running: RunningTrial, milliseconds: number): void {
    clearTimeout(running.timer);
    running.timer = setTimeout(this.#checkTime.bind(this, running), milliseconds);
  }

  /** Measures CPU time, because elapsed time also depends on other processes. */
  #checkTime(running: RunningTrial): void {
    if (this.#process === undefined) return;
    const used = this.#process.processorTime() - running.processorTime;
    const left = this.#allowed(running) - used;
    const isPatient = this.#options.clock() - running.started < this.#limits.patience;
    if (left > 0 && isPatient && this.#isReady) {
      this.#watch(running, Math.max(left, 50));
      return;
    }
    this.#endProcess();
    if (left > 0) {
      this.#finish('not tried', running).reject(notTried('the trial process gets no CPU time'));
    } else if (running.isLong) this.#refuse(running, `takes longer than the limit of ${this.#allowed(running)} ms`);
    else this.#waiting.push({ ...this.#finish('put off', running), isLong: true });
    this.#next();
  }

  #receive(message: FromTrial): void {
    const running = this.#running;
    if (message.kind === 'ready') {
      this.#isReady = true;
      if (running !== undefined) this.#send(running);
      return;
    }
    if (running === undefined) return;
    if (message.kind === 'fine') {
      this.#finish('fine', running).resolve(deserialize(message.configuration) as ReadConfiguration);
    } else if (message.isCostly) this.#finish('costly', running).reject(new TooCostlyError(message.message));
    else this.#finish('mistake', running).reject(new ConfigurationError(message.field, message.message));
    this.#next();
  }

  #lose(isMemory: boolean, problem: string): void {
    const running = this.#running;
    const hadStarted = this.#isReady;
    this.#process = undefined;
    this.#isReady = false;
    this.#options.log.warn('the trial process of configurations ended unexpectedly', { problem });
    if (running === undefined) return;
    if (!hadStarted) {
      this.#finish('not tried', running).reject(notTried('the trial process does not start'));
    } else if (isMemory) this.#refuse(running, `takes more than the limit of ${this.#limits.heapMebibytes} MiB`);
    else this.#refuse(running, 'crashes the trial process: it cannot be', '');
    this.#next();
  }

  #refuse(running: RunningTrial, problem: string, what = ' to'): void {
    const error = new TooCostlyError(tooCostly(`${problem}${what} parse, compile and render for typical pods`));
    this.#finish('costly', running).reject(error);
  }

  #finish(outcome: TrialOutcome, running: RunningTrial): Trial {
    clearTimeout(running.timer);
    this.#running = undefined;
    const { observer, clock } = this.#options;
    observer?.(outcome, (clock() - running.started) / 1000);
    return running;
  }

  #endProcess(): void {
    const process = this.#process;
    if (process === undefined) return;
    this.#process = undefined;
    this.#isReady = false;
    // Wait, because two processes at once would need twice the memory.
    this.#ending = process.end().then(() => {
      this.#ending = undefined;
      this.#next();
    });
  }
}

function notTried(why: string): Error {
  return new Error(`the configuration could not be tried: ${why}`);
}
