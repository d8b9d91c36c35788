import { durationMilliseconds } from '../../api/duration.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { hashedConfigMapName, injectedByAnnotation } from '../../api/names.ts';
import {
  formatPodUpdate,
  parsePodUpdate,
  type PodBefore,
  type PodUpdate,
  updateAnnotation,
} from '../../api/revision-tag/update-annotation.ts';
import type { InPlaceObstacle } from '../../explain/in-place.ts';
import {
  judgeUpdate,
  type PodWrite,
  type UpdateBounds,
  type UpdateJudgement,
  startedImages,
  updatePatch,
  updateProgress,
} from '../../explain/pod-update.ts';
import { containerDefaults } from '../../explain/pod-resources.ts';
import { hasFinalPhase } from '../../explain/pod-containers.ts';
import { remainingResize, resizePatch, resizeProgress, type Resources } from '../../explain/pod-resize.ts';
import type { NamedInjector } from '../../explain/predict-pod.ts';
import { injectedByOf } from '../../explain/stored-pod.ts';
import { loadInjector } from '../../inject/injector.ts';
import type { JsonObject } from '../../inject/patch/json-value.ts';
import { ApiError, isNotFound, messageOf } from '../../kube/api-error.ts';
import type { EventRecorder } from '../../kube/event-recorder.ts';
import type { Clock, Logger } from '../../kube/ports.ts';
import { resourceKind, type ResourceKind } from '../../kube/resource-kinds.ts';
import { type ClusterView, namespaces, pods } from '../cluster-view.ts';
import { servedFiles } from '../configurations/last-good.ts';
import type { LeaderClient } from '../controller/leading-client.ts';
import type { EventReason } from '../reasons.ts';
import type { OperatorMetrics } from '../ports.ts';
import { proxyConfigResource, proxyConfigs } from '../replicas/proxy-config-resources.ts';
import { ImagePulls, type Prepull } from './image-pulls.ts';
import { resyncMs, updateManager } from '../settings.ts';
import type { PodRecord } from '../usage/pod-group.ts';
import type { SelectingWebhook } from '../../selection/selecting-webhook.ts';

export interface PodUpdatesOptions {
  /** Checks before each write that this process still leads. */
  readonly client: Pick<LeaderClient, 'list' | 'listAll' | 'patch' | 'create' | 'delete'>;
  readonly view: Pick<ClusterView, 'configMaps' | 'kubelets'>;
  /** The namespace of the operator, with the ConfigMaps of configurations. */
  readonly namespace: string;
  /** Stores the API server's response to a write, before the watch event arrives. */
  readonly written: (pod: KubernetesObject) => void;
  readonly recorder: Pick<EventRecorder<EventReason>, 'record'>;
  readonly metrics: Pick<OperatorMetrics, 'podsUpdated'>;
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly logger: Logger;
}

/** A workload with stale pods. */
export interface StaleWorkload {
  readonly key: string;
  /** The configuration that new pods would get, as `N.<hash8>`. */
  readonly target: string;
  readonly pods: readonly PodRecord[];
}

/** Whether the pods of a workload can be updated in place, by one for each kubelet version. */
export interface UpdateVerdict {
  readonly target: string;
  /** What stands in the way. */
  readonly obstacle?: InPlaceObstacle;
  /** Why the pod could not be judged. */
  readonly problem?: string;
  /** When the pod was judged, according to `clock.monotonic`. */
  readonly at: number;
}

/** The maximum number of workloads to judge in a pass. Each costs four requests or more. */
const mostJudged = 10;
/**
 * How long a verdict holds, also outside the windows of the tag, when it is only shown; and how
 * long to wait after a failure. In milliseconds.
 */
const validMs = { verdict: resyncMs, shown: 3_600_000, problem: 60_000 };

/**
 * The limits of a template, as on the main thread of a replica: ten times the cost of Istio's
 * sidecar template, and a few milliseconds. A pod that exceeds them is not updated in place.
 */
const renderLimits = { steps: 20_000, outputBytes: 256 * 1024, work: 1_500_000 };

/**
 * Updates running pods in place, one API object at a time. What has happened is in the annotation
 * of the pods; a verdict on a workload is remembered until it expires, because it costs requests.
 */
