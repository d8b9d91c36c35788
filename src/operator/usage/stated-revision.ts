import type { KubernetesObject } from '../../api/kubernetes.ts';
import { parseStatus } from '../../inject/pod/injection-status.ts';

/** Characters. An injector's status is a list of names. */
const statusLimit = 65_536;

/**
 * The revision that the status annotation of a pod states, if it is one that an injector could have written for this pod: readable, and when it names
 * containers, the pod has one of them. Otherwise the empty text. A pod's author can write a status that fits, too; it is no proof of an injection.
 */
export function statedRevision(status: string, { spec }: KubernetesObject): string {
  const parsed = status.length > statusLimit ? undefined : parseStatus(status);
  if (parsed?.revision === undefined) return '';
  const { containers, initContainers } = (spec ?? {}) as Record<string, unknown>;
  const there = new Set([containers, initContainers].flatMap(namesOf));
  const added = [...parsed.containers, ...parsed.initContainers];
  return added.length === 0 || added.some((name) => there.has(name)) ? parsed.revision : '';
}

function namesOf(containers: unknown): unknown[] {
  return Array.isArray(containers) ? containers.map((each: { name?: unknown } | null) => each?.name) : [];
}
