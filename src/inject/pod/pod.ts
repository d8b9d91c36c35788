import type { OwnerReference } from '../../api/kubernetes/kubernetes.ts';
import type { JsonObject } from '../patch/json-value.ts';
import { without } from './without.ts';

/** The parts of corev1.Pod that the engine reads. A value of this type has passed `normalisePod`, so its fields are of their types. */
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
  /** Go encodes a pod without containers as `null`. */
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

/** The containers, none of them for a pod that has none. */
export function containersOf(pod: Pod): readonly Container[] {
  return pod.spec.containers ?? [];
}

/** The init containers. */
export function initContainersOf(pod: Pod): readonly Container[] {
  return pod.spec.initContainers ?? [];
}

/** The first container of that name, init containers last. */
export function findContainer(pod: Pod, name: string): Container | undefined {
  return (
    containersOf(pod).find((container) => container.name === name) ??
    initContainersOf(pod).find((container) => container.name === name)
  );
}

/** A pod with other containers. */
export function withContainers(pod: Pod, containers: readonly Container[]): Pod {
  return { ...pod, spec: { ...pod.spec, containers } };
}

/** A pod with other init containers; none are left out, as Go does. */
export function withInitContainers(pod: Pod, initContainers: readonly Container[]): Pod {
  const spec = initContainers.length === 0 ? without(pod.spec, 'initContainers') : { ...pod.spec, initContainers };
  return { ...pod, spec };
}

/** A pod in which `change` has been applied to the containers and init containers that it changes. */
export function mapContainers(pod: Pod, change: (container: Container) => Container): Pod {
  const containers = containersOf(pod);
  const changed = mapShared(containers, change);
  const result = changed === containers ? pod : withContainers(pod, changed);
  const initContainers = initContainersOf(pod);
  const changedInit = mapShared(initContainers, change);
  return changedInit === initContainers ? result : withInitContainers(result, changedInit);
}

/** A pod with one container replaced where it stands first, init containers last: two templates may share one. */
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

/** A pod with other annotations. */
export function withAnnotations(pod: Pod, annotations: StringMap): Pod {
  return { ...pod, metadata: { ...pod.metadata, annotations } };
}

export const noStrings: StringMap = Object.freeze({});

/**
 * All entries of several maps; of a name that occurs twice the last value counts. Not a literal that spreads the first and adds to it: V8 then makes a hidden class for every pod,
 * hundreds of bytes that only a full collection frees.
 */
export function joinStrings(...maps: readonly StringMap[]): StringMap {
  return Object.fromEntries(maps.flatMap((map) => Object.entries(map)));
}

/** A label's value; `undefined` when the pod does not carry it. */
export function labelOf(pod: Pod, name: string): string | undefined {
  const labels = pod.metadata.labels ?? noStrings;
  return Object.hasOwn(labels, name) ? labels[name] : undefined;
}

/** An annotation's value; `undefined` when the pod does not carry it. */
export function annotationOf(pod: Pod, name: string): string | undefined {
  const annotations = pod.metadata.annotations ?? noStrings;
  return Object.hasOwn(annotations, name) ? annotations[name] : undefined;
}
