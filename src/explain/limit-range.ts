import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { objectAt } from '../inject/objects/workload-kinds.ts';
import { isJsonObject, type JsonObject } from '../inject/patch/json-value.ts';

/** The annotation in which the LimitRanger plugin says what it set. */
export const limitRangerAnnotation = 'kubernetes.io/limit-ranger';

/** The defaults for containers of a namespace. */
export interface ContainerDefaults {
  readonly requests: JsonObject;
  readonly limits: JsonObject;
}

/** Returns the defaults in the LimitRanges of one namespace; the first that has a value wins. */
export function containerDefaults(limitRanges: readonly KubernetesObject[]): ContainerDefaults {
  let defaults: ContainerDefaults = { requests: {}, limits: {} };
  for (const { spec } of limitRanges) {
    const limits = isJsonObject(spec) && Array.isArray(spec.limits) ? (spec.limits as unknown[]) : [];
    for (const item of limits) {
      if (!isJsonObject(item) || item.type !== 'Container') continue;
      defaults = {
        requests: { ...objectAt(item, ['defaultRequest']), ...defaults.requests },
        limits: { ...objectAt(item, ['default']), ...defaults.limits },
      };
    }
  }
  return defaults;
}

/**
 * Sets the resources that containers lack, as the LimitRanger plugin does
 * (k8s.io/kubernetes/plugin/pkg/admission/limitranger, mergePodResourceRequirements).
 */
export function withContainerDefaults(pod: JsonObject, defaults: ContainerDefaults): JsonObject {
  const isEmpty = Object.keys(defaults.requests).length + Object.keys(defaults.limits).length === 0;
  if (isEmpty) return pod;
  const spec = objectAt(pod, ['spec']);
  const changed = { ...spec };
  for (const list of ['containers', 'initContainers']) {
    const containers = spec[list];
    if (!Array.isArray(containers)) continue;
    changed[list] = (containers as JsonObject[]).map((container) => {
      const resources = objectAt(container, ['resources']);
      const merged = (part: 'requests' | 'limits'): JsonObject => {
        const amounts = { ...defaults[part], ...objectAt(resources, [part]) };
        return Object.keys(amounts).length === 0 ? {} : { [part]: amounts };
      };
      return { ...container, resources: { ...resources, ...merged('limits'), ...merged('requests') } };
    });
  }
  return { ...pod, spec: changed };
}
