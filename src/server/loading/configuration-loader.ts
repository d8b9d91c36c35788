import type { ConfigurationFiles } from '../../api/injector-config/configuration-files.ts';
import { KnownTemplates } from '../../inject/configuration/known-templates.ts';
import type { ReadConfiguration } from '../../inject/configuration/read-configuration.ts';
import { loadInjectorInSteps, type Injector } from '../../inject/injector.ts';
import type { MonotonicClock } from '../ports.ts';
import { inSlices, type Slices } from './in-slices.ts';
import { mainThreadLimits } from '../worker/limits.ts';
import { tryOut } from './try-out.ts';

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
  readonly #known = new KnownTemplates();
  /** Whether a configuration has been loaded. */
  #isWarm = false;

  constructor(options: ConfigurationLoaderOptions) {
    this.#options = options;
  }

  /**
   * Loads a configuration for this thread, whose bounds it gets, and renders pods of our own by it: nobody's pod shall pay for what happens at first use only.
   * @throws ConfigurationError naming the key, and where there is one the line and column; any other Error: it could not be tried now
   */
  async load(files: ConfigurationFiles): Promise<Injector> {
    const read = await this.#options.trials.try(files);
    const loaded = this.#last.then(() => this.#load(files, read));
    this.#last = loaded.catch(() => undefined);
    return loaded;
  }

  async #load(files: ConfigurationFiles, read: ReadConfiguration): Promise<Injector> {
    const { clock, slices, collect } = this.#options;
    const steps = this.#steps(files, read);
    return inSlices(steps, clock, slices, { collect });
  }

  *#steps(files: ConfigurationFiles, read: ReadConfiguration): Generator<void, Injector, void> {
    const injector = yield* loadInjectorInSteps(files, { read, known: this.#known, limits: mainThreadLimits });
    yield;
    yield* tryOut(injector, this.#options.clock, this.#isWarm);
    this.#isWarm = true;
    return injector;
  }
}
