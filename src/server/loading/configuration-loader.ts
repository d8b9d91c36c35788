import type { ConfigurationFiles } from '../../api/injector-config/configuration-files.ts';
import { KnownTemplates } from '../../inject/configuration/known-templates.ts';
import type { ReadConfiguration } from '../../inject/configuration/read-configuration.ts';
import { inject } from '../../inject/inject.ts';
import { loadInjectorInSteps, type Injector } from '../../inject/injector.ts';
import type { MonotonicClock } from '../ports.ts';
import { inSlices, type Slices } from './in-slices.ts';
import { mainThreadLimits } from '../worker/limits.ts';
import { typicalPod } from '../../inject/rehearsal/typical-pods.ts';

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
    const { clock, slices, collect } = this.#options;
    const loaded = this.#last.then(() => inSlices(this.#steps(files, read), clock, slices, { collect }));
    this.#last = loaded.catch(() => undefined);
    return loaded;
  }

  *#steps(files: ConfigurationFiles, read: ReadConfiguration): Generator<void, Injector, void> {
    const injector = yield* loadInjectorInSteps(files, { read, known: this.#known, limits: mainThreadLimits });
    yield;
    yield* tryOut(injector, this.#options.clock, this.#isWarm);
    this.#isWarm = true;
    return injector;
  }
}

/**
 * So many pods, or so many milliseconds of work. In a process that has just started all code is cold: the first pod costs forty times as much as later ones, the first hundred
 * four times (Istio's templates). Later on only what is the configuration's own is cold: its first pod costs ten times as much.
 */
const bounds = { cold: { pods: 60, enough: 250 }, warm: { pods: 15, enough: 50 } };

/** Injects pods of our own, one in each step. What comes of it is for others to judge; nothing of it is kept. */
export function* tryOut(injector: Injector, clock: MonotonicClock, isWarm: boolean): Generator<void, void, void> {
  const { pods, enough } = isWarm ? bounds.warm : bounds.cold;
  let worked = 0;
  for (let index = 0; index < pods && worked < enough; index++) {
    const begun = clock();
    const { pod } = typicalPod(injector.settings.keys.inject, index);
    inject(injector, { pod, namespace: 'default', path: '/inject' });
    worked += clock() - begun;
    yield;
  }
  injector.templates.outputs.forget();
}
