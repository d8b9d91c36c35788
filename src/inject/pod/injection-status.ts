import { isJsonObject } from '../patch/json-value.ts';
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

/** What an injector has added to a pod, by name. */
export interface InjectionStatus {
  readonly initContainers: ReadonlySet<string>;
  readonly containers: ReadonlySet<string>;
  /** Absent from older ones. */
  readonly revision?: string;
  /** Whether all members have their types: Istio takes nothing off by a status that has not (injectionStatus), but knows its containers (parseStatus). */
  readonly isTyped: boolean;
}

const nothing: InjectionStatus = { initContainers: new Set(), containers: new Set(), isTyped: true };

/** The status annotation's content; `undefined` when it is no status. Older ones carry a version too, newer ones a revision. */
export function parseStatus(text: string): InjectionStatus | undefined {
  let status: unknown;
  try {
    status = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (status === null) return nothing;
  if (!isJsonObject(status)) return undefined;
  const initContainers = namesIn(status.initContainers);
  const containers = namesIn(status.containers);
  const others = [status.volumes, status.imagePullSecrets].map(namesIn);
  if (initContainers === undefined || containers === undefined) return undefined;
  const revision = status.revision ?? undefined;
  const isTyped = !others.includes(undefined) && (revision === undefined || typeof revision === 'string');
  return { initContainers, containers, isTyped, ...(typeof revision === 'string' ? { revision } : {}) };
}

function namesIn(value: unknown): ReadonlySet<string> | undefined {
  if (value === undefined || value === null) return new Set();
  return Array.isArray(value) && value.every((name): name is string => typeof name === 'string')
    ? new Set(value)
    : undefined;
}

/** The status annotation of a pod into which `templatePod` was merged. Lists that are empty are null, as in Go. */
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
 * The pod as it was before an earlier injection, as far as that can be known: without the containers that the status names, without the
 * annotations that led Prometheus to the proxy, without the status. Templates see this pod; nothing else of it reaches the result.
 */
export function stripPod(pod: Pod, status: InjectionStatus, family: Family, statusPort: string): Pod {
  const containers = containersOf(pod).filter(({ name }) => !status.containers.has(name));
  const initContainers = initContainersOf(pod).filter(({ name }) => !status.initContainers.has(name));
  let stripped = status.containers.size > 0 ? withContainers(pod, containers) : pod;
  if (status.initContainers.size > 0) stripped = withInitContainers(stripped, initContainers);
  const annotations = without(pod.metadata.annotations ?? noStrings, family.keys.status);
  const ours = family.proxy && readPrometheusAnnotations(pod).port === statusPort;
  return withAnnotations(stripped, ours ? withoutPrometheusAnnotations(annotations) : annotations);
}
