import { ownName } from '../own-names.ts';

/**
 * The annotation of a pod that is being updated in place, or whose update failed. It is the only
 * record of the update. The operator removes it when the update is complete.
 */
export const updateAnnotation = ownName('update');

/** An update in place of a pod. */
export interface PodUpdate {
  readonly tag: string;
  /** The configuration that the pod gets, `<InjectorConfig>.<hash8>`. */
  readonly target: string;
  /** The time of the update, in milliseconds since 1970. */
  readonly at: number;
  /** Whether the pod is being resized. Until that is in effect, nothing else of it is changed. */
  readonly resizing?: true;
  /** Why the update failed and was taken back. */
  readonly failed?: string;
}

/** Requests and limits of a container, as in `spec.containers[].resources`. */
export type ContainerResources = Partial<
  Readonly<Record<'requests' | 'limits', Readonly<Record<string, string | number>>>>
>;

/** What a pod was before an update: by container, or null for what it lacked. */
export interface PodBefore {
  readonly images: Readonly<Record<string, string>>;
  readonly restarts: Readonly<Record<string, number>>;
  readonly labels: Readonly<Record<string, string | null>>;
  readonly annotations: Readonly<Record<string, string | null>>;
  /** The resources of containers that are resized. */
  readonly resources?: Readonly<Record<string, ContainerResources>>;
}

/** The maximum number of characters that are kept of a name, and of a failure. */
const limits = { name: 127, failure: 512 } as const;

/** Formats the annotation. @param before absent if the update failed and was taken back */
export function formatPodUpdate({ at, failed, ...update }: PodUpdate, before?: PodBefore): string {
  const end = failed === undefined ? {} : { failed: failed.slice(0, limits.failure) };
  return JSON.stringify({ ...update, at: new Date(at).toISOString(), ...end, ...(before && { before }) });
}

/** Parses the annotation. Returns undefined if it is malformed: then an author wrote it. */
export function parsePodUpdate(text: string | undefined): (PodUpdate & { readonly before?: PodBefore }) | undefined {
  if (text === undefined) return undefined;
  try {
    const { tag, target, at, resizing, failed, before } = JSON.parse(text) as Record<string, unknown>;
    const time = typeof at === 'string' ? Date.parse(at) : NaN;
    if (typeof tag !== 'string' || typeof target !== 'string' || !Number.isFinite(time)) return undefined;
    return {
      tag: tag.slice(0, limits.name),
      target: target.slice(0, limits.name),
      at: time,
      ...(resizing === true && { resizing }),
      ...(typeof failed === 'string' && { failed: failed.slice(0, limits.failure) }),
      ...(isBefore(before) && { before }),
    };
  } catch {
    return undefined;
  }
}

function isBefore(value: unknown): value is PodBefore {
  if (typeof value !== 'object' || value === null) return false;
  const { images, restarts, labels, annotations, resources = {} } = value as Record<string, unknown>;
  const isRecord = (each: unknown, ...types: readonly string[]): boolean =>
    typeof each === 'object' &&
    each !== null &&
    Object.values(each).every((one) => types.includes(one === null ? 'null' : typeof one));
  return (
    isRecord(images, 'string') &&
    isRecord(restarts, 'number') &&
    isRecord(labels, 'string', 'null') &&
    isRecord(annotations, 'string', 'null') &&
    isRecord(resources, 'object') &&
    Object.values(resources as object).every(
      (each: Record<string, unknown>) =>
        isRecord(each, 'object') && Object.values(each).every((amounts) => isRecord(amounts, 'string', 'number')),
    )
  );
}
