import { durationMilliseconds } from '../../api/duration.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import {
  formatPodUpdate,
  parsePodUpdate,
  type PodBefore,
  type PodUpdate,
  updateAnnotation,
} from '../../api/revision-tag/update-annotation.ts';
import {
  type PodWrite,
  type UpdateBounds,
  type UpdateJudgement,
  startedImages,
  updatePatch,
  updateProgress,
} from '../../explain/pod-update.ts';
import { hasFinalPhase } from '../../explain/pod-containers.ts';
import { remainingResize, resizePatch, resizeProgress, type Resources } from '../../explain/pod-resize.ts';
import type { JsonObject } from '../../inject/patch/json-value.ts';
import { ApiError, messageOf } from '../../kube/api-error.ts';
import type { EventRecorder } from '../../kube/event-recorder.ts';
import type { Clock } from '../../kube/ports.ts';
import type { LeaderClient } from '../controller/leading-client.ts';
import type { EventReason } from '../reasons.ts';
import type { OperatorMetrics } from '../ports.ts';
import { ImagePulls, type Prepull } from './image-pulls.ts';
import { type StaleWorkload, UpdateVerdicts, type UpdateVerdictsOptions } from './update-verdicts.ts';
import { updateManager } from '../settings.ts';
import type { PodRecord } from '../usage/pod-group.ts';
import type { SelectingWebhook } from '../../selection/selecting-webhook.ts';

export interface PodUpdatesOptions extends UpdateVerdictsOptions {
  /** Checks before each write that this process still leads. */
  readonly client: Pick<LeaderClient, 'list' | 'listAll' | 'patch' | 'create' | 'delete'>;
  /** Stores the API server's response to a write, before the watch event arrives. */
  readonly written: (pod: KubernetesObject) => void;
  readonly recorder: Pick<EventRecorder<EventReason>, 'record'>;
  readonly metrics: Pick<OperatorMetrics, 'podsUpdated'>;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
}

/**
 * Updates running pods in place, one API object at a time. What has happened is in the annotation
 * of the pods.
 */
export class PodUpdates {
  readonly #options: PodUpdatesOptions;
  readonly verdicts: UpdateVerdicts;
  readonly #pulls: ImagePulls;

  constructor(options: PodUpdatesOptions) {
    this.#options = options;
    this.verdicts = new UpdateVerdicts(options);
    this.#pulls = new ImagePulls(options);
  }

  /**
   * Updates one stale pod of a workload. Returns false if the pod cannot be updated: then the
   * verdict says why.
   * @param prepull how the node first pulls the images of the pod; undefined if it need not
   * @throws ApiError if the write fails; ImageNotPulled until the node has the images
   */
  async update(
    tag: string,
    workload: StaleWorkload,
    prepull: Prepull | undefined,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { target } = workload;
    // As the controller of a StatefulSet does, begin with the highest ordinal.
    const [next] = [...workload.pods].sort((one, other) => byName(other, one));
    if (next === undefined) return false;
    const found = await this.verdicts.inspect(tag, workload, next, this.verdicts.injectors(), signal);
    if (found === undefined || !('write' in found.judgement)) return false;
    const { pod, judgement } = found;
    const { nodeName } = pod.spec as { readonly nodeName?: string };
    if (prepull !== undefined && nodeName !== undefined)
      await this.#pulls.require(nodeName, startedImages(pod, judgement.write), prepull, signal);
    const update = { tag, target, at: this.#options.clock.now().getTime() };
    if (Object.keys(judgement.resize).length === 0) {
      await this.#commit(pod, update, judgement, signal);
      return true;
    }
    // Written first, so that the pod counts as one that is updated, also for the next leader.
    const record = formatPodUpdate({ ...update, resizing: true }, { ...judgement.before, ...unchanged });
    await this.#patch(pod, updatePatch(pod, nothing, record), signal);
    return true;
  }

  /** Writes images, labels and annotations of a pod whose resources are in effect. */
  async #commit(pod: KubernetesObject, update: PodUpdate, { write, before }: PossibleUpdate, signal: AbortSignal) {
    const { recorder, logger } = this.#options;
    const { tag, target } = update;
    const stored = await this.#patch(pod, updatePatch(pod, write, formatPodUpdate(update, before)), signal);
    const images = Object.entries(write.images).map(([container, image]) => `${container} gets ${image}`);
    const resized = Object.keys(before.resources ?? {}).map((container) => `${container} is resized`);
    const note = `updated in place by RevisionTag ${tag} to ${target}: ${[...images, ...resized].join(', ')}`;
    recorder.record(stored, { type: 'Normal', reason: 'UpdatedInPlace', action: 'Update', note });
    const { namespace, name } = pod.metadata;
    logger.info('updated a pod in place', { revisionTag: tag, pod: `${namespace}/${name}`, target });
  }

