import type { Family } from '../configuration/family.ts';
import type { InjectionStatus } from './injection-status.ts';
import {
  containersOf,
  initContainersOf,
  noStrings,
  withAnnotations,
  withContainers,
  withInitContainers,
  type Pod,
} from './pod.ts';
import { readPrometheusAnnotations, withoutPrometheusAnnotations } from './prometheus-annotations.ts';
import { without } from './without.ts';

/**
 * The pod as it was before an earlier injection, as far as that can be known: without the containers that the status names, without the
 * annotations that led Prometheus to the proxy, without the status. Templates see this pod; nothing else of it reaches the result.
 */
export function stripPod(pod: Pod, status: InjectionStatus, family: Family, statusPort: string): Pod {
  let stripped = pod;
  if (status.containers.size > 0) {
    stripped = withContainers(
      stripped,
      containersOf(pod).filter(({ name }) => !status.containers.has(name)),
    );
  }
  if (status.initContainers.size > 0) {
    stripped = withInitContainers(
      stripped,
      initContainersOf(pod).filter(({ name }) => !status.initContainers.has(name)),
    );
  }
  const annotations = without(pod.metadata.annotations ?? noStrings, family.keys.status);
  const ours = family.proxy && readPrometheusAnnotations(pod).port === statusPort;
  return withAnnotations(stripped, ours ? withoutPrometheusAnnotations(annotations) : annotations);
}