export class PodUpdates {
  readonly #options: PodUpdatesOptions;
  /** The verdicts on stale workloads, by tag and `workloadKey`. */
  readonly #verdicts = new Map<string, Map<string, UpdateVerdict>>();
  readonly #pulls: ImagePulls;

  constructor(options: PodUpdatesOptions) {
    this.#options = options;
    this.#pulls = new ImagePulls(options);
  }

  /**
   * Returns the verdict on a workload; undefined until one of its pods is judged.
   * @param isOpen whether updates may begin now
   */
  verdictOf(tag: string, { key, target }: Omit<StaleWorkload, 'pods'>, isOpen: boolean): UpdateVerdict | undefined {
    const found = this.#verdicts.get(tag)?.get(key);
    if (found?.target !== target) return undefined;
    const valid = found.problem === undefined ? (isOpen ? 'verdict' : 'shown') : 'problem';
    return this.#options.clock.monotonic() < found.at + validMs[valid] ? found : undefined;
  }

  /** Judges workloads without a verdict, at most {@link mostJudged}, and forgets all others. */
  async judge(tag: string, stale: readonly StaleWorkload[], isOpen: boolean, signal: AbortSignal): Promise<void> {
    const before = this.#verdicts.get(tag);
    const kept = new Map<string, UpdateVerdict>();
    for (const { key } of stale) {
      const known = before?.get(key);
      if (known !== undefined) kept.set(key, known);
    }
    this.#verdicts.set(tag, kept);
    const injectors = this.#injectors();
    const unknown = stale.filter((each) => this.verdictOf(tag, each, isOpen) === undefined);
    // The oldest verdicts first: new ones may expire before all workloads had their turn.
    const judgedAt = ({ key }: StaleWorkload): number => kept.get(key)?.at ?? -1;
    const inTurn = unknown.sort((one, other) => judgedAt(one) - judgedAt(other)).slice(0, mostJudged);
    for (const workload of inTurn) {
      for (const pod of this.#onePerKubelet(workload.pods)) {
        await this.#inspect(tag, workload, pod, injectors, signal);
        const { obstacle, problem } = this.verdictOf(tag, workload, isOpen) ?? {};
        if (obstacle !== undefined || problem !== undefined) break;
      }
    }
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
    const found = await this.#inspect(tag, workload, next, this.#injectors(), signal);
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
    const pod = await this.#read(metadata, signal);
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
    const injectorOf = this.#injectors();
    if (injectorOf(target) === undefined) return `${target} cannot be loaded`;
    const judgement = await this.#judge(pod, target, injectorOf, signal);
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
    const current = isRemaining && refused === undefined ? await this.#read(pod.metadata, signal) : pod;
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

  /** Forgets all tags except these. */
  keepOnly(tags: ReadonlySet<string>): void {
    for (const tag of this.#verdicts.keys()) if (!tags.has(tag)) this.#verdicts.delete(tag);
  }

  /** Returns one pod for each version of the kubelet, which decides what it does with an image. */
  #onePerKubelet(pods: readonly PodRecord[]): Iterable<PodRecord> {
    const kubelets = this.#options.view.kubelets();
    const versions = new Map(kubelets.map(({ name, kubeletVersion }) => [name, kubeletVersion]));
    return new Map(pods.map((pod) => [versions.get(pod.node ?? ''), pod])).values();
  }

  /** Reads and judges a pod, and remembers the verdict; undefined if there is none. */
  async #inspect(
    tag: string,
    { key, target }: Omit<StaleWorkload, 'pods'>,
    { metadata }: PodRecord,
    injectorOf: (entry: string) => NamedInjector | undefined,
    signal: AbortSignal,
  ): Promise<{ readonly pod: KubernetesObject; readonly judgement: UpdateJudgement } | undefined> {
    const remember = (verdict: Pick<UpdateVerdict, 'obstacle' | 'problem'>): void => {
      this.#verdicts.get(tag)?.set(key, { ...verdict, target, at: this.#options.clock.monotonic() });
    };
    try {
      const pod = await this.#read(metadata, signal);
      if (pod === undefined) return undefined;
      const entries = injectedByOf(pod);
      if (entries.includes(target)) {
        // An author can write any list. Without a verdict, such pods would delay all others.
        if (entries.length > 1) remember({ obstacle: namesBoth(target) });
        return undefined;
      }
      const judgement = await this.#judge(pod, target, injectorOf, signal);
      remember('obstacle' in judgement ? { obstacle: judgement.obstacle } : {});
      return { pod, judgement };
    } catch (error) {
      if (!(error instanceof ApiError) || error.reason === 'NotLeading') throw error;
      remember({ problem: `its pods cannot be compared with new ones: ${messageOf(error)}` });
      return undefined;
    }
  }

