import { createHash } from 'node:crypto';
import { deserialize } from 'node:v8';
import type { ConfigurationFiles } from '../../api/injector-config/configuration-files.ts';
import { ConfigurationError, tooCostly, TooCostlyError } from '../../api/errors.ts';
import type { ReadConfiguration } from '../../inject/configuration/read-configuration.ts';
import { Helper, type HelperFailure } from '../helper/helper.ts';
import type { LogPort, MonotonicClock } from '../ports.ts';
import { workerProgram, type WorkerProgram } from '../worker/worker-program.ts';
import { defaultTrialLimits, startTrialProcess, type TrialLimits } from './trial-process.ts';
import type { ToTrial, TrialAnswer } from './try-configuration.ts';

/** `put off`: the trial runs again later. `not tried`: the machine prevented the trial. */
export type TrialOutcome = 'fine' | 'mistake' | 'costly' | 'put off' | 'not tried';

export interface ConfigurationTrialsOptions {
  readonly log: LogPort;
  readonly clock: MonotonicClock;
  /** Called at the end of each trial with its duration. */
  readonly observer?: (outcome: TrialOutcome, seconds: number) => void;
  readonly limits?: Partial<TrialLimits>;
  /** Whether a leader has tried the configurations before. Default: false. */
  readonly isBrief?: boolean;
  readonly program?: WorkerProgram;
}

/** The maximum number of cached refusals. Applying a refused object again costs no trial. */
const maxRefused = 64;

/**
 * Tries configurations in another process before this process loads them. The other process
 * parses, compiles and renders one configuration at a time. It starts on demand, and ends on
 * timeout or when it is idle. A crash of the other process does no harm.
 */
export class ConfigurationTrials {
  readonly #observer: ConfigurationTrialsOptions['observer'];
  readonly #limits: TrialLimits;
  readonly #isBrief: boolean;
  readonly #helper: Helper<ToTrial, TrialAnswer>;
  /** The unfinished trials and the refusals, by the configuration's digest. */
  readonly #known = new Map<string, Promise<ReadConfiguration>>();

  constructor(options: ConfigurationTrialsOptions) {
    const { log, clock, observer, isBrief = false, program = workerProgram } = options;
    const limits = { ...defaultTrialLimits, ...options.limits };
    this.#observer = observer;
    this.#limits = limits;
    this.#isBrief = isBrief;
    this.#helper = new Helper({
      clock,
      bounds: limits,
      start: (report) => startTrialProcess(program, limits, report),
      failed(failure, problem) {
        if (failure === 'deadline' || failure === 'starved') return;
        log.warn('the trial process of configurations ended unexpectedly', { problem });
      },
    });
  }

  /**
   * Returns the parsed configuration once it has passed a trial.
   * @param pods pods of the cluster to render and return instead of typical pods; such trials run
   * last
   * @throws ConfigurationError; TooCostlyError beyond a limit; another Error if no trial was
   * possible
   */
  try(files: ConfigurationFiles, pods?: ToTrial['pods']): Promise<ReadConfiguration> {
    const key = createHash('sha256')
      .update(JSON.stringify([files, pods]))
      .digest('base64');
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const task = { files, pods, isBrief: this.#isBrief, maxAnswerBytes: this.#limits.maxAnswerBytes };
    const trial = new Promise<ReadConfiguration>((resolve, reject) => {
      this.#submit(task, pods !== undefined, resolve, reject);
    });
    this.#known.set(key, trial);
    const forget = (): boolean => this.#known.delete(key);
    trial.then(forget, (error: unknown) => error instanceof ConfigurationError || forget());
    const [oldest = key] = this.#known.keys();
    if (this.#known.size > maxRefused) this.#known.delete(oldest);
    return trial;
  }

  /** Ends the process. Running, waiting and later trials fail. */
  close(): Promise<void> {
    return this.#helper.close();
  }

  /** @param isLong whether the trial was put off once, or has a low priority */
  #submit(
    task: ToTrial,
    isLong: boolean,
    resolve: (configuration: ReadConfiguration) => void,
    reject: (error: Error) => void,
  ): void {
    const allowed = this.#limits.processorTimes[isLong ? 1 : 0];
    this.#helper.submit({
      bytes: isLong ? 1 : 0,
      namespace: '',
      startBy: Infinity,
      allowed,
      task: () => task,
      ended: (answer, seconds) => {
        const isPutOff = answer === 'deadline' && !isLong;
        const [outcome, result] = this.#verdict(answer, allowed);
        if (seconds > 0) this.#observer?.(isPutOff ? 'put off' : outcome, seconds);
        if (isPutOff) this.#submit(task, true, resolve, reject);
        else if (result instanceof Error) reject(result);
        else resolve(result);
      },
    });
  }

  #verdict(answer: TrialAnswer | HelperFailure, allowed: number): [TrialOutcome, ReadConfiguration | Error] {
    const excess = (what: string): [TrialOutcome, Error] => [
      'costly',
      new TooCostlyError(tooCostly(`${what} parse, compile and render for typical pods`)),
    ];
    if (answer === 'deadline') return excess(`takes longer than the limit of ${allowed} ms to`);
    if (answer === 'memory') return excess(`takes more than the limit of ${this.#limits.heapMebibytes} MiB to`);
    if (answer === 'crash') return excess('crashes the trial process: it cannot be');
    if (typeof answer === 'string')
      return ['not tried', new Error(`the configuration could not be tried: ${hindrances[answer] ?? answer}`)];
    if (answer.kind === 'fine') return ['fine', deserialize(answer.configuration) as ReadConfiguration];
    const { isCostly, field, message } = answer;
    return isCostly ? ['costly', new TooCostlyError(message)] : ['mistake', new ConfigurationError(field, message)];
  }
}

/** Why no trial was possible. */
const hindrances: Partial<Record<HelperFailure, string>> = {
  unstarted: 'the trial process does not start',
  starved: 'the trial process gets no CPU time',
  closed: 'this process stops',
};
