import { isJsonObject, type JsonObject } from '../patch/json-value.ts';
import {
  containersOf,
  initContainersOf,
  type Named,
  type Pod,
  noStrings,
  withAnnotations,
  withContainers,
  withInitContainers,
} from './pod.ts';
import type { Family } from '../configuration/family.ts';
import { readPrometheusAnnotations, withoutPrometheusAnnotations } from './prometheus-annotations.ts';
import { without } from './without.ts';

/** The names of the containers that an injector added to a pod. */
export interface InjectedNames {
  readonly initContainers: ReadonlySet<string>;
  readonly containers: ReadonlySet<string>;
}

/** The items that an injector added to a pod. */
export interface InjectionStatus extends InjectedNames {
  /** The revision; absent in annotations from older versions. */
  readonly revision?: string;
}

/**
 * Parses the status annotation like Istio's injectionStatus. As for a Go struct, member names match
 * in any case. Returns `undefined` if a member has the wrong type.
 */
export function injectionStatus(text: string): InjectionStatus | undefined {
  const members = Object.entries(readStatus(text) ?? { containers: text });
  const status = new Map(members.map(([name, value]) => [name.toLowerCase(), value]));
  const { containers, initContainers } = namesOf(status.get('containers'), status.get('initcontainers')) ?? {};
  const others = namesOf(status.get('volumes'), status.get('imagepullsecrets'));
  const revision = status.get('revision') ?? undefined;
  if (containers === undefined || initContainers === undefined || others === undefined) return undefined;
  if (revision === undefined) return { initContainers, containers };
  return typeof revision === 'string' ? { initContainers, containers, revision } : undefined;
}

/** Parses the containers of the status annotation like Istio's parseStatus. */
export function parseStatus(text: string): InjectedNames | undefined {
  const status = readStatus(text);
  return status && namesOf(status.containers, status.initContainers);
}

function readStatus(text: string): JsonObject | undefined {
  try {
    const status: unknown = JSON.parse(text);
    return status === null ? {} : isJsonObject(status) ? status : undefined;
  } catch {
    return undefined;
  }
}

function namesOf(inContainers: unknown, inInitContainers: unknown): InjectedNames | undefined {
  const [containers, initContainers] = [namesIn(inContainers), namesIn(inInitContainers)];
  return containers && initContainers && { initContainers, containers };
}

function namesIn(value: unknown): ReadonlySet<string> | undefined {
  if (value === undefined || value === null) return new Set();
  return Array.isArray(value) && value.every((name): name is string => typeof name === 'string')
    ? new Set(value)
    : undefined;
}

/** Formats the status annotation for a merged `templatePod`. Empty lists become null, as in Go. */
export function formatStatus(templatePod: Pod, revision: string): string {
  const { volumes, imagePullSecrets } = templatePod.spec;
  return JSON.stringify({
    initContainers: namesOrNull(initContainersOf(templatePod)),
    containers: namesOrNull(containersOf(templatePod)),
    volumes: namesOrNull(volumes ?? []),
    imagePullSecrets: namesOrNull(imagePullSecrets ?? []),
    revision: revision === '' ? 'default' : revision,
  });
}

function namesOrNull(items: readonly Named[]): string[] | null {
  return items.length === 0 ? null : items.map((item) => item.name ?? '');
}

/**
 * Removes an earlier injection: the containers in the status, the Prometheus annotations that point
 * to the proxy, and the status itself. Only templates see the result.
 */
export function stripPod(pod: Pod, status: InjectedNames, family: Family, statusPort: string): Pod {
  const containers = containersOf(pod).filter(({ name }) => !status.containers.has(name));
  const initContainers = initContainersOf(pod).filter(({ name }) => !status.initContainers.has(name));
  let stripped = status.containers.size > 0 ? withContainers(pod, containers) : pod;
  if (status.initContainers.size > 0) stripped = withInitContainers(stripped, initContainers);
  const annotations = without(pod.metadata.annotations ?? noStrings, family.keys.status);
  const ours = family.proxy && readPrometheusAnnotations(pod).port === statusPort;
  return withAnnotations(stripped, ours ? withoutPrometheusAnnotations(annotations) : annotations);
}
