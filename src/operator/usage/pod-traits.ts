import { createHash } from 'node:crypto';
import { injectedByAnnotation } from '../../api/names.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { readPodFacts } from '../../inject/pod/pod-facts.ts';
import { type RolloutWorkload, workloadKey, workloadOfPod } from '../../routing/workload-key.ts';
import { injectionStatus } from '../../inject/pod/injection-status.ts';

/** The names of the labels and annotations that families and selectors use. */
export interface RelevantNames {
  readonly labels: ReadonlySet<string>;
  readonly annotations: ReadonlySet<string>;
  /** The status annotations of the families. */
  readonly statuses: ReadonlySet<string>;
}

/**
 * The properties of a pod that decide its judgement, usually equal for all pods of a workload.
 * Authors cannot make them large: Kubernetes limits names and labels, and other text is truncated.
 */
export interface PodTraits {
  readonly namespace: string;
  readonly workload: Omit<RolloutWorkload, 'namespace'>;
  readonly hostNetwork: boolean;
  readonly windows?: boolean;
  /** The relevant labels. */
  readonly labels: Readonly<Record<string, string>>;
  /** The relevant annotations, truncated. A status annotation is replaced by its revision. */
  readonly annotations: Readonly<Record<string, string>>;
  /** The annotation `sidecar-injector.io/config` (`N.<hash8>,…`), truncated, or ''. */
  readonly injectedBy: string;
}

/** The maximum length of an annotation, in characters. */
const annotationLimit = 32;
/** The maximum length of a kind and name that no object can have, in characters. */
const claimedLimit = 317;
/** The maximum length of label values and revisions, in characters. */
const labelLimit = 63;
export const injectedByLimit = 512;
/** The maximum number of configurations per pod. A pod belongs to few families. */
const carriedLimit = 8;
/** `N.<hash8>` */
const entryPattern = /^[-a-z0-9]{1,63}\.[0-9a-f]{8}$/;
/** The annotation of the mirror pod of a static pod. */
export const mirrorAnnotation = 'kubernetes.io/config.mirror';

/**
 * Returns the traits of a pod. Returns undefined if the pod does not count: it has ended, is being
 * deleted, or is the mirror of a static pod, which no webhook can change.
 */
export function traitsOf(pod: KubernetesObject, relevant: RelevantNames): PodTraits | undefined {
  const { metadata } = pod;
  const { phase } = (pod.status ?? {}) as { phase?: unknown };
  if (phase === 'Succeeded' || phase === 'Failed' || metadata.deletionTimestamp !== undefined) return undefined;
  const { namespace, hostNetwork, windows, labels, annotations } = readPodFacts(pod, '');
  if (Object.hasOwn(annotations, mirrorAnnotation)) return undefined;
  const { kind, name, claimed } = workloadOfPod(pod, namespace);
  return {
    namespace,
    workload: { kind, name, ...(claimed !== undefined && { claimed: cut(claimed, claimedLimit) }) },
    hostNetwork,
    ...(windows && { windows }),
    labels: pick(labels, relevant.labels, labelLimit),
    annotations: {
      ...pick(annotations, relevant.annotations, annotationLimit),
      ...pick(annotations, relevant.statuses, labelLimit, (status) => statedRevision(status, pod)),
    },
    injectedBy: cut(annotations[injectedByAnnotation] ?? '', injectedByLimit),
  };
}

/** An InjectorConfig and the hash of one of its configurations. */
export interface CarriedConfiguration {
  readonly name: string;
  readonly hash: string;
}

/**
 * Returns the configurations that injected a pod according to its annotation, which an author can
 * forge. Returns only the first eight, because each name is stored several times.
 */
export function carriedBy({ injectedBy }: Pick<PodTraits, 'injectedBy'>): CarriedConfiguration[] {
  return injectedBy
    .split(',', carriedLimit)
    .filter((entry) => entryPattern.test(entry))
    .map((entry) => ({ name: entry.slice(0, -9), hash: entry.slice(-8) }));
}

/** Returns a hash of the traits. */
export function traitsKey(traits: PodTraits): string {
  const { namespace, workload, hostNetwork, windows, labels, annotations, injectedBy } = traits;
  const sorted = (record: Readonly<Record<string, string>>) =>
    Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
  const owner = workloadKey({ namespace, ...workload });
  const text = JSON.stringify([owner, hostNetwork, windows, sorted(labels), sorted(annotations), injectedBy]);
  return createHash('sha256').update(text).digest('base64url');
}

function pick(
  from: Readonly<Record<string, string>>,
  names: ReadonlySet<string>,
  limit: number,
  read = (value: string): string => value,
): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of names) {
    const value = Object.hasOwn(from, name) ? from[name] : undefined;
    if (value !== undefined) picked[name] = cut(read(value), limit);
  }
  return picked;
}

/** Truncates a text. Copies the result, because a slice would keep the whole text in memory. */
export function cut(text: string, limit: number): string {
  return text.length <= limit ? text : Buffer.from(text.slice(0, limit)).toString();
}

/** The maximum length of a status annotation, in characters. */
const statusLimit = 65_536;

/**
 * Returns the revision in a pod's status annotation, or '' if the annotation does not parse or the
 * pod has none of the containers that it names. An author can still forge a plausible annotation.
 */
export function statedRevision(status: string, { spec }: KubernetesObject): string {
  const parsed = status.length > statusLimit ? undefined : injectionStatus(status);
  if (parsed?.revision === undefined) return '';
  const { containers, initContainers } = (spec ?? {}) as Record<string, unknown>;
  const present = new Set([containers, initContainers].flatMap(namesOf));
  const added = [...parsed.containers, ...parsed.initContainers];
  return added.length === 0 || added.some((name) => present.has(name)) ? parsed.revision : '';
}

function namesOf(containers: unknown): unknown[] {
  return Array.isArray(containers) ? containers.map((each: { name?: unknown } | null) => each?.name) : [];
}
