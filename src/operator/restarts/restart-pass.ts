import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { RevisionTag, RestartStatus } from '../../api/revision-tag/revision-tag.ts';
import { isInPlace, restartBounds } from '../../api/revision-tag/rollout-strategy.ts';
import type { Clock, Logger } from '../../kube/ports.ts';
import type { OperatorMetrics, ReplicaReports } from '../ports.ts';
import { restartManager, resyncMs } from '../settings.ts';
import type { PodGroup, PodRecord } from '../usage/pod-group.ts';
import { type FollowCollection, FollowedWorkloads } from './followed-workloads.ts';
import { planTagRestarts, type TagRestarts, type TagRestartSources } from './plan-tag-restarts.ts';
import { RestartReports, type RestartReportsOptions } from './restart-reports.ts';
import { type AskingTag, asksForRestarts, restartsNotAllowed, type RestartSource } from './restart-source.ts';
import type { RefusedPods } from '../pods/refused-pods.ts';
import { otherKeys } from '../controller/wake-ups.ts';
import { failedWrite, FailedRestarts, isQuiet, type FailedRestart } from './failed-restarts.ts';
import { staleWorkloads } from './restart-candidates.ts';
import { FairShares } from '../../rollout/fair-shares.ts';
import { defaultSlices, inSlices } from '../../steps/in-slices.ts';
import type { Steps } from '../../steps/steps.ts';
import {
  formatRestartAnnotation,
  restartedAnnotation,
  withRestart,
} from '../../api/revision-tag/restart-annotation.ts';
import type { LeaderClient } from '../controller/leading-client.ts';
import { recordOfWorkload, type WorkloadRecord } from './workload-record.ts';
import { workloadKey } from '../../routing/workload-key.ts';
import type { PodUpdates } from '../in-place/pod-updates.ts';
import {
  podsToFollow,
  staleWorkloadsOf,
  type TagUpdates,
  type UpdatingPod,
  updatingPods,
} from '../in-place/update-candidates.ts';
import { nextOpening } from '../../rollout/update-windows.ts';

export interface RestartPassOptions extends RestartReportsOptions {
  /** Checks before each write that this process still leads. */
  readonly client: Pick<LeaderClient, 'apply'>;
  /** Returns the tags of our operator class that parse. */
  readonly tags: () => readonly RevisionTag[];
  /** Returns a tag as stored by the API server. */
  readonly objectOf: (tag: string) => KubernetesObject | undefined;
  /** Returns the judged pods that follow a tag; undefined before they have been listed. */
  readonly podsOf: (tag: string) => Iterable<PodGroup> | undefined;
  /** Returns the annotation of a namespace that allows or denies updates. */
  readonly updatesChoice: (namespace: string) => string | undefined;
  /** Returns the live path of a tag by which its pods are judged; see `judgedPath`. */
  readonly judgedBy: (tag: string) => string | null | undefined;
  /** Returns why the operator may not update the pods of a tag; undefined if it may. */
  readonly notAllowed: (tag: AskingTag) => string | undefined;
  /** Whether the operator may restart workloads. */
  readonly mayRestart: boolean;
  /** Returns the pods that record an update in place. */
  readonly updatedPods: () => readonly PodRecord[];
  /** Updates pods in place; undefined if the operator may not. */
  readonly updates: PodUpdates | undefined;
  readonly reports: Pick<ReplicaReports, 'lacking'>;
  readonly refused: Pick<RefusedPods, 'follow' | 'of'>;
  readonly follow: FollowCollection;
  readonly metrics: OperatorMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Requests a call of {@link RestartPass.pass}. */
  readonly wake: () => void;
}

/** The intervals between passes, in milliseconds; changed workloads trigger a pass sooner. */
export const intervalMs = { busy: 1000, idle: 5000 };
/** How long to wait for the pods to be judged by a changed webhook, in milliseconds. */
const rejudgeMs = 100;
/** How long an API server may still use an old webhook to admit pods, in milliseconds. */
const propagationMs = 5000;
/** How long to collect changes of workloads before a pass, in milliseconds. */
const batchMs = 100;
/** The maximum number of writes for one plan. After these writes, the pass plans again. */
const maxWrites = 20;
/** The minimum ratio of idle time to planning time, because a cluster may have very many pods. */
const idleRatio = 10;

