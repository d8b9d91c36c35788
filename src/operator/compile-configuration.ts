import { configurationHash } from '../api/configuration-hash.ts';
import type { ConfigurationFiles } from '../api/configuration-files.ts';
import { ConfigurationError } from '../api/errors.ts';
import type { InjectorConfig } from '../api/injector-config.ts';
import { validateInjectorConfig } from '../api/validate-injector-config.ts';
import { loadInjector } from '../inject/injector.ts';
import { configurationFiles } from '../manifests/configuration-files.ts';
import type { ConfigMapReference, ReferenceWatches } from './reference-watches.ts';

/** A configuration that compiles, and the name it is published under. */
export interface CompiledConfiguration {
  readonly files: ConfigurationFiles;
  readonly hash: string;
  readonly templates: number;
  readonly warnings: readonly string[];
}

/** A ConfigMap holds 1 MiB; what is left is room for metadata. */
const maximumBytes = 900 * 1024;

/** The ConfigMaps that an InjectorConfig refers to. */
function referencesOf({ spec: { injection } }: InjectorConfig): ConfigMapReference[] {
  return injection.valuesFrom === undefined ? [] : [injection.valuesFrom];
}

interface Compilation {
  /** What the outcome depends on. */
  readonly input: string;
  readonly outcome: CompiledConfiguration | ConfigurationError;
}

/** Turns InjectorConfigs into configurations that compile; what has not changed is not compiled again. */
export class ConfigurationCompiler {
  readonly #references: ReferenceWatches;
  readonly #last = new Map<string, Compilation>();

  constructor(references: ReferenceWatches) {
    this.#references = references;
  }

  /**
   * Reads what the InjectorConfig refers to and compiles everything, as a replica will. Nothing that fails here is ever published.
   * @throws ConfigurationError with the field, or with key, line and column of a template
   */
  async compile(config: InjectorConfig, signal: AbortSignal): Promise<CompiledConfiguration> {
    const { name, uid, generation } = config.metadata;
    const { valuesFrom } = config.spec.injection;
    this.#references.keepOnly(name, referencesOf(config));
    const values =
      valuesFrom === undefined
        ? undefined
        : await this.#references.read(name, 'spec.injection.valuesFrom', valuesFrom, signal);
    const input = JSON.stringify([uid, generation, values]);
    const last = this.#last.get(name);
    const outcome = last?.input === input ? last.outcome : compileOrRefuse(config, values);
    this.#last.set(name, { input, outcome });
    if (outcome instanceof ConfigurationError) throw outcome;
    return outcome;
  }

  forget(name: string): void {
    this.#last.delete(name);
    this.#references.keepOnly(name, []);
  }
}

function compileOrRefuse(
  config: InjectorConfig,
  values: string | undefined,
): CompiledConfiguration | ConfigurationError {
  try {
    refuseMistakes(config);
    const files = configurationFiles(config, values === undefined ? {} : { values });
    refuseOversize(files);
    const { templateNames, warnings } = loadInjector(files);
    return { files, hash: configurationHash(files), templates: templateNames.length, warnings };
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
}

/** Mistakes in what is injected; those in how the webhook is called are none of the configuration's. */
function refuseMistakes(config: InjectorConfig): void {
  const mistakes = validateInjectorConfig(config).filter(({ field }) => field.startsWith('spec.injection'));
  const [first] = mistakes;
  if (first === undefined) return;
  throw new ConfigurationError(first.field, mistakes.map(({ message }) => message).join('; '));
}

function refuseOversize(files: ConfigurationFiles): void {
  const sizes = Object.entries(files).map(([key, text]): [string, number] => [key, Buffer.byteLength(String(text))]);
  const total = sizes.reduce((sum, [, size]) => sum + size, 0);
  if (total <= maximumBytes) return;
  const each = sizes.map(([key, size]) => `${key} ${Math.ceil(size / 1024)} KiB`).join(', ');
  throw new ConfigurationError(
    'spec.injection',
    `the configuration is larger than the 900 KiB that fit in a ConfigMap: ${each}; shorten it`,
  );
}