  async #patch(pod: KubernetesObject, patch: JsonObject, signal: AbortSignal, subresource?: 'resize') {
    const options = { fieldManager: updateManager, signal, subresource };
    const stored = await this.#options.client.patch(pod, 'merge', patch, options);
    this.#options.written(stored);
    return stored;
  }

  /** Continues the update of a pod, or takes it back; removes the record of a failed update. */
  async follow({ metadata, group }: PodRecord, bounds: UpdateBounds, signal: AbortSignal): Promise<void> {
    const pod = await this.verdicts.read(metadata, signal);
    const { before = nothing, ...update } = parsePodUpdate(pod?.metadata.annotations?.[updateAnnotation]) ?? {};
    if (pod === undefined || !isUpdate(update)) return;
    const now = this.#options.clock.now().getTime();
    if (update.failed === undefined && update.resizing === true && !hasFinalPhase(pod)) {
      // The tag may have moved on, and an author may have written another target into the record.
      const isWanted = group?.judgements.some(({ selectedBy }) => gives(selectedBy, update)) === true;
      const moved = `RevisionTag ${update.tag} does not give new pods ${update.target} any more`;
      const failed = isWanted ? await this.#resize(pod, update, before, bounds, signal) : moved;
      if (failed !== undefined) await this.#takeBack(pod, update, before, failed, signal, isWanted);
      return;
    }
    const progress = update.failed === undefined ? updateProgress(pod, update, before, bounds, now) : 'Done';
    if (progress === 'Updating') return;
    if (progress !== 'Done') {
      await this.#takeBack(pod, update, before, progress.failed, signal);
      return;
    }
    await this.#patch(pod, updatePatch(pod, nothing, null), signal);
    if (update.failed === undefined) this.#options.metrics.podsUpdated?.(update.tag, 'completed', 1);
    this.#options.logger.info('removed the record of an update of a pod', fieldsOf(pod, update));
  }

  /** Takes the next step of a resize. Returns why it failed. */
  async #resize(
    pod: KubernetesObject,
    update: PodUpdate,
    before: PodBefore,
    bounds: UpdateBounds,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { tag, target } = update;
    const now = this.#options.clock.now().getTime();
    const injectorOf = this.verdicts.injectors();
    if (injectorOf(target) === undefined) return `${target} cannot be loaded`;
    const judgement = await this.verdicts.judgePod(pod, target, injectorOf, signal);
    if ('obstacle' in judgement) return `${judgement.obstacle.field}: ${judgement.obstacle.reason}`;
    const { resize } = judgement;
    if (Object.keys(resize).length > 0 && now >= update.at + durationMilliseconds(bounds.readyTimeout)) {
      // No process has led for long. The time that the kubelet has for it begins now.
      await this.#patch(pod, updatePatch(pod, nothing, formatPodUpdate({ ...update, at: now }, before)), signal);
      return undefined;
    }
    if (Object.keys(resize).length > 0) return await whyRefused(() => this.#resizeTo(pod, resize, signal));
    const progress = resizeProgress(pod, update, Object.keys(before.resources ?? {}), bounds, now);
    if (progress === 'Updating') return undefined;
    if (progress !== 'Done') return progress.failed;
    const { resources } = before;
    const committed = { ...judgement, before: { ...judgement.before, ...(resources && { resources }) } };
    return await whyRefused(() => this.#commit(pod, { tag, target, at: now }, committed, signal));
  }

  #resizeTo(pod: KubernetesObject, resources: Resources, signal: AbortSignal) {
    return this.#patch(pod, resizePatch(pod, resources), signal, 'resize');
  }

  /**
   * Restores resources, then all else in one write, which also keeps why the update failed. If the
   * API server refuses the old images, the pod keeps the new ones, and the record says so.
   * @param isFailure false if nothing has failed, so that the tag may come back to the target
   */
  async #takeBack(
    pod: KubernetesObject,
    update: PodUpdate,
    before: PodBefore,
    why: string,
    signal: AbortSignal,
    isFailure = true,
  ) {
    const { tag, target, at } = update;
    const remaining = remainingResize(pod, before.resources ?? {});
    const isRemaining = Object.keys(remaining).length > 0;
    const refused = isRemaining ? await whyRefused(() => this.#resizeTo(pod, remaining, signal)) : undefined;
    const failed = refused === undefined ? why : `${why}; its resources were not restored: ${refused}`;
    const current = isRemaining && refused === undefined ? await this.verdicts.read(pod.metadata, signal) : pod;
    if (current === undefined) return;
    const restore = async (write: PodWrite, reason: string): Promise<string> => {
      const record = isFailure || refused !== undefined ? formatPodUpdate({ tag, target, at, failed: reason }) : null;
      await this.#patch(current, updatePatch(current, write, record), signal);
      return reason;
    };
    const kept = await whyRefused(() => restore(before, failed));
    const reason =
      kept === undefined
        ? failed
        : await restore({ ...before, images: {} }, `${failed}; its images were not restored: ${kept}`);
    if (isFailure) this.#options.metrics.podsUpdated?.(tag, 'failed', 1);
    this.#options.logger.warn('took back the update of a pod', { ...fieldsOf(pod, update), reason });
    const note = `the update by RevisionTag ${tag} to ${target} ${isFailure ? 'failed and ' : ''}was taken back: ${reason}`;
    this.#options.recorder.record(pod, { type: 'Warning', reason: 'UpdateTakenBack', action: 'Update', note });
  }

  /** Deletes the pods that pulled images for a tag. */
  async removePulls(tag: string, signal: AbortSignal): Promise<void> {
    await this.#pulls.remove(tag, signal);
  }
}