/** The watches of one leader while tags ask for restarts. */
interface Following {
  /** Aborts when this process stops leading. */
  readonly leading: AbortSignal;
  readonly stop: AbortController;
  readonly workloads: FollowedWorkloads;
}

/** Whether a pass wrote all planned restarts, stopped at `maxWrites`, or stopped at a failure. */
type Writes = 'all' | 'some' | 'failed';
/** How long all restarts may be blocked before the status reports it, in milliseconds. */
const reportAfterMs = 10_000;

/**
 * Restarts stale workloads. One pass handles all tags in sequence, because the bounds apply to all
 * tags together. The state is in the annotation on pod templates. Only the times at which workloads
 * became complete are in memory: a new leader measures them again, and so waits longer.
 */
export class RestartPass implements RestartSource {
  readonly #options: RestartPassOptions;
  readonly #reports: RestartReports;
  readonly #failed: FailedRestarts;
  /** Shares the attempts of this process among namespaces. */
  readonly #shares = new FairShares();
  #following: Following | undefined;
  #isDue = false;
  /** Whether a workload is restarting or waiting. */
  #isBusy = false;
  /** How long planning took in this pass, in milliseconds. */
  #planned = 0;

  constructor(options: RestartPassOptions) {
    this.#options = options;
    this.#reports = new RestartReports(options);
    this.#failed = new FailedRestarts(() => options.clock.monotonic());
  }

