import { inject } from '../inject.ts';
import type { InjectionRequest } from '../injection-request.ts';
import type { InjectionResult } from '../injection-result.ts';
import type { Injector } from '../injector.ts';
import type { JsonObject } from '../patch/json-value.ts';
import type { Workload } from '../pod/workload.ts';
import { refusalOf } from '../validity/find-invalid-fields.ts';
import { hasContainers, objectAt, podTemplatePaths, type PodTemplates, withObjectAt } from './workload-kinds.ts';

/** The environment in which a file's objects would be created. All fields are optional. */
export type FileContext = Pick<InjectionRequest, 'nodes' | 'proxyConfigs' | 'namespaceMetadata' | 'path'> & {
  /** The namespace of objects that do not specify a namespace. */
  readonly namespace?: string;
  readonly podTemplates?: PodTemplates | undefined;
};

/** The result for one object. An object that is not a workload stays as it is. */
export type ObjectOutcome =
  | { readonly outcome: 'injected'; readonly object: JsonObject; readonly warnings: readonly string[] }
  | Exclude<InjectionResult, { outcome: 'injected' }>;

/** The pod of an object, and the object with another pod. */
export interface ObjectPod {
  readonly pod: JsonObject;
  /** The metadata of the pod as the object has it, of any type. */
  readonly metadata: unknown;
  readonly withPod: (pod: JsonObject) => JsonObject;
}

/**
 * Returns the pod of a workload, or of a Pod; `undefined` for other objects.
 * @param commandLine whether to use the metadata of a CronJob's job template, as Istio does
 */
export function podOf(object: JsonObject, commandLine: boolean, further?: PodTemplates): ObjectPod | undefined {
  const paths = podTemplatePaths(object, further);
  if (paths === undefined) return undefined;
  const metadataPath = commandLine && object.kind === 'CronJob' ? ['spec', 'jobTemplate', 'metadata'] : paths.metadata;
  return {
    pod: { metadata: objectAt(object, metadataPath), spec: objectAt(object, paths.spec) },
    metadata: objectAt(object, metadataPath.slice(0, -1))['metadata'],
    withPod: ({ metadata, spec }) => withObjectAt(withObjectAt(object, metadataPath, metadata), paths.spec, spec),
  };
}

/** Injects the pods of one workload. */
export function injectObject(injector: Injector, object: JsonObject, context: FileContext): ObjectOutcome {
  const commandLine = injector.semantics === 'KubeInject';
  const { namespace, podTemplates, ...surroundings } = context;
  const found = podOf(object, commandLine, podTemplates);
  const isBare = !commandLine && found !== undefined && Object.keys(found.pod.spec ?? {}).length === 0;
  if (found === undefined || isBare) {
    const problem = isBare
      ? 'has no pod template, as in a patch'
      : 'has containers, but its kind is not known (--pod-template adds kinds)';
    const warnings = isBare || hasContainers(object) ? [`${problem}; nothing was injected`] : [];
    return { outcome: 'injected', object, warnings };
  }
  const request: InjectionRequest = {
    ...surroundings,
    pod: found.pod,
    namespace: commandLine ? '' : textOf(objectAt(object, ['metadata']), 'namespace') || (namespace ?? 'default'),
  };
  const result = inject(injector, request, object.kind === 'Pod' ? undefined : workloadOfObject(object));
  if (result.outcome !== 'injected') return result;
  const refusal = refusalOf(found.pod, result.pod);
  const warnings =
    refusal === undefined || result.warnings.includes(refusal) ? result.warnings : [...result.warnings, refusal];
  return { outcome: 'injected', object: found.withPod(result.pod), warnings };
}

/** Returns the object itself as the workload that templates see. */
export function workloadOfObject(object: JsonObject): Workload {
  const metadata = objectAt(object, ['metadata']);
  return {
    name: textOf(metadata, 'name'),
    namespace: textOf(metadata, 'namespace'),
    apiVersion: textOf(object, 'apiVersion'),
    kind: textOf(object, 'kind'),
  };
}

/** Returns an object's name for messages, e.g. `Deployment "shop/web"`. */
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
