import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { durationMilliseconds } from '../api/duration.ts';
import { type PodBefore, type PodUpdate, updateAnnotation } from '../api/revision-tag/update-annotation.ts';
import { listOf } from '../inject/kubernetes/admission-pod.ts';
import { objectAt } from '../inject/objects/workload-kinds.ts';
import { isJsonObject, type JsonObject } from '../inject/patch/json-value.ts';
import { sameImage } from './image-reference.ts';
import { type InPlaceObstacle, inPlaceObstacles, type InPlaceSituation } from './in-place.ts';
import { podChanges } from './pod-changes.ts';
import {
  changedContainers,
  containersByKey,
  hasFinalPhase,
  isUnschedulable,
  nameIn,
  statusOf,
} from './pod-containers.ts';
import { remainingResize, resizeOf, type Resources, type UpdateProgress } from './pod-resize.ts';
import {
  asAdmitted,
  type CreationContext,
  isGenerated,
  type NamedInjector,
  originOf,
  predictPod,
} from './predict-pod.ts';

/** The fields that an update in place writes; null removes a label or annotation. */
export type PodWrite = Pick<PodBefore, 'images' | 'labels' | 'annotations'>;

/** What an update in place would write, or what stands in its way. */
export type UpdateJudgement =
  | { readonly obstacle: InPlaceObstacle }
  | {
      /** What changes first, by the subresource `resize`. */
      readonly resize: Resources;
      readonly write: PodWrite;
      readonly before: PodBefore;
    };

/**
 * Judges whether a running pod can become a new pod in place, as `injector diff` does.
 * @param by the injector that injected the pod; undefined if its configuration is gone
 * @param after the injector of new pods
 */
export function judgeUpdate(
  stored: KubernetesObject,
  by: NamedInjector | undefined,
  after: NamedInjector,
  context: CreationContext,
  situation: Omit<InPlaceSituation, 'family'>,
): UpdateJudgement {
  const cannot = (field: string, reason: string): UpdateJudgement => ({ obstacle: { field, reason } });
  if (by === undefined)
    return cannot('metadata.annotations', 'the configuration that injected the pod does not exist any more');
  const { pod, changedByOthers, finish } = originOf(stored, by, context);
  const predicted = predictPod(pod, after, context);
  if (predicted.outcome !== 'Injected' || predicted.pod === undefined)
    return cannot('spec', `a new pod would not be injected: ${predicted.message}`);
  const [running, wanted] = [asAdmitted(stored), finish(predicted.pod)];
  const changes = podChanges(running, wanted, isGenerated);
  const { family } = after.injector;
  const [obstacle] = inPlaceObstacles(running, wanted, changes, changedByOthers, { ...situation, family });
  if (obstacle !== undefined) return { obstacle };
  const resize = resizeOf(running, wanted, changes);
  const images = differences(imagesOf(running), imagesOf(wanted), (old, now) => !sameImage(old, now));
  const [labels, oldLabels] = mapDifference(running, wanted, 'labels');
  const [annotations, oldAnnotations] = mapDifference(running, wanted, 'annotations');
  const restarts = Object.fromEntries(Object.keys(images).map((key) => [key, restartsOf(stored, key)]));
  const oldImages = Object.fromEntries(Object.keys(images).map((key) => [key, imagesOf(running)[key] ?? '']));
  const before = { images: oldImages, restarts, labels: oldLabels, annotations: oldAnnotations };
  return {
    resize: resize.after,
    write: { images, labels, annotations },
    before: Object.keys(resize.before).length === 0 ? before : { ...before, resources: resize.before },
  };
}

/**
 * Returns the merge patch of an update. Its uid and resourceVersion make the API server refuse the
 * patch if the pod is another one, or has changed.
 * @param record the value of {@link updateAnnotation}; null removes it
 */
export function updatePatch(stored: KubernetesObject, write: PodWrite, record: string | null): JsonObject {
  const { uid, resourceVersion } = stored.metadata;
  const spec = changedContainers(stored, (key) => {
    const image = write.images[key];
    return image === undefined ? undefined : { image };
  });
  const annotations = { ...write.annotations, [updateAnnotation]: record };
  const labels = Object.keys(write.labels).length === 0 ? {} : { labels: { ...write.labels } };
  return {
    metadata: { uid, resourceVersion, annotations, ...labels },
    ...(Object.keys(spec).length === 0 ? {} : { spec }),
  };
}

/** Returns the images that the kubelet of a running pod starts because of an update. */
export function startedImages({ spec, status }: KubernetesObject, { images }: Pick<PodWrite, 'images'>): string[] {
  const pod = { spec, status } as JsonObject;
  const started = Object.entries(images).filter(([key]) => !isFinished(pod, key, statusOf(pod, key)));
  return [...new Set(started.map(([, image]) => image))];
}

/** The bounds of an update: the fields of `spec.strategy.restart`. */
export interface UpdateBounds {
  readonly minReadySeconds: number;
  readonly readyTimeout: string;
}

/** How long a container may be away, in ms: the kubelet pulls after it ends the old one. */
const awayMs = 60_000;

/** The reasons with which a container waits in vain. */
const vain: ReadonlySet<unknown> = new Set([
  'CrashLoopBackOff',
  'RunContainerError',
  'CreateContainerError',
  'CreateContainerConfigError',
  'StartError',
  'ErrImagePull',
  'ImagePullBackOff',
  'ErrImageNeverPull',
  'InvalidImageName',
]);

/** The reasons that a container has only after the kubelet has created it. */
const afterCreation: ReadonlySet<unknown> = new Set(['CrashLoopBackOff', 'RunContainerError', 'StartError']);

