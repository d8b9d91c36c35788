import type { ConfigurationFiles } from '../../api/configuration-files.ts';
import type { ReadConfiguration } from '../../inject/configuration/read-configuration.ts';
import { inject } from '../../inject/inject.ts';
import { loadInjectorInSteps, type Injector } from '../../inject/injector.ts';
import type { MonotonicClock } from '../ports.ts';
import { inSlices, type Slices } from './in-slices.ts';
import { mainThreadLimits } from './lane-limits.ts';

export interface ConfigurationLoaderOptions {
  readonly clock: MonotonicClock;
  /** Reads what is too large to be read here, where it cannot be interrupted; it compiles it too, so that a mistake is found there. */
  readonly readElsewhere: (files: ConfigurationFiles) => Promise<ReadConfiguration>;
  readonly slices?: Slices;
}

/** Characters of all texts together. Istio's default configuration has 115,000, most of them template: 2 ms. */
const largeConfiguration = 192 * 1024;

/** Loads configurations in a process that answers requests: none waits for longer than a slice of the work. One after the other. */
export class ConfigurationLoader {
  readonly #options: ConfigurationLoaderOptions;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: ConfigurationLoaderOptions) {
    this.#options = options;
  }

  /**
   * Loads a configuration for this thread, whose bounds it gets, and tries it out: the first pod shall not pay for what happens at first use only.
   * @throws ConfigurationError naming the key, and where there is one the line and column.
   */
  load(files: ConfigurationFiles): Promise<Injector> {
    const loaded = this.#last.then(() => this.#load(files));
    this.#last = loaded.catch(() => undefined);
    return loaded;
  }

  async #load(files: ConfigurationFiles): Promise<Injector> {
    const { clock, readElsewhere, slices } = this.#options;
    const read = sizeOf(files) > largeConfiguration ? { read: await readElsewhere(files) } : {};
    return inSlices(loadAndTry(files, read), clock, slices);
  }
}

function* loadAndTry(
  files: ConfigurationFiles,
  read: { readonly read?: ReadConfiguration },
): Generator<void, Injector, void> {
  const injector = yield* loadInjectorInSteps(files, { ...read, limits: mainThreadLimits });
  yield;
  inject(injector, { pod: somePod, namespace: 'default', path: '/inject' });
  return injector;
}

const somePod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { generateName: 'trial-', labels: { app: 'trial' } },
  spec: { containers: [{ name: 'trial', image: 'trial', ports: [{ containerPort: 8080 }] }] },
};

function sizeOf({ config, values, mesh, settings }: ConfigurationFiles): number {
  return config.length + values.length + mesh.length + settings.length;
}
