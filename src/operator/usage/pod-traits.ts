import { createHash } from 'node:crypto';
import { injectedByAnnotation } from '../../api/names.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { readPodFacts } from '../../inject/pod/pod-facts.ts';
import { workloadOfPod } from '../../routing/workload-key.ts';
import { injectionStatus } from '../../inject/pod/injection-status.ts';

/** The labels and annotations that anybody asks for: those of the families and those that selectors name. */
export interface RelevantNames {
  readonly labels: ReadonlySet<string>;
  readonly annotations: ReadonlySet<string>;
  /** The status annotations of the families. */
  readonly statuses: ReadonlySet<string>;
}

/**
 * What tells whether a pod has what it would get now; pods of one workload have the same. Nothing whose size a pod's author chooses: names and
 * labels are bounded, the rest is cut.
 */
export interface PodTraits {
  readonly namespace: string;
  /** The kind and name of what makes pods like this one, or of the pod itself. */
  readonly workload: { readonly kind: string; readonly name: string };
  readonly hostNetwork: boolean;
  /** The relevant ones. */
  readonly labels: Readonly<Record<string, string>>;
  /** The relevant ones, cut after 32 characters. A status annotation is kept as the revision that it states, or empty ({@link statedRevision}). */
  readonly annotations: Readonly<Record<string, string>>;
  /** `N.<hash8>,…`, cut; empty when none of ours has injected it. */
  readonly injectedBy: string;
}

/** A pod's author may have written anything into an annotation. */
const annotationLimit = 32;
/** A label's value, and a revision, have no more characters. */
const labelLimit = 63;
export const injectedByLimit = 512;
/** A pod is in few families of injectors at once. */
const carriedLimit = 8;
/** `N.<hash8>` */
const entryPattern = /^[-a-z0-9]{1,63}\.[0-9a-f]{8}$/;
/** On the mirror of a static pod. */
export const mirrorAnnotation = 'kubernetes.io/config.mirror';

/**
 * The traits of a pod as the API server sends it. Undefined where nobody asks: the pod has ended, is on its way out, or is the mirror of a static
 * pod, which no webhook can change.
 */
export function traitsOf(pod: KubernetesObject, relevant: RelevantNames): PodTraits | undefined {
  const { metadata } = pod;
  const { phase } = (pod.status ?? {}) as { phase?: unknown };
  if (phase === 'Succeeded' || phase === 'Failed' || metadata.deletionTimestamp !== undefined) return undefined;
  const { namespace, hostNetwork, labels, annotations } = readPodFacts(pod, '');
  if (Object.hasOwn(annotations, mirrorAnnotation)) return undefined;
  const { kind, name } = workloadOfPod(pod, namespace);
  return {
    namespace,
    workload: { kind: cut(kind, 63), name: cut(name, 253) },
    hostNetwork,
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
 * The configurations that have injected a pod, as its annotation says: its author may have written it. Of a list that somebody else has written the
 * first few: each name is kept in several places.
 */
export function carriedBy({ injectedBy }: Pick<PodTraits, 'injectedBy'>): CarriedConfiguration[] {
  return injectedBy
    .split(',', carriedLimit)
    .filter((entry) => entryPattern.test(entry))
    .map((entry) => ({ name: entry.slice(0, -9), hash: entry.slice(-8) }));
}

/** The same short text for the same traits, and hardly ever for others. */
export function traitsKey(traits: PodTraits): string {
  const { namespace, workload, hostNetwork, labels, annotations, injectedBy } = traits;
  const sorted = (record: Readonly<Record<string, string>>) =>
    Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
  const { kind, name } = workload;
  const text = JSON.stringify([namespace, kind, name, hostNetwork, sorted(labels), sorted(annotations), injectedBy]);
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

/** A copy of its own: a slice would keep the whole text in memory. */
export function cut(text: string, limit: number): string {
  return text.length <= limit ? text : Buffer.from(text.slice(0, limit)).toString();
}

/** Characters. An injector's status is a list of names. */
const statusLimit = 65_536;

/**
 * The revision that the status annotation of a pod states, if it is one that an injector could have written for this pod: readable, and when it names
 * containers, the pod has one of them. Otherwise the empty text. A pod's author can write a status that fits, too; it is no proof of an injection.
 */
export function statedRevision(status: string, { spec }: KubernetesObject): string {
  const parsed = status.length > statusLimit ? undefined : injectionStatus(status);
  if (parsed?.revision === undefined) return '';
  const { containers, initContainers } = (spec ?? {}) as Record<string, unknown>;
  const there = new Set([containers, initContainers].flatMap(namesOf));
  const added = [...parsed.containers, ...parsed.initContainers];
  return added.length === 0 || added.some((name) => there.has(name)) ? parsed.revision : '';
}

function namesOf(containers: unknown): unknown[] {
  return Array.isArray(containers) ? containers.map((each: { name?: unknown } | null) => each?.name) : [];
}
