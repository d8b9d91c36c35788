import { Worker } from 'node:worker_threads';
import type { Injector } from '../../inject/injector.ts';
import type { InjectionTarget, Surroundings } from '../admission/inject-handler.ts';
import { type Carrier, type CarrierEvent, defaultHelperBounds, Helper, type HelperFailure } from '../helper/helper.ts';
import type { LogPort, MonotonicClock } from '../ports.ts';
import type { FromThread, NumberedTarget, ReadReview, ReviewTask, ToThread, WorkerAnswer } from './review-thread.ts';
import { workerProgram, type WorkerProgram } from './worker-program.ts';

/** The limits of a worker, with sizes in bytes and times in milliseconds. */
export const defaultWorkerBounds = {
  ...defaultHelperBounds,
  /** The time after which the worker replaces a thread that has not decided its review. */
  deadline: 5_000,
  /** The timeout of reviews whose request states no timeout. */
  defaultTimeout: 10_000,
  maxWaitingBytes: 40 * 1024 * 1024,
  maxWaiting: 256,
  /** The heap of the thread, in MiB. The worker refuses a review that needs more. */
  heapMebibytes: 384,
};

export type WorkerBounds = Readonly<typeof defaultWorkerBounds>;

/** Called at the end of a review. @param seconds the time on the thread; 0 if it did not start */
type JobObserver = (outcome: 'done' | HelperFailure, seconds: number) => void;

export interface ReviewWorkerOptions {
  readonly log: LogPort;
  readonly clock: MonotonicClock;
  readonly observer?: JobObserver | undefined;
  readonly bounds?: Partial<WorkerBounds>;
  readonly program?: WorkerProgram;
}

/** A helper with a thread, for large reviews and slow templates. */
export class ReviewWorker extends Helper<ReviewTask, WorkerAnswer, ReadReview> {
  readonly log: LogPort;
  readonly bounds: WorkerBounds;
  readonly observer: JobObserver | undefined;

  constructor({ log, clock, observer, bounds: changes, program = workerProgram }: ReviewWorkerOptions) {
    const bounds = { ...defaultWorkerBounds, ...changes };
    super({
      clock,
      bounds,
      start: (report) => startThread(program, bounds.heapMebibytes, report),
      failed(how, error) {
        if (how === 'deadline') {
          log.warn('the worker timed out on a job; restarting its thread', { milliseconds: error });
          return;
        }
        const problem = error instanceof Error ? (error.stack ?? error.message) : String(error);
        log.error("the worker's thread ended unexpectedly; restarting it", { how, problem });
      },
    });
    this.log = log;
    this.bounds = bounds;
    this.observer = observer;
  }
}

/** Starts a thread. Posts omit the surroundings that the thread has. */
function startThread(
  { source, isText }: WorkerProgram,
  maxOldGenerationSizeMb: number,
  report: (event: CarrierEvent<WorkerAnswer, ReadReview>) => void,
): Carrier<ReviewTask> {
  const thread = new Worker(source, { eval: isText, name: 'worker', resourceLimits: { maxOldGenerationSizeMb } });
  let known: Surroundings = {};
  // Open connections keep the process alive while jobs wait; an idle thread must not do so.
  thread.unref();
  thread.on('message', (message: FromThread) =>
    report(message.kind === 'decoded' ? { note: message } : { answer: message }),
  );
  thread.on('error', (problem: NodeJS.ErrnoException) =>
    report({ lost: problem.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'crash', problem }),
  );
  thread.on('exit', (code) =>
    report({ lost: 'crash', problem: new Error(`the worker's thread ended with code ${code}`) }),
  );
  return {
    post({ target, rollout, surroundings, ...task }) {
      const { nodes, proxyConfigs, namespaces } = surroundings;
      const message: ToThread = {
        ...task,
        target: numbered(target),
        ...(rollout && { rollout: { ...rollout, canary: numbered(rollout.canary) } }),
        surroundings: {
          ...(nodes && nodes !== known.nodes && { nodes }),
          ...(proxyConfigs && proxyConfigs !== known.proxyConfigs && { proxyConfigs }),
          ...(namespaces && namespaces !== known.namespaces && { namespaces }),
        },
      };
      known = surroundings;
      thread.postMessage(message, [task.body.buffer]);
    },
    end: () => thread.terminate(),
  };
}

const numbers = new WeakMap<Injector, number>();
let lastNumber = 0;

/** Numbers loaded configurations, because name and hash may be equal for different objects. */
function numbered({ injector, ...target }: InjectionTarget): NumberedTarget {
  const number = numbers.get(injector) ?? ++lastNumber;
  numbers.set(injector, number);
  return { ...target, number, files: injector.files };
}
