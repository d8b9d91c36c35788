import { inject } from '../inject.ts';
import type { InjectionRequest } from '../injection-request.ts';
import type { SkipReason } from '../injection-result.ts';
import type { Injector } from '../injector.ts';
import type { JsonPatchOperation } from '../patch/json-patch.ts';
import { parsePointer } from '../patch/json-pointer.ts';
import type { JsonObject } from '../patch/json-value.ts';
import type { Workload } from '../pod/workload.ts';
import type { DocumentEdit } from './edit-document.ts';
import { objectAt, podTemplatePlace, type PodTemplatePlace } from './workload-kinds.ts';

/** Where the objects of a file would be created; all optional. */
export type FileContext = Pick<InjectionRequest, 'nodes' | 'proxyConfigs' | 'namespaceMetadata' | 'path'> & {
  /** The namespace of objects that name none. */
  readonly namespace?: string;
};

/** What became of one object. */
export type ObjectOutcome =
  | { readonly outcome: 'injected'; readonly edits: readonly DocumentEdit[]; readonly warnings: readonly string[] }
  | { readonly outcome: 'skipped'; readonly reason: SkipReason; readonly message: string }
  | { readonly outcome: 'failed'; readonly message: string }
  /** Not a workload. */
  | { readonly outcome: 'untouched' };

/** Injects the pods of one workload. */
export function injectObject(injector: Injector, object: JsonObject, context: FileContext): ObjectOutcome {
  const place = podTemplatePlace(object);
  if (place === undefined) return { outcome: 'untouched' };
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
  switch (result.outcome) {
    case 'injected':
      return {
        outcome: 'injected',
        edits: result.patch.map((operation) => toEdit(operation, { metadata: metadataPath, spec: place.spec })),
        warnings: result.warnings,
      };
    case 'skipped':
      return { outcome: 'skipped', reason: result.reason, message: result.message };
    case 'failed':
      return { outcome: 'failed', message: result.message };
  }
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

/** A patch of the pod as a change of the object. */
function toEdit(operation: JsonPatchOperation, place: PodTemplatePlace): DocumentEdit {
  const [part, ...rest] = parsePointer(operation.path);
  const path = [...(part === 'metadata' ? place.metadata : place.spec), ...rest];
  return operation.op === 'remove'
    ? { path, operation: 'remove' }
    : { path, operation: operation.op, value: operation.value };
}
