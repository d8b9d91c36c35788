import { InjectionFailure } from '../injection-failure.ts';
import { podStruct } from '../kubernetes/pod-schema.ts';
import { normalisePod } from '../kubernetes/typed-pod.ts';
import { isJsonObject } from '../patch/json-value.ts';
import {
  annotationOf,
  containersOf,
  initContainersOf,
  withContainers,
  withInitContainers,
  type Container,
  type Pod,
} from './pod.ts';

/** Containers of the user's that a template brings too, as the user wrote them. */
export interface Overrides {
  readonly containers: readonly Container[];
  readonly initContainers: readonly Container[];
}

const containerType = podStruct('v1.Container');
const none: Overrides = { containers: [], initContainers: [] };

/** The overrides that an earlier injection has saved in the annotation `key`. @throws InjectionFailure when unreadable */
export function savedOverrides(pod: Pod, key: string): Overrides {
  const text = annotationOf(pod, key);
  if (text === undefined) return none;
  try {
    const saved: unknown = JSON.parse(text);
    if (saved === null) return none;
    if (!isJsonObject(saved)) throw new Error('not an object');
    return { containers: containersIn(saved.containers), initContainers: containersIn(saved.initContainers) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `failed to run injection template: annotation ${key}: ${reason}`;
    throw new InjectionFailure('InvalidOverrides', message, { cause: error });
  }
}

function containersIn(value: unknown): Container[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new Error('containers are no list');
  return value.map((item) => normalisePod(item, containerType) as Container);
}

/** The pod with saved overrides put back where an earlier injection's containers have been taken away. */
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
  return saved.filter(({ name }) => !names.has(name));
}
