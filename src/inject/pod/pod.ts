import type { OwnerReference } from '../../api/kubernetes/kubernetes.ts';
import type { JsonObject } from '../patch/json-value.ts';
import { without } from './without.ts';

/** The parts of corev1.Pod that the engine reads. `normalisePod` has checked the types. */
export interface Pod extends JsonObject {
  readonly metadata: PodMetadata;
  readonly spec: PodSpec;
}

interface PodMetadata extends JsonObject {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly labels?: StringMap;
  readonly annotations?: StringMap;
  readonly ownerReferences?: readonly OwnerReference[];
}

export type StringMap = Readonly<Record<string, string>>;

export interface PodSpec extends JsonObject {
  /** The containers; null if there are none, as in Go's encoding. */
  readonly containers: readonly Container[] | null;
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly Named[];
  readonly imagePullSecrets?: readonly Named[];
  readonly nodeName?: string;
}

export interface Named extends JsonObject {
  readonly name?: string;
}

export interface Container extends JsonObject {
  readonly name: string;
  readonly image?: string;
  readonly args?: readonly string[];
  readonly env?: readonly EnvironmentVariable[];
  readonly ports?: readonly ContainerPort[];
  readonly securityContext?: SecurityContext;
  readonly readinessProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly startupProbe?: Probe;
  readonly lifecycle?: Lifecycle;
}

export interface EnvironmentVariable extends JsonObject {
  readonly name: string;
  readonly value?: string;
}

export interface ContainerPort extends JsonObject {
  readonly name?: string;
  readonly containerPort: number;
}

export interface SecurityContext extends JsonObject {
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
}

export interface Handler extends JsonObject {
  readonly httpGet?: Action & { readonly scheme?: string };
  readonly tcpSocket?: Action;
  readonly grpc?: JsonObject;
}

interface Action extends JsonObject {
  readonly port: number | string;
}

export interface Probe extends Handler {
  readonly timeoutSeconds?: number;
}

export interface Lifecycle extends JsonObject {
  readonly preStop?: Handler;
  readonly postStart?: Handler;
}

/** Returns the containers; an empty list if there are none. */
export function containersOf(pod: Pod): readonly Container[] {
  return pod.spec.containers ?? [];
}

export function initContainersOf(pod: Pod): readonly Container[] {
  return pod.spec.initContainers ?? [];
}

/** Returns the first container with this name; searches init containers last. */
export function findContainer(pod: Pod, name: string): Container | undefined {
  return (
    containersOf(pod).find((container) => container.name === name) ??
    initContainersOf(pod).find((container) => container.name === name)
  );
}

export function withContainers(pod: Pod, containers: readonly Container[]): Pod {
  return { ...pod, spec: { ...pod.spec, containers } };
}

/** Returns a pod with other init containers; omits an empty list, as Go does. */
export function withInitContainers(pod: Pod, initContainers: readonly Container[]): Pod {
  const spec = initContainers.length === 0 ? without(pod.spec, 'initContainers') : { ...pod.spec, initContainers };
  return { ...pod, spec };
}

/** Returns a pod with `change` applied to all containers; shares unchanged parts. */
export function mapContainers(pod: Pod, change: (container: Container) => Container): Pod {
  const containers = containersOf(pod);
  const changed = mapShared(containers, change);
  const result = changed === containers ? pod : withContainers(pod, changed);
  const initContainers = initContainersOf(pod);
  const changedInit = mapShared(initContainers, change);
  return changedInit === initContainers ? result : withInitContainers(result, changedInit);
}

/** Replaces the first occurrence of a container, which two templates may share. */
export function replaceContainer(pod: Pod, previous: Container, next: Container): Pod {
  let found = false;
  return mapContainers(pod, (container) => {
    if (found || container !== previous) return container;
    found = true;
    return next;
  });
}

function mapShared<Item>(items: readonly Item[], change: (item: Item) => Item): readonly Item[] {
  const result = items.map(change);
  return result.some((item, index) => item !== items[index]) ? result : items;
}

export function withAnnotations(pod: Pod, annotations: StringMap): Pod {
  return { ...pod, metadata: { ...pod.metadata, annotations } };
}

export const noStrings: StringMap = Object.freeze({});

/**
 * Merges maps; later values win. Object spread would create a V8 hidden class per pod: hundreds of
 * bytes that only a full collection frees.
 */
export function joinStrings(...maps: readonly StringMap[]): StringMap {
  return Object.fromEntries(maps.flatMap((map) => Object.entries(map)));
}

/** Returns a label's value; `undefined` if the pod does not have the label. */
export function labelOf(pod: Pod, name: string): string | undefined {
  const labels = pod.metadata.labels ?? noStrings;
  return Object.hasOwn(labels, name) ? labels[name] : undefined;
}

/** Returns an annotation's value; `undefined` if the pod does not have the annotation. */
export function annotationOf(pod: Pod, name: string): string | undefined {
  const annotations = pod.metadata.annotations ?? noStrings;
  return Object.hasOwn(annotations, name) ? annotations[name] : undefined;
}