/** What a resize leaves as it is. */
const unchanged = { images: {}, restarts: {}, labels: {}, annotations: {} };
const nothing: PodBefore = unchanged;

/** The status codes of requests that would be refused again: no right, no such API, not valid. */
const refusals: ReadonlySet<number> = new Set([403, 404, 422]);

/** Writes, and returns why the API server refuses it, for example because of a quota. */
async function whyRefused(write: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await write();
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError) || !refusals.has(error.code)) throw error;
    return `the API server refuses the change: ${messageOf(error)}`;
  }
}

type PossibleUpdate = Extract<UpdateJudgement, { readonly write: unknown }>;

function fieldsOf({ metadata: { namespace, name } }: KubernetesObject, { tag, target }: PodUpdate) {
  return { revisionTag: tag, pod: `${namespace}/${name}`, target };
}

/** Reports whether a webhook is that of the tag of an update, and gives its target. */
function gives(webhook: SelectingWebhook | undefined, { tag, target }: PodUpdate): boolean {
  return webhook?.tag === tag && target === `${webhook.injectorConfig}.${webhook.hash ?? ''}`;
}

function isUpdate(update: Partial<PodUpdate>): update is PodUpdate {
  return update.tag !== undefined;
}

function byName(one: PodRecord, other: PodRecord): number {
  return (one.metadata.name ?? '').localeCompare(other.metadata.name ?? '', 'en', { numeric: true });
}
