import type { ConfigurationFiles } from '../../api/configuration-files.ts';
import { KnownTemplates } from '../../inject/configuration/known-templates.ts';
import type { ReadConfiguration } from '../../inject/configuration/read-configuration.ts';
import { loadInjectorInSteps, type Injector, type InjectorOptions } from '../../inject/injector.ts';
import type { MonotonicClock } from '../ports.ts';
import { inSlices, type Slices } from './in-slices.ts';
import { mainThreadLimits } from './lane-limits.ts';
import { firstTrial, laterTrial, tryOut, type Trial } from './try-out.ts';

export interface ConfigurationLoaderOptions {
  readonly clock: MonotonicClock;
  /** Reads, compiles and renders it where it can do no harm: what fails there never gets here. */
  readonly trials: { try(files: ConfigurationFiles): Promise<ReadConfiguration> };
  readonly slices?: Slices;
  /** Collects young garbage, see in-slices.ts. */
  readonly collect?: () => void;
}

/**
 * Loads configurations in a process that lives on: each is tried in a process of its own first (see ../trial), and then loaded here, one after the other, in slices: no request waits
 * for longer than a slice of the work.
 */
export class ConfigurationLoader {
  readonly #options: ConfigurationLoaderOptions;
  #last: Promise<unknown> = Promise.resolve();
  /** Loads that have been asked for and have not begun. */
  #waiting = 0;
  readonly #known = new KnownTemplates();
  /** Configurations that have been loaded. */
  #loaded = 0;

  constructor(options: ConfigurationLoaderOptions) {
    this.#options = options;
  }

  /**
   * Loads a configuration for this thread, whose bounds it gets, and renders pods of our own by it: nobody's pod shall pay for what happens at first use only.
   * @throws ConfigurationError naming the key, and where there is one the line and column; any other Error: it could not be tried now
   */
  async load(files: ConfigurationFiles): Promise<Injector> {
    const read = await this.#options.trials.try(files);
    this.#waiting++;
    const loaded = this.#last.then(() => {
      this.#waiting--;
      return this.#load(files, read);
    });
    this.#last = loaded.then(() => this.#rehearse(files, read)).catch(() => undefined);
    return loaded;
  }

  async #load(files: ConfigurationFiles, read: ReadConfiguration): Promise<Injector> {
    const { clock } = this.#options;
    const trial = this.#loaded === 0 ? firstTrial : laterTrial;
    const injector = await this.#inSlices(loadAndTry(files, { read, known: this.#known }, clock, trial));
    this.#loaded++;
    return injector;
  }

  /**
   * Loads the first configuration of a process once more and lets go of it. Code that has only seen one is compiled for that one; the first change would throw it away while requests
   * wait, and take four times as long as later ones. Anything that is to be loaded is rehearsal enough, and goes first.
   */
  async #rehearse(files: ConfigurationFiles, read: ReadConfiguration): Promise<void> {
    if (this.#loaded !== 1) return;
    const steps = loadAndTry(files, { read }, this.#options.clock, laterTrial);
    await this.#inSlices(untilDone(steps, () => this.#waiting > 0));
  }

  #inSlices<Result>(steps: Generator<void, Result, void>): Promise<Result> {
    const { clock, slices, collect } = this.#options;
    return inSlices(steps, clock, slices, { collect });
  }
}

function* loadAndTry(
  files: ConfigurationFiles,
  options: Pick<InjectorOptions, 'read' | 'known'>,
  clock: MonotonicClock,
  trial: Trial,
): Generator<void, Injector, void> {
  const injector = yield* loadInjectorInSteps(files, { ...options, limits: mainThreadLimits });
  yield;
  yield* tryOut(injector, clock, trial);
  return injector;
}

/** Work that nobody waits for: it ends early when there is something else to do. */
function* untilDone(steps: Generator<void, unknown, void>, isOver: () => boolean): Generator<void, void, void> {
  while (!isOver() && steps.next().done !== true) yield;
}
