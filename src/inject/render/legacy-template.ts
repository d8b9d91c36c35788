import { isJsonObject, type JsonObject } from '../patch/json-value.ts';
import type { Named, Pod } from '../pod/pod.ts';

/** The output of an Istio 1.x template: a SidecarInjectionSpec with lists at the top level. */
export interface LegacyOutput {
  /** The output as a part of a pod. */
  readonly part: JsonObject;
  /** The field `rewriteAppHTTPProbe`. */
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

/** Converts a SidecarInjectionSpec. */
export function readLegacyOutput(output: JsonObject): LegacyOutput {
  const spec: JsonObject = {};
  for (const name of specMembers) {
    if ((output[name] ?? undefined) !== undefined) spec[name] = output[name];
  }
  const annotations = output.podRedirectAnnot;
  return {
    part: { ...(isJsonObject(annotations) && { metadata: { annotations } }), spec },
    rewriteProbes: output.rewriteAppHTTPProbe === true,
  };
}

/** Moves added items after the pod's own items, as Istio 1.x did; the merge puts them first. */
export function moveAddedLast(before: Pod, after: Pod): Pod {
  const spec: JsonObject = { ...after.spec };
  for (const name of ['containers', 'initContainers', 'volumes'] as const) {
    const present = new Set((before.spec[name] ?? []).map((item) => item.name));
    const items: readonly Named[] | null | undefined = after.spec[name];
    if (!items || present.size === 0) continue;
    const isOld = (item: Named): boolean => present.has(item.name);
    spec[name] = [...items.filter(isOld), ...items.filter((item) => !isOld(item))];
  }
  return { ...after, spec: spec as Pod['spec'] };
}