  shown(tag: AskingTag): RestartStatus | undefined {
    if (!asksForRestarts(tag)) return undefined;
    const why = this.#options.notAllowed(tag);
    const { name } = tag.metadata;
    const bounds = restartBounds(tag.spec.strategy ?? {});
    if (why !== undefined)
      return restartsNotAllowed(tag, why, staleWorkloads(name, this.#options.podsOf(name), bounds));
    return this.#reports.of(tag.metadata.name) ?? tag.status?.restarts;
  }

  /**
   * Restarts the workloads that may restart now. Resolves with the milliseconds until the next
   * pass. Rejects if a write fails for a reason outside its workload; the caller backs off.
   * @param leading aborts when this process stops leading
   */
  async pass(leading: AbortSignal): Promise<number> {
    const all = this.#options.tags();
    const updating = await this.#followUpdates(all, leading);
    const tags = all.filter((tag) => asksForRestarts(tag) && this.#options.notAllowed(tag) === undefined);
    const names = new Set(tags.map(({ metadata }) => metadata.name));
    this.#reports.keepOnly(names);
    this.#options.updates?.verdicts.keepOnly(names);
    const { refused } = this.#options;
    if (tags.length === 0) {
      refused.follow(otherKeys.restarts, false, leading);
      this.#following?.stop.abort();
      this.#following = undefined;
      return updating.length > 0 ? intervalMs.busy : resyncMs;
    }
    const { workloads } = this.#follow(leading);
    this.#isBusy = false;
    this.#planned = 0;
    let wait: number = intervalMs.idle;
    for (const tag of [...tags].sort((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1))) {
      if (leading.aborted) break;
      wait = Math.min(wait, await this.#restart(tag, workloads, leading));
    }
    refused.follow(otherKeys.restarts, this.#isBusy, leading);
    return wait;
  }

  /** Completes updates in place, or takes them back. Returns those that are still under way. */
  async #followUpdates(tags: readonly RevisionTag[], leading: AbortSignal): Promise<readonly UpdatingPod[]> {
    const { updates, updatedPods, clock, logger } = this.#options;
    if (updates === undefined) return [];
    const now = clock.now().getTime();
    for (const { pod, workload, update } of podsToFollow(updatedPods(), now)) {
      const key = workloadKey(workload);
      if (this.#failed.holdOf(key, update.target)?.reason === 'Refused') continue;
      const strategy = tags.find(({ metadata }) => metadata.name === update.tag)?.spec.strategy;
      const written = await attempt(clock, { record: recordOfWorkload(pod), target: update.target }, async () => {
        await updates.follow(pod, restartBounds(strategy ?? {}), leading);
        return undefined;
      });
      if (!('failure' in written)) continue;
      const { reason, message } = written.failure;
      // After any other failure, the next pass reads the pod again: a bad image must go at once.
      if (reason === 'Refused') this.#fail(key, update.tag, written.failure, 'update');
      else logger.debug('failed to follow the update of a pod', { pod: pod.metadata.name, error: message });
    }
    return updatingPods(updatedPods(), now);
  }

  async #restart(tag: RevisionTag, workloads: FollowedWorkloads, leading: AbortSignal): Promise<number> {
    const { objectOf, podsOf, judgedBy, metrics, clock } = this.#options;
    const { name } = tag.metadata;
    const pods = podsOf(name);
    const unread = [...(pods === undefined ? ['Pods'] : []), ...workloads.unread];
    if (pods === undefined || unread.length > 0) {
      // If the operator lacks the permission, the list never arrives.
      const why = `no workload is restarted before ${unread.join(', ')} have been listed; check that the operator may list and watch them`;
      const { idle, busy } = intervalMs;
      return this.#reportAfterDelay(name, this.#reports.judgedSince(name, undefined), why) ? idle : busy;
    }
    const groups = [...pods];
    const path = judgedBy(name);
    const since = this.#reports.judgedSince(name, path);
    if (path === undefined) {
      const why =
        'no workload is restarted before its pods are compared with the live webhook; check that the InjectorConfig of the tag exists';
      return this.#reportAfterDelay(name, since, why) ? intervalMs.idle : rejudgeMs;
    }
    // Until the webhook follows the spec, a new strategy would act for the old revision.
    if (tag.status?.observedGeneration !== tag.metadata.generation) return intervalMs.busy;
    metrics.restarted?.(name, 0);
    const bounds = restartBounds(tag.spec.strategy ?? {});
    // Skip planning only if the status reports Idle: otherwise the old phase would stay forever.
    const isIdle = this.#reports.of(name)?.phase === 'Idle';
    if (isIdle && this.#reports.isOver(name) && staleWorkloads(name, groups, bounds) === 0) return intervalMs.idle;
    // A plan is valid until the tag's spec or its live path changes, or the pods are listed again:
    // until the namespaces are listed, too, it is not known which of them deny updates.
    const hasChanged = (): boolean =>
      leading.aborted ||
      podsOf(name) === undefined ||
      judgedBy(name) !== path ||
      objectOf(name)?.metadata.generation !== tag.metadata.generation;
    const settlesIn = since + propagationMs - clock.monotonic();
    const { updates, mayRestart, updatedPods } = this.#options;
    const isUpdating = updates !== undefined && isInPlace(tag.spec.strategy);
    if (isUpdating) for (const result of ['completed', 'failed'] as const) metrics.podsUpdated?.(name, result, 0);
    const isOpen = nextOpening(tag.spec.strategy?.windows, clock.now().getTime()) === undefined;
    if (isUpdating) await updates.verdicts.judge(name, staleWorkloadsOf(name, groups), isOpen, leading);
    if (hasChanged()) return rejudgeMs;
    const updating = updatingPods(updatedPods(), clock.now().getTime());
    const verdictOf: TagUpdates['verdictOf'] = (each, workload) => updates?.verdicts.of(each, workload, isOpen);
    const how = {
      updates: isUpdating ? { verdictOf, mayRestart } : undefined,
      updatedElsewhere: updating.filter((each) => each.tag !== name),
    };
    const inputs = await this.#plan(tag, groups, workloads, settlesIn > 0, how);
    let { plan } = inputs;
    let writes: Writes = 'all';
    if (plan.restart.length > 0) {
      writes = await this.#write(tag, inputs, workloads, hasChanged, leading);
      const after = podsOf(name);
      if (after === undefined || hasChanged()) return rejudgeMs;
      // Plan again, so that the status includes the restarts and failures of this pass.
      ({ plan } = await this.#plan(tag, after, workloads, false, how));
    }
    if (hasChanged()) return rejudgeMs;
    if (isUpdating && plan.status.phase === 'Idle' && !isIdle) await updates.removePulls(name, leading);
    const object = objectOf(name);
    const status = { ...plan.status, ...(path !== null && { path }) };
    if (object !== undefined) this.#reports.found(tag, object, status, plan.counts);
    this.#reports.planned(name, plan, bounds, () => workloads.latestRestart());
    const isBusy = plan.counts.restarting + plan.counts.waiting > 0;
    this.#isBusy ||= isBusy;
    const due = plan.at === undefined ? Infinity : plan.at - clock.now().getTime();
    const interval = writes === 'some' ? 0 : isBusy ? intervalMs.busy : intervalMs.idle;
    const settled = settlesIn > 0 && isBusy ? settlesIn : Infinity;
    return Math.max(this.#planned * idleRatio, Math.min(due, settled, interval));
  }

  /** Plans in short steps. The event loop runs between the steps. */
  async #plan(
    tag: RevisionTag,
    groups: Iterable<PodGroup>,
    workloads: FollowedWorkloads,
    hasMoved: boolean,
    how: Pick<TagRestartSources, 'updates' | 'updatedElsewhere'>,
  ): Promise<TagRestarts> {
    const { clock, reports, refused, updatesChoice } = this.#options;
    const now = clock.now().getTime();
    const refusals = refused.of(tag.metadata.name);
    const own = { ...how, failedRestarts: this.#failed, shares: this.#shares, refusals };
    const inputs = await this.#inSlices(
      planTagRestarts(tag, { groups, workloads, hasMoved, reports, updatesChoice, now, ...own }),
    );
    for (const record of inputs.overtaken) workloads.completions.overtake(record, tag.metadata.name);
    return inputs;
  }

  #inSlices<Result>(steps: Steps<Result>): Promise<Result> {
    const { clock } = this.#options;
    const afterSlice = (milliseconds: number): void => void (this.#planned += milliseconds);
    return inSlices(steps, () => clock.monotonic(), defaultSlices, { afterSlice });
  }

  /** Writes the planned restarts in sequence. Stops at the first failure. */
  async #write(
    { metadata: { name: tag }, spec }: RevisionTag,
    { plan, records, previous, podsOf }: TagRestarts,
    workloads: FollowedWorkloads,
    hasChanged: () => boolean,
    leading: AbortSignal,
  ): Promise<Writes> {
    const { recorder, metrics, logger, updates, objectOf } = this.#options;
    for (const candidate of plan.restart.slice(0, maxWrites)) {
      const { key, target, namespace, isInPlace: isUpdate = false } = candidate;
      if (hasChanged()) return 'failed';
      const stale = podsOf(key).filter(({ state }) => state === 'stale');
      const pods = stale.flatMap(({ group }) => [...group.pods.values()]);
      const [pod] = isUpdate ? pods : [];
      const record = records.get(key) ?? (pod && recordOfWorkload(pod));
      if (record === undefined) continue;
      this.#shares.serve(namespace);
      const written = await attempt(this.#options.clock, { record, target }, async () => {
        if (!isUpdate) return writeRestart(this.#options, record, { tag, target, signal: leading });
        const { prepull, pullSecrets = [] } = restartBounds(spec.strategy ?? {});
        const object = objectOf(tag);
        const pulling = prepull && object !== undefined ? { tag: object, pullSecrets } : undefined;
        await updates?.update(tag, { key, target, pods }, pulling, leading);
        return undefined;
      });
      if ('failure' in written) {
        this.#fail(key, tag, written.failure, isUpdate ? 'update' : 'restart');
        // Other nodes can pull at the same time.
        if (written.failure.reason === 'Pulling') continue;
        return 'failed';
      }
      this.#failed.resolve(key);
      if (written.stored === undefined) continue;
      metrics.restarted?.(tag, 1);
      const what = [...previous(key), ...((candidate.missing ?? 0) > 0 ? ['no sidecar'] : [])].join(', ');
      const note = `restarted by RevisionTag ${tag} (spec.strategy): its pods had ${what} and get ${target}`;
      recorder.record(written.stored, { type: 'Normal', reason: 'Restarted', action: 'Restart', note });
      logger.info('restarted a workload', { revisionTag: tag, workload: key, target, had: what });
      workloads.written(written.stored);
    }
    return plan.restart.length > maxWrites ? 'some' : 'all';
  }

  /** Records a failed write, and reports it unless it is only delayed. */
  #fail(key: string, tag: string, failure: FailedRestart, what: 'update' | 'restart'): void {
    const { recorder, logger } = this.#options;
    const { target, reason, message, record } = failure;
    this.#failed.add(key, failure);
    const fields = { revisionTag: tag, workload: key, target, reason, error: message };
    logger[isQuiet(failure) ? 'debug' : 'warn']('failed to update a workload', fields);
    if (isQuiet(failure)) return;
    const note = `the ${what} for RevisionTag ${tag} (spec.strategy) failed and is retried: ${message}`;
    recorder.record(record, { type: 'Warning', reason: 'RestartFailed', action: 'Restart', note });
  }

  /** After a delay, reports in the status why a tag is blocked. Returns whether it did so. */
  #reportAfterDelay(tag: string, since: number, message: string): boolean {
    if (this.#options.clock.monotonic() - since < reportAfterMs) return false;
    this.#reports.updateStatus(tag, { phase: 'Waiting', message, stale: 0, inProgress: 0, waiting: [], untouched: [] });
    return true;
  }

  #follow(leading: AbortSignal): Following {
    if (this.#following?.leading === leading) return this.#following;
    this.#following?.stop.abort();
    const { follow, clock } = this.#options;
    const stop = new AbortController();
    const changed = (): void => {
      if (!stop.signal.aborted) this.#wakeSoon();
    };
    const signal = AbortSignal.any([leading, stop.signal]);
    const following = { leading, stop, workloads: new FollowedWorkloads({ follow, signal, clock, changed }) };
    this.#following = following;
    const forget = (): void => {
      if (this.#following !== following) return;
      this.#following = undefined;
      this.#reports.keepOnly(new Set());
    };
    leading.addEventListener('abort', forget, { once: true, signal: stop.signal });
    return following;
  }

  #wakeSoon(): void {
    if (this.#isDue || !this.#isBusy) return;
    this.#isDue = true;
    this.#options.clock.after(Math.max(batchMs, this.#planned * idleRatio), () => {
      this.#isDue = false;
      this.#options.wake();
    });
  }
}

/**
 * Restarts a workload: applies one annotation to its pod template, with the resourceVersion that
 * was read. Another writer, a lost response or a second leader thus causes a 409, never a second
 * restart.
 * @param target the configuration that the new pods will get, as `N.<hash8>`
 */
async function writeRestart(
  { client, clock }: Pick<RestartPassOptions, 'client' | 'clock'>,
  workload: WorkloadRecord,
  { tag, target, signal }: { readonly tag: string; readonly target: string; readonly signal: AbortSignal },
): Promise<KubernetesObject> {
  const { apiVersion, kind, metadata, restarts } = workload;
  const value = formatRestartAnnotation(withRestart(restarts, { tag, target, at: clock.now().getTime() }));
  const spec = { template: { metadata: { annotations: { [restartedAnnotation]: value } } } };
  // Force: a client that reads the workload and applies it again also owns our annotation.
  const how = { fieldManager: restartManager, force: true, signal };
  return await client.apply<KubernetesObject>({ apiVersion, kind, metadata, spec }, how);
}

/**
 * Writes, and returns what was stored, or the failure. Rejects on abort, and if the cause is not
 * the workload ({@link failedWrite}).
 */
async function attempt(
  clock: Pick<Clock, 'monotonic'>,
  what: Pick<FailedRestart, 'record' | 'target'>,
  write: () => Promise<KubernetesObject | undefined>,
): Promise<{ readonly stored: KubernetesObject | undefined } | { readonly failure: FailedRestart }> {
  const began = clock.monotonic();
  try {
    return { stored: await write() };
  } catch (error) {
    const failed = failedWrite(error);
    if (failed === undefined) throw error;
    const message = error instanceof Error ? error.message : String(error);
    return { failure: { ...failed, message, took: clock.monotonic() - began, ...what } };
  }
}
