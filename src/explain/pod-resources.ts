import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { listOf } from '../inject/kubernetes/admission-pod.ts';
import { amountIn, containerSum } from '../inject/kubernetes/container-sum.ts';
import { objectAt } from '../inject/objects/workload-kinds.ts';
import { isJsonObject, type JsonObject } from '../inject/patch/json-value.ts';

/** An amount of CPU in cores, and of memory in bytes. */
export interface Amounts {
  readonly cpu: number;
  readonly memory: number;
}

/** The effective requests and limits of pods. A container without a limit adds nothing. */
export interface PodResources {
  readonly requests: Amounts;
  readonly limits: Amounts;
}

export const noResources: PodResources = { requests: { cpu: 0, memory: 0 }, limits: { cpu: 0, memory: 0 } };

/**
 * Returns the resources that the scheduler counts for a pod (k8s.io/component-helpers/resource,
 * PodRequests and PodLimits): containers and native sidecars together, or the largest need of an
 * init container, or the resources of the pod itself; plus the overhead.
 */
export function podResources(pod: JsonObject): PodResources {
  return mapParts((part) => ({ cpu: effective(pod, part, 'cpu'), memory: effective(pod, part, 'memory') }));
}

/** Adds `times` the resources of `more`. Rounds to billionths, the precision of quantities. */
export function addResources(sum: PodResources, more: PodResources, times = 1): PodResources {
  const add = (one: number, other: number): number => Math.round((one + other * times) * 1e9) / 1e9;
  return mapParts((part) => ({
    cpu: add(sum[part].cpu, more[part].cpu),
    memory: add(sum[part].memory, more[part].memory),
  }));
}

type Part = keyof PodResources;

function mapParts(of: (part: Part) => Amounts): PodResources {
  return { requests: of('requests'), limits: of('limits') };
}

function effective(pod: JsonObject, part: Part, name: keyof Amounts): number {
  const spec = objectAt(pod, ['spec']);
  const ofPod = objectAt(spec, ['resources', part]);
  const needed = Object.hasOwn(ofPod, name) ? amountIn(ofPod, name) : containerSum(spec, part, name);
  const overhead = part === 'limits' && needed === 0 ? 0 : amountIn(objectAt(spec, ['overhead']), name);
  return needed + overhead;
}

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
    const limits = isJsonObject(spec) ? listOf(spec.limits) : [];
    for (const item of limits.filter(({ type }) => type === 'Container')) {
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
