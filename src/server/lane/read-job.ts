import type { ConfigurationFiles } from '../../api/configuration-files.ts';
import { ConfigurationError } from '../../api/errors.ts';
import type { ReadConfiguration } from '../../inject/configuration/read-configuration.ts';
import type { HeavyLane } from './heavy-lane.ts';
import type { LaneFailure, LaneJob } from './lane-job.ts';
import type { FromLane } from './lane-messages.ts';
import type { LaneThreadHandle } from './lane-thread-handle.ts';

/** A configuration for the lane to read and to try out. */
export class ReadJob implements LaneJob {
  readonly bytes = 0;
  readonly isUrgent = true;
  readonly startBy = Infinity;
  readonly allowed: number;
  readonly #files: ConfigurationFiles;
  readonly #resolve: (configuration: ReadConfiguration) => void;
  readonly #reject: (error: Error) => void;

  constructor(
    files: ConfigurationFiles,
    allowed: number,
    resolve: (configuration: ReadConfiguration) => void,
    reject: (error: Error) => void,
  ) {
    this.#files = files;
    this.allowed = allowed;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  start(thread: LaneThreadHandle): void {
    thread.send({ kind: 'read', files: this.#files });
  }

  receive(message: FromLane): boolean {
    if (message.kind === 'read') this.#resolve(message.configuration);
    else if (message.kind === 'refused') this.#reject(new ConfigurationError(message.field, message.message));
    else this.#reject(new Error(message.kind === 'defect' ? message.error : `unexpected answer: ${message.kind}`));
    return true;
  }

  fail(why: LaneFailure): void {
    switch (why) {
      case 'deadline':
        this.#refuse(`takes longer than the limit of ${this.allowed} ms to read and compile`);
        return;
      case 'memory':
        this.#refuse('takes more memory to read and compile than there is for it');
        return;
      default:
        this.#reject(new Error('the thread that reads configurations has ended'));
    }
  }

  #refuse(problem: string): void {
    this.#reject(new ConfigurationError('spec.injection', `the configuration ${problem}; make it smaller`));
  }
}

/** Reads a configuration in the lane; see configuration-loader.ts. */
export function readIn(lane: HeavyLane): (files: ConfigurationFiles) => Promise<ReadConfiguration> {
  return (files) =>
    new Promise((resolve, reject) => {
      lane.submit(new ReadJob(files, lane.limits.readDeadline, resolve, reject));
    });
}