/**
 * Returns how far the update of a pod is. The evidence is that the kubelet has restarted each
 * container with a new image once, and that the pod is then Ready for `minReadySeconds`. The status
 * of a native sidecar whose image cannot be pulled has no reason, so only the time shows it. If the
 * container waited before the update, its old reason stays while the kubelet pulls the new image.
 * @param now in milliseconds since 1970
 */
export function updateProgress(
  stored: KubernetesObject,
  { at }: PodUpdate,
  { restarts, images, resources = {} }: Pick<PodBefore, 'restarts' | 'images' | 'resources'>,
  { minReadySeconds, readyTimeout }: UpdateBounds,
  now: number,
): UpdateProgress {
  const pod = { spec: stored.spec, status: stored.status } as JsonObject;
  // A Job may end while its sidecar is updated, and no kubelet has seen a pod without a node.
  if (hasFinalPhase(pod) || isUnschedulable(pod)) return 'Done';
  const timeout = durationMilliseconds(readyTimeout);
  const isOver = (milliseconds: number): boolean => now >= at + milliseconds;
  let since = at;
  let isStarted = true;
  const followed: string[] = [];
  for (const [key, before] of Object.entries(restarts)) {
    const image = imagesOf(pod)[key] ?? '';
    const found = statusOf(pod, key);
    if (isFinished(pod, key, found)) continue;
    const which = `${nameIn(key)} with image ${image}`;
    followed.push(which);
    const failed = (why: string): UpdateProgress => ({ failed: `${which} ${why}` });
    const waiting = objectAt(found, ['state', 'waiting']);
    const count = Number(found.restartCount ?? 0);
    const isOld = (count <= before && afterCreation.has(waiting.reason)) || names(waiting.message, images[key], image);
    if (vain.has(waiting.reason) && !isOld)
      return failed(`waits: ${[waiting.reason, waiting.message].filter(Boolean).join(': ')}`);
    if (count > Math.max(before, 0) + 1) return failed('crashes');
    const { startedAt } = objectAt(found, ['state', 'running']);
    if (startedAt === undefined && isOver(Math.min(timeout, awayMs)))
      return failed('does not start: its image may not exist, or takes too long to pull');
    if (startedAt === undefined || count <= before) isStarted = false;
    else since = Math.max(since, timeOf(startedAt));
  }
  const ready = listOf(objectAt(pod, ['status']).conditions).find(({ type }) => type === 'Ready');
  const isReady = isStarted && ready?.status === 'True';
  if (!isReady && isOver(timeout)) {
    const why = isStarted ? 'is not Ready' : 'still has its old containers';
    return { failed: [`the pod ${why} after ${readyTimeout}`, ...followed].join(', ') };
  }
  // The first of two writes has taken it back. Half of an update would make the pod say a lie.
  const isResizedBack = Object.keys(remainingResize(stored, resources)).length === 0;
  if (Object.keys(resources).length > 0 && isResizedBack)
    return { failed: ['its resources are already the old ones again', ...followed].join(', ') };
  const readyAt = Math.max(since, timeOf(ready?.lastTransitionTime));
  return isReady && now >= readyAt + minReadySeconds * 1000 ? 'Done' : 'Updating';
}

/** Returns a time of a status in milliseconds since 1970; 0 if it is malformed. */
function timeOf(text: unknown): number {
  return typeof text === 'string' ? Date.parse(text) || 0 : 0;
}

/** Returns the image of each container, by `<list>/<name>`. */
function imagesOf(pod: JsonObject): Record<string, string> {
  return Object.fromEntries(Object.entries(containersByKey(pod)).map(([key, { image }]) => [key, String(image)]));
}

function differences(
  old: Readonly<Record<string, string>>,
  now: Readonly<Record<string, string>>,
  differ: (old: string, now: string) => boolean,
): Record<string, string> {
  const changed = Object.entries(now).filter(([key, value]) => old[key] !== undefined && differ(old[key], value));
  return Object.fromEntries(changed);
}

/** Returns the members of a map of the metadata that change, after and before; null if absent. */
function mapDifference(running: JsonObject, wanted: JsonObject, map: 'labels' | 'annotations') {
  const [old, now] = [objectAt(running, ['metadata', map]), objectAt(wanted, ['metadata', map])];
  const changed = [...new Set([...Object.keys(old), ...Object.keys(now)])].filter(
    (key) => old[key] !== now[key] && !isGenerated(`metadata.${map}[${JSON.stringify(key)}]`),
  );
  const valuesIn = (values: JsonObject): Record<string, string | null> =>
    Object.fromEntries(changed.map((key) => [key, (values[key] as string | undefined) ?? null]));
  return [valuesIn(now), valuesIn(old)] as const;
}

/**
 * Returns how often a container has restarted; -1 if the kubelet has not created it yet, because
 * its first start is not a restart.
 */
function restartsOf(stored: KubernetesObject, key: string): number {
  const status = statusOf(stored, key);
  const isWaiting = isJsonObject(objectAt(status, ['state']).waiting);
  const isCreated = Object.keys(objectAt(status, ['lastState', 'terminated'])).length > 0;
  const count = Number(status.restartCount ?? 0);
  return count === 0 && !isCreated && (isWaiting || status.name === undefined) ? -1 : count;
}

/** Reports whether a message of the kubelet names an old image, and not the new one. */
function names(message: unknown, old: string | undefined, image: string): boolean {
  return typeof message === 'string' && old !== undefined && message.includes(old) && !message.includes(image);
}

/** Reports whether a container is an ordinary init container, which the kubelet leaves alone. */
function isFinished(pod: JsonObject, key: string, status: JsonObject): boolean {
  const isOrdinary = key.startsWith('init') && containersByKey(pod)[key]?.restartPolicy !== 'Always';
  return isOrdinary && Object.keys(objectAt(status, ['state', 'terminated'])).length > 0;
}
