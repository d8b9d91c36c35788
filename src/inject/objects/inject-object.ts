import { inject } from '../inject.ts';
import type { InjectionRequest } from '../injection-request.ts';
import type { InjectionResult } from '../injection-result.ts';
import type { Injector } from '../injector.ts';
import { parsePointer } from '../patch/json-pointer.ts';
import type { JsonObject } from '../patch/json-value.ts';
import type { Workload } from '../pod/workload.ts';
import type { DocumentEdit } from './edit-document.ts';
import { objectAt, podTemplatePlace } from './workload-kinds.ts';

/** Where the objects of a file would be created; all optional. */
export type FileContext = Pick<InjectionRequest, 'nodes' | 'proxyConfigs' | 'namespaceMetadata' | 'path'> & {
  /** The namespace of objects that name none. */
  readonly namespace?: string;
};

/** What became of one object; without edits where it is no workload. */
export type ObjectOutcome =
  | { readonly outcome: 'injected'; readonly edits: readonly DocumentEdit[]; readonly warnings: readonly string[] }
  | Exclude<InjectionResult, { outcome: 'injected' }>;

/** Injects the pods of one workload. */
export function injectObject(injector: Injector, object: JsonObject, context: FileContext): ObjectOutcome {
  const place = podTemplatePlace(object);
  if (place === undefined) return { outcome: 'injected', edits: [], warnings: [] };
  const commandLine = injector.semantics === 'KubeInject';
  // Istio's command takes the job's metadata for the pod's.
  const metadataPath = commandLine && object.kind === 'CronJob' ? ['spec', 'jobTemplate', 'metadata'] : place.metadata;
  const pod = { metadata: objectAt(object, metadataPath), spec: objectAt(object, place.spec) };
  const { namespace, ...surroundings } = context;
  const request: InjectionRequest = {
    ...surroundings,
    pod,
    namespace: commandLine ? '' : textOf(objectAt(object, ['metadata']), 'namespace') || (namespace ?? 'default'),
  };
  const result = inject(injector, request, object.kind === 'Pod' ? undefined : workloadOfObject(object));
  if (result.outcome !== 'injected') return result;
  const edits = result.patch.map((operation): DocumentEdit => {
    const [part, ...rest] = parsePointer(operation.path);
    return { ...operation, path: [...(part === 'metadata' ? metadataPath : place.spec), ...rest] };
  });
  return { outcome: 'injected', edits, warnings: result.warnings };
}

/** The workload itself is what templates call the pod's workload. */
function workloadOfObject(object: JsonObject): Workload {
  const metadata = objectAt(object, ['metadata']);
  return {
    name: textOf(metadata, 'name'),
    namespace: textOf(metadata, 'namespace'),
    apiVersion: textOf(object, 'apiVersion'),
    kind: textOf(object, 'kind'),
  };
}

/** `Deployment "shop/web"`: how people know the object. */
export function describeObject(object: JsonObject): string {
  const metadata = objectAt(object, ['metadata']);
  const namespace = textOf(metadata, 'namespace');
  const name = textOf(metadata, 'name');
  return `${textOf(object, 'kind')} ${JSON.stringify(namespace === '' ? name : `${namespace}/${name}`)}`;
}

function textOf(object: JsonObject, name: string): string {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  return typeof value === 'string' ? value : '';
}
