import type { ConfigurationFiles } from '../../api/injector-config/configuration-files.ts';
import { KnownTemplates } from '../../inject/configuration/known-templates.ts';
import type { ReadConfiguration } from '../../inject/configuration/read-configuration.ts';
import { inject } from '../../inject/inject.ts';
import { loadInjectorInSteps, type Injector } from '../../inject/injector.ts';
import type { MonotonicClock } from '../ports.ts';
import { inSlices, type Slices } from '../../steps/in-slices.ts';
import { mainThreadLimits } from '../worker/limits.ts';
import { typicalPod } from '../../inject/rehearsal/typical-pods.ts';

export interface ConfigurationLoaderOptions {
  readonly clock: MonotonicClock;
  /** Tries a configuration in another process; the loader loads only configurations that pass. */
  readonly trials: { try(files: ConfigurationFiles): Promise<ReadConfiguration> };
  readonly slices?: Slices;
  /** Collects young garbage after each slice: one long collection would delay requests. */
  readonly collect?: () => void;
}

/**
 * Loads configurations in a serving process, one at a time. Each configuration must first pass a
 * trial in another process (../trial). The loader then works in slices, so that a request waits for
 * at most one slice.
 */
export class ConfigurationLoader {
  readonly #options: ConfigurationLoaderOptions;
  #last: Promise<unknown> = Promise.resolve();
  readonly #known = new KnownTemplates();
  #isWarm = false;

  constructor(options: ConfigurationLoaderOptions) {
    this.#options = options;
  }

  /**
   * Loads a configuration with the limits of this thread, and renders typical pods, so that no
   * user's pod waits for one-time work such as JIT compilation.
   * @throws ConfigurationError that names the key and position; another Error if no trial
   * was possible
   */
  async load(files: ConfigurationFiles): Promise<Injector> {
    const { rehearsal, ...tried } = await this.#options.trials.try(files);
    // Otherwise the pods of the trial would stay in memory.
    const read = rehearsal === undefined ? tried : { ...tried, rehearsal: { ...rehearsal, injected: undefined } };
    const { clock, slices, collect } = this.#options;
    const loaded = this.#last.then(() => inSlices(this.#steps(files, read), clock, slices, { afterSlice: collect }));
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
 * Limits in pods and milliseconds. In a new process all code is cold: with Istio's templates the
 * first pod costs forty times, and the first hundred pods four times, as much as later pods. In a
 * warm process only the new configuration is cold, and its first pod costs ten times as much.
 */
const bounds = { cold: { pods: 60, budgetMs: 250 }, warm: { pods: 15, budgetMs: 50 } };

/** Injects typical pods, one in each step, to warm up the process. Discards the results. */
export function* tryOut(injector: Injector, clock: MonotonicClock, isWarm: boolean): Generator<void, void, void> {
  const { pods, budgetMs } = isWarm ? bounds.warm : bounds.cold;
  let worked = 0;
  for (let index = 0; index < pods && worked < budgetMs; index++) {
    const begun = clock();
    const { pod } = typicalPod(injector.settings.keys.inject, index);
    inject(injector, { pod, namespace: 'default', path: '/inject' });
    worked += clock() - begun;
    yield;
  }
  injector.templates.outputs.forget();
}