  async #judge(
    pod: KubernetesObject,
    target: string,
    injectorOf: (entry: string) => NamedInjector | undefined,
    signal: AbortSignal,
  ): Promise<UpdateJudgement> {
    const { namespace = '' } = pod.metadata;
    const after = injectorOf(target);
    if (after === undefined) throw new ApiError({ code: 0, reason: 'NotFound', message: `${target} cannot be loaded` });
    const entries = injectedByOf(pod).map(injectorOf);
    const before = entries.find((each) => each?.injector.family.keys.status === after.injector.family.keys.status);
    const isReadingProxyConfig = after.injector.readsProxyConfig || before?.injector.readsProxyConfig === true;
    const [limitRanges, services, [inNamespace], resources] = await Promise.all([
      this.#list(resourceKind('v1', 'LimitRange'), { namespace, signal }),
      this.#list(resourceKind('v1', 'Service'), { namespace, signal }),
      this.#list(namespaces, { fieldSelector: `metadata.name=${namespace}`, signal }),
      isReadingProxyConfig ? this.#list(proxyConfigs, { signal }) : [],
    ]);
    const nodes = this.#options.view.kubelets();
    const { annotations = {} } = inNamespace?.metadata ?? {};
    const request = { namespace, path: '/inject', namespaceMetadata: { annotations }, nodes };
    const { nodeName } = pod.spec as { readonly nodeName?: string };
    const selected = new Set(services.flatMap(({ spec }) => Object.keys((spec as Spec | undefined)?.selector ?? {})));
    return judgeUpdate(
      pod,
      before,
      after,
      {
        request: { ...request, proxyConfigs: resources.map(proxyConfigResource) },
        containerDefaults: containerDefaults(limitRanges),
      },
      {
        kubeletVersion: nodes.find(({ name }) => name === nodeName)?.kubeletVersion,
        isScheduled: nodeName !== undefined,
        isSelected: (label) => selected.has(label),
      },
    );
  }

  async #list(
    resource: ResourceKind,
    options: { readonly namespace?: string; readonly fieldSelector?: string; readonly signal: AbortSignal },
  ): Promise<readonly KubernetesObject[]> {
    try {
      return (await this.#options.client.listAll(resource, options)).items;
    } catch (error) {
      if (isNotFound(error)) return [];
      throw error;
    }
  }

  async #read({ name = '', namespace = '', uid }: PodRecord['metadata'], signal: AbortSignal) {
    const fieldSelector = `metadata.name=${name}`;
    const { items } = await this.#options.client.list(pods, { namespace, fieldSelector, signal });
    return items.find(({ metadata }) => metadata.uid === uid && metadata.deletionTimestamp === undefined);
  }

  /** Returns a function that loads each configuration, as `N.<hash8>`, once. */
  #injectors(): (entry: string) => NamedInjector | undefined {
    const { view, namespace } = this.#options;
    const loaded = new Map<string, NamedInjector | undefined>();
    const load = (entry: string): NamedInjector | undefined => {
      const [name, hash] = [entry.slice(0, -9), entry.slice(-8)] as const;
      const configMap = view.configMaps.get(hashedConfigMapName(name, hash), namespace);
      const served = configMap && servedFiles(configMap);
      try {
        return served && { name, hash, injector: loadInjector(served.files, { limits: renderLimits }) };
      } catch (error) {
        this.#options.logger.warn('failed to load a configuration', { configuration: entry, error: messageOf(error) });
        return undefined;
      }
    };
    return (entry) => {
      if (!loaded.has(entry)) loaded.set(entry, load(entry));
      return loaded.get(entry);
    };
  }
}

function namesBoth(target: string): InPlaceObstacle {
  const field = `metadata.annotations[${JSON.stringify(injectedByAnnotation)}]`;
  return { field, reason: `names an earlier configuration of the pod, too, not only ${target}` };
}

interface Spec {
  readonly selector?: Readonly<Record<string, string>>;
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
