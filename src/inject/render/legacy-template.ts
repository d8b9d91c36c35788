import { isJsonObject, type JsonObject } from '../patch/json-value.ts';
import { containersOf, initContainersOf, type Named, type Pod } from '../pod/pod.ts';

/** What a template of Istio 1.x renders: a SidecarInjectionSpec, whose lists stand at the top level. */
export interface LegacyOutput {
  /** The same as a part of a pod. */
  readonly part: JsonObject;
  /** The same with directives that put what it adds after what the pod has, as 1.x did it. */
  readonly placedPart: JsonObject;
  /** `rewriteAppHTTPProbe`. */
  readonly rewriteProbes: boolean;
}

const specMembers = [
  'initContainers',
  'containers',
  'volumes',
  'imagePullSecrets',
  'dnsConfig',
  'securityContext',
  'hostAliases',
] as const;

/** Turns a SidecarInjectionSpec into a part of a pod. */
export function readLegacyOutput(output: JsonObject, pod: Pod): LegacyOutput {
  const spec: JsonObject = {};
  for (const name of specMembers) {
    if ((output[name] ?? undefined) !== undefined) spec[name] = output[name];
  }
  const present: Readonly<Record<string, readonly Named[]>> = {
    containers: containersOf(pod),
    initContainers: initContainersOf(pod),
    volumes: pod.spec.volumes ?? [],
  };
  const order: JsonObject = {};
  for (const [name, items] of Object.entries(present)) {
    if (Array.isArray(spec[name]) && items.length > 0)
      order[`$setElementOrder/${name}`] = orderAfter(items, spec[name]);
  }
  const annotations = output.podRedirectAnnot;
  const metadata = isJsonObject(annotations) ? { metadata: { annotations } } : {};
  return {
    part: { ...metadata, spec },
    placedPart: { ...metadata, spec: { ...spec, ...order } },
    rewriteProbes: output.rewriteAppHTTPProbe === true,
  };
}

function orderAfter(present: readonly Named[], added: readonly unknown[]): { name: unknown }[] {
  const names = new Set<unknown>(present.map(({ name }) => name));
  for (const item of added) if (isJsonObject(item)) names.add(item.name);
  return [...names].map((name) => ({ name }));
}
