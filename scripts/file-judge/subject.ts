import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as commands from '../../src/cli/commands/uninject.ts';
import type * as objects from '../../src/inject/objects/inject-object.ts';
import type * as records from '../../src/explain/uninject-object.ts';
import type * as files from '../../src/inject/kube-inject.ts';
import type * as injectors from '../../src/inject/injector.ts';
import type { JsonObject } from '../../src/inject/patch/json-value.ts';
import { logFiles, proxyFiles } from '../../src/inject/testdata/configurations.ts';
import type { RandomFile } from './write-file.ts';

/** What the commands made of a file. `back` is the injected file after `uninject`. */
export interface Run {
  readonly file: RandomFile;
  readonly injected: files.FileInjectionResult;
  readonly back?: files.FileInjectionResult | undefined;
}

/** The commands under test with one configuration. */
export interface Subject {
  /** Injects a file, and removes the injection. */
  readonly run: (file: RandomFile) => Run;
  /** Returns an object as it must be after the injection, or why the engine refuses it. */
  readonly expected: (object: JsonObject) => JsonObject | string;
}

type Modules = typeof commands & typeof objects & typeof records & typeof files & typeof injectors;

/** Loads the commands of a folder, `src` or a copy, with several configurations. */
export async function loadSubjects(folder: string): Promise<Subject[]> {
  const names = [
    'cli/commands/uninject',
    'inject/objects/inject-object',
    'explain/uninject-object',
    'inject/kube-inject',
    'inject/injector',
  ];
  const modules = await Promise.all(
    names.map((name) => import(pathToFileURL(path.join(folder, `${name}.ts`)).href) as Promise<unknown>),
  );
  const loaded = Object.assign({}, ...modules) as Modules;
  const [log, proxy] = [loaded.loadInjector(logFiles), loaded.loadInjector(proxyFiles)];
  const istio = loaded.loadInjector(proxyFiles, { semantics: 'KubeInject' });
  return [
    subject(loaded, log, true),
    subject(loaded, log, false),
    subject(loaded, proxy, true),
    subject(loaded, proxy, false),
    subject(loaded, istio, false),
  ];
}

/** @param knows whether `uninject` gets the configuration */
function subject(modules: Modules, injector: injectors.Injector, knows: boolean): Subject {
  const context = { namespace: 'default', nodes: [] };
  const by = { injector, request: context };
  const isCommand = injector.semantics === 'KubeInject';
  const record = (before: JsonObject, after: JsonObject): JsonObject =>
    isCommand ? after : modules.recordOriginal(before, after, by);
  const keep = isCommand ? undefined : modules.recordTexts;
  return {
    run: (file) => {
      const injected = modules.kubeInject(injector, file.text, context, record, keep);
      if (injected.outcome === 'failed' || injected.text === file.text || isCommand) return { file, injected };
      return { file, injected, back: modules.uninjectText(injected.text, knows ? injector : undefined, context) };
    },
    expected: (object) => {
      const result = modules.injectObject(injector, object, context);
      if (result.outcome === 'failed') return `${result.message}${isCommand ? '' : (result.detail ?? '')}`;
      return result.outcome === 'skipped' || result.object === object ? object : record(object, result.object);
    },
  };
}
