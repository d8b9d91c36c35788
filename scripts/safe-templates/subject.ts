import type { InjectionResult } from '../../src/inject/injection-result.ts';
import type { InjectionRequest } from '../../src/inject/injection-request.ts';
import type { Injector, InjectorOptions } from '../../src/inject/injector.ts';
import type { ConfigurationFiles } from '../../src/api/injector-config/configuration-files.ts';
import type { ReadConfiguration } from '../../src/inject/configuration/read-configuration.ts';
import { pathToFileURL } from 'node:url';
import path from 'node:path';

/** The engine under test: ours, or a copy with a planted mistake. */
export interface Subject {
  readonly loadInjector: (files: ConfigurationFiles, options?: InjectorOptions) => Injector;
  readonly inject: (injector: Injector, request: InjectionRequest) => InjectionResult;
  readonly readConfigurationAtOnce: (files: ConfigurationFiles) => ReadConfiguration;
}

/** Loads an engine. `folder` is `src` or a copy. */
export async function loadSubject(folder: string): Promise<Subject> {
  const files = ['inject/injector.ts', 'inject/inject.ts', 'inject/configuration/read-configuration.ts'];
  const modules = await Promise.all(
    files.map((file) => import(pathToFileURL(path.join(folder, file)).href) as Promise<unknown>),
  );
  return Object.assign({}, ...modules) as Subject;
}

/** A template in an engine, with both presets. */
export class LoadedTemplate {
  readonly #subject: Subject;
  readonly #template: string;
  readonly #loaded = new Map<string, Injector>();

  constructor(subject: Subject, template: string) {
    this.#subject = subject;
    this.#template = template;
  }

  inject(preset: 'Safe' | 'Istio', pod: InjectionRequest['pod']): InjectionResult {
    let injector = this.#loaded.get(preset);
    if (injector === undefined) {
      const { files, read } = configuration(this.#subject, preset);
      const templates = new Map([['sidecar', this.#template]]);
      injector = this.#subject.loadInjector(files, {
        read: { ...read, config: { ...read.config, templates } },
        limits: { steps: 20_000, outputBytes: 200_000 },
      });
      this.#loaded.set(preset, injector);
    }
    return this.#subject.inject(injector, { pod, namespace: 'shop' });
  }
}

interface Configuration {
  readonly files: ConfigurationFiles;
  readonly read: ReadConfiguration;
}

const configurations = new WeakMap<Subject, Map<string, Configuration>>();

/** Returns the configuration that all templates share. Reads the configuration only once. */
function configuration(subject: Subject, preset: string): Configuration {
  const known = configurations.get(subject) ?? new Map<string, Configuration>();
  configurations.set(subject, known);
  let found = known.get(preset);
  if (found === undefined) {
    const files = {
      config: JSON.stringify({ policy: 'enabled', templates: { sidecar: '' } }),
      values: '',
      mesh: '',
      settings: JSON.stringify({ annotationOverrides: { preset } }),
    };
    found = { files, read: subject.readConfigurationAtOnce(files) };
    known.set(preset, found);
  }
  return found;
}
