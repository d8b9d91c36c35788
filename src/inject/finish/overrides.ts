import { InjectionFailure } from '../injection-failure.ts';
import { podStruct } from '../kubernetes/pod-schema.ts';
import { normalisePod } from '../kubernetes/typed-pod.ts';
import { isJsonObject } from '../patch/json-value.ts';
import { encodeGoJson } from '../pod/go-json.ts';
import type { InjectedNames } from '../pod/injection-status.ts';
import {
  annotationOf,
  containersOf,
  findContainer,
  initContainersOf,
  noStrings,
  withAnnotations,
  withContainers,
  withInitContainers,
  type Container,
  type Pod,
  type PodSpec,
} from '../pod/pod.ts';
import { without } from '../pod/without.ts';
import { overlayPod, OverlayError } from '../render/overlay.ts';

/** The user's containers that share a name with a template container, as the user wrote them. */
export interface Overrides {
  readonly containers: readonly Container[];
  readonly initContainers: readonly Container[];
}

const containerType = podStruct('v1.Container');
export const noOverrides: Overrides = { containers: [], initContainers: [] };

/** Parses the overrides in annotation `key`. Like Go, ignores case. @throws InjectionFailure */
export function savedOverrides(pod: Pod, key: string): Overrides {
  const text = annotationOf(pod, key);
  if (text === undefined) return noOverrides;
  try {
    const saved: unknown = JSON.parse(text);
    if (saved === null) return noOverrides;
    if (!isJsonObject(saved)) throw new Error('not an object');
    const lists = Object.entries(saved).filter(([name]) => /^(initContainers|containers)$/i.test(name));
    const { containers, initContainers } = normalisePod(Object.fromEntries(lists), podStruct('v1.PodSpec')) as PodSpec;
    return { containers: containers ?? [], initContainers: initContainers ?? [] };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `failed to run injection template: annotation ${key}: ${reason}`;
    throw new InjectionFailure('InvalidOverrides', message, { cause: error });
  }
}

/** Adds saved overrides that are missing after an earlier injection was removed. */
export function reinsertOverrides(pod: Pod, saved: Overrides): Pod {
  const containers = missingFrom(containersOf(pod), saved.containers);
  const initContainers = missingFrom(initContainersOf(pod), saved.initContainers);
  const withFirst = containers.length === 0 ? pod : withContainers(pod, [...containersOf(pod), ...containers]);
  return initContainers.length === 0
    ? withFirst
    : withInitContainers(withFirst, [...initContainersOf(pod), ...initContainers]);
}

function missingFrom(present: readonly Container[], saved: readonly Container[]): Container[] {
  const names = new Set(present.map(({ name }) => name));
  return saved.filter(({ name }) => !names.has(name) && names.add(name));
}

/** The image that stands for the template's image; a container must have an image. */
const automaticImage = 'auto';

/** The inputs of `reapplyOverrides` other than the merged pods. */
interface OverrideSources {
  /** The pod as received. */
  readonly original: Pod;
  /** The overrides that an earlier injection saved. */
  readonly saved: Overrides;
  /** The names that an earlier injection added; `undefined` if there was no earlier injection. */
  readonly status: InjectedNames | undefined;
  /** The key of the annotation that saves overrides. */
  readonly key: string;
}

/**
 * Merges the user's containers onto template containers of the same name. Saves them in an
 * annotation, because the next injection finds merged containers in the pod.
 * @throws InjectionFailure
 */
export function reapplyOverrides(pod: Pod, templatePod: Pod, sources: OverrideSources): Pod {
  const { original, saved, status } = sources;
  const containers = overridesOf(
    containersOf(templatePod),
    status?.containers,
    (name) => byName(saved.containers, name) ?? byName(containersOf(original), name),
  );
  const initContainers = overridesOf(
    initContainersOf(templatePod),
    status?.initContainers,
    (name) => byName(saved.initContainers, name) ?? findContainer(original, name),
  );
  let result = pod;
  for (const container of containers) result = apply(result, { containers: [container] }, 'container');
  for (const container of initContainers) result = apply(result, { initContainers: [container] }, 'init container');
  if (status !== undefined || (containers.length === 0 && initContainers.length === 0)) return result;
  return withAnnotations(result, {
    ...(result.metadata.annotations ?? noStrings),
    [sources.key]: encodeOverrides({ containers, initContainers }),
  });
}

/** Returns the overrides. Omits containers in the status: an earlier injection added them. */
function overridesOf(
  templateContainers: readonly Container[],
  injected: ReadonlySet<string> | undefined,
  find: (name: string) => Container | undefined,
): Container[] {
  return templateContainers.flatMap(({ name }) => {
    const own = injected?.has(name) === true ? undefined : find(name);
    return own === undefined ? [] : [own.image === automaticImage ? without(own, 'image') : own];
  });
}

function byName(containers: readonly Container[], name: string): Container | undefined {
  return containers.find((container) => container.name === name);
}

function apply(pod: Pod, spec: Readonly<Record<string, readonly Container[]>>, what: string): Pod {
  try {
    return overlayPod(pod, { spec });
  } catch (error) {
    if (!(error instanceof OverlayError)) throw error;
    const message = `failed to re apply container: failed to apply sidecar ${what}: ${error.message}`;
    throw new InjectionFailure('InvalidOverrides', message, { cause: error });
  }
}

function encodeOverrides(overrides: Overrides): string {
  const lists = (['containers', 'initContainers'] as const).filter((name) => overrides[name].length > 0);
  const members = lists.map(
    (name) => `"${name}":[${overrides[name].map((container) => encodeGoJson(containerType, container)).join(',')}]`,
  );
  return `{${members.join(',')}}`;
}
