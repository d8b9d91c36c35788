import { createHash } from 'node:crypto';
import { deserialize } from 'node:v8';
import type { ConfigurationFiles } from '../../api/injector-config/configuration-files.ts';
import { ConfigurationError, tooCostly, TooCostlyError } from '../../api/errors.ts';
import type { ReadConfiguration } from '../../inject/configuration/read-configuration.ts';
import { workerProgram, type WorkerProgram } from '../worker/worker-program.ts';
import type { LogPort, MonotonicClock } from '../ports.ts';
import { defaultTrialLimits, type TrialLimits, TrialProcess } from './trial-process.ts';
import type { FromTrial, ToTrial } from './try-configuration.ts';

/** How a trial ended. `put off`: it comes again, after what else waits. `not tried`: the machine, not the configuration, is to blame. */
export type TrialOutcome = 'fine' | 'mistake' | 'costly' | 'put off' | 'not tried';

export interface ConfigurationTrialsOptions {
  readonly log: LogPort;
  readonly clock: MonotonicClock;
  /** Told of each trial; `seconds` are from its start. */
  readonly observer?: (outcome: TrialOutcome, seconds: number) => void;
  readonly limits?: Partial<TrialLimits>;
  readonly program?: WorkerProgram;
}

interface Trial extends Pick<ToTrial, 'files' | 'pods'> {
  readonly resolve: (configuration: ReadConfiguration) => void;
  readonly reject: (error: Error) => void;
  /** Whether it has been put off once, or is nothing that anybody waits for. */
  isLong: boolean;
}

interface RunningTrial extends Trial {
  readonly started: number;
  /** Of the process, before this trial. */
  processorTime: number;
  timer: NodeJS.Timeout | undefined;
}

/** Refusals that are remembered: somebody who applies an object again and again gets the same answer for nothing. */
const maxRefused = 64;

/**
 * Tries configurations in a process of its own before they are loaded here: reads, compiles and renders them, one after the other. It is started when there is one to try, ended
 * when it takes too long over one or has had nothing to do for a while, and may end in any way without harm.
 */
export class ConfigurationTrials {
  readonly #options: ConfigurationTrialsOptions;
  readonly #limits: TrialLimits;
  readonly #waiting: Trial[] = [];
  /** Trials that have not ended, and refusals, by the configuration's digest. */
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
   * Resolves with the configuration as it was read, which is fit for this process.
   * @param pods of the cluster, which are tried instead of our own, and after all else that waits
   * @throws ConfigurationError; TooCostlyError when it takes more than there is; any other Error: it could not be tried now
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

  /** Ends the process; what was under way and what waits fails. */
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
    const place = this.#waiting.findIndex(({ isLong }) => !isLong);
    const [trial] = this.#waiting.splice(Math.max(place, 0), 1);
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

  /** Time on the clock says nothing of a configuration where others use the processor, too. */
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
      this.#finish('not tried', running).reject(notTried('the process that tries configurations gets no time'));
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
    this.#options.log.warn('the process that tries configurations has ended', { problem });
    if (running === undefined) return;
    if (!hadStarted) {
      this.#finish('not tried', running).reject(notTried('the process that tries configurations does not start'));
    } else if (isMemory) this.#refuse(running, `takes more than the limit of ${this.#limits.heapMebibytes} MiB`);
    else this.#refuse(running, 'ends the process that tries configurations: it cannot be', '');
    this.#next();
  }

  #refuse(running: RunningTrial, problem: string, what = ' to'): void {
    const error = new TooCostlyError(tooCostly(`${problem}${what} read, compile and render for pods of our own`));
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
    // Two at once would need twice the memory.
    this.#ending = process.end().then(() => {
      this.#ending = undefined;
      this.#next();
    });
  }
}

function notTried(why: string): Error {
  return new Error(`the configuration could not be tried: ${why}`);
}
