import type { InjectionRequest } from './injection-request.ts';
import type { Injector } from './injector.ts';

/** Where the objects of a file would be created; all optional. */
export type FileContext = Pick<InjectionRequest, 'nodes' | 'proxyConfigs' | 'namespaceMetadata' | 'path'> & {
  /** The namespace of objects that name none. */
  readonly namespace?: string;
};

/** What became of a file. `warnings` holds one line per object that was left alone, with the reason. */
export type FileInjectionResult =
  | { readonly outcome: 'done'; readonly text: string; readonly warnings: readonly string[] }
  | { readonly outcome: 'failed'; readonly message: string };

/** Injects the pod templates of every workload in a YAML file: the signature; see the engine's README. */
export type KubeInject = (injector: Injector, text: string, context?: FileContext) => FileInjectionResult;
