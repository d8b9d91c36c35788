import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { RevisionTag, RestartStatus } from '../../api/revision-tag/revision-tag.ts';
import { restartBounds } from '../../api/revision-tag/rollout-strategy.ts';
import type { Clock, Logger } from '../../kube/ports.ts';
import type { OperatorMetrics, ReplicaReports } from '../ports.ts';
import { restartManager, resyncMs } from '../settings.ts';
import type { PodGroup } from '../usage/pod-group.ts';
import type { FollowCollection, FollowedWorkloads } from './followed-workloads.ts';
import { Leadership } from './leadership.ts';
import { planTagRestarts, type TagRestarts } from './plan-tag-restarts.ts';
import { RestartReports, type RestartReportsOptions } from './restart-reports.ts';
import { type AskingTag, asksForRestarts, type RestartSource } from './restart-source.ts';
import { failedWrite, RestartTroubles, type Trouble } from './restart-troubles.ts';
import { staleWorkloads } from './restart-candidates.ts';
import type { Steps } from '../../rollout/restart-steps.ts';
import {
  formatRestartAnnotation,
  restartedAnnotation,
  withRestart,
} from '../../api/revision-tag/restart-annotation.ts';
import type { LeaderClient } from '../controller/leading-client.ts';
import type { WorkloadRecord } from './workload-record.ts';

export interface RestartPassOptions extends RestartReportsOptions {
  /** Writes only while we lead, asked before each write. */
  readonly client: Pick<LeaderClient, 'apply'>;
  /** The tags of our class that can be read. */
  readonly tags: () => readonly RevisionTag[];
  /** A tag as stored. */
  readonly objectOf: (tag: string) => KubernetesObject | undefined;
  /** The pods that follow a tag, judged; undefined while they have not been read. */
  readonly podsOf: (tag: string) => Iterable<PodGroup> | undefined;
  /**
   * The path of the webhook of a tag by which these pods are judged, null where it has none; undefined while they are not judged by the one that is
   * in force.
   */
  readonly judgedBy: (tag: string) => string | null | undefined;
  readonly reports: Pick<ReplicaReports, 'lacking'>;
  readonly follow: FollowCollection;
  readonly metrics: OperatorMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
  /** There is something to do for {@link RestartPass.pass}. */
  readonly wake: () => void;
}

/** How often to look while there is anything to restart, and while there is nothing; what changes workloads wakes sooner. Milliseconds. */
export const lookMs = { busy: 1000, idle: 5000 };
/** How soon to look again for judgements that follow a webhook in a moment. Milliseconds. */
const judgeMs = 100;
/** Each API server reads webhooks by itself: one that is behind still makes pods as before. Milliseconds. */
const settledMs = 5000;
/** What changes together is looked at together. Milliseconds. */
const settleMs = 100;
/** After so many writes a pass looks anew, at those that it has restarted as well. */
const mostWrites = 20;
/** Between two looks there is so many times what the last one has cost: tens of thousands of pods may be looked at. */
const restPerLook = 10;
/** What has become of what was planned: all of it is written, as much as one pass writes, or not even that. */
type Writes = 'all' | 'some' | 'failed';
/** What keeps everything from being restarted for longer is said in the status. Milliseconds. */
const unsaidMs = 10_000;

/**
 * Restarts of stale workloads. One pass looks at all tags, one after the other, since the bounds hold for all of them together; passes never overlap.
 * All that it remembers is in the cluster (the annotation on the pod templates), but for how long a workload has been complete: a new leader
 * begins to count that anew, and so goes on later than it might, never sooner.
 */
export class RestartPass implements RestartSource {
  readonly #options: RestartPassOptions;
  readonly #reports: RestartReports;
  /** What could not be written, and is left alone for a while. */
  readonly #troubles: RestartTroubles;
  #leadership: Leadership | undefined;
  #isDue = false;
  /** Whether anything is restarting or waits to be. */
  #isBusy = false;
  readonly #turns: Turns;

  constructor(options: RestartPassOptions) {
    this.#options = options;
    this.#reports = new RestartReports(options);
    this.#troubles = new RestartTroubles(() => options.clock.monotonic());
    this.#turns = new Turns(options.clock);
  }

  shown(tag: AskingTag): RestartStatus | undefined {
    if (!asksForRestarts(tag)) return undefined;
    return this.#reports.of(tag.metadata.name) ?? tag.status?.restarts;
  }

  /**
   * Restarts what may be restarted now. Resolves with the milliseconds until it wants to be called again.
   * Rejects when the API server has failed in a way that says nothing of a single workload: call again with back-off, from what is there then.
   * @param leading until when this process leads; workloads are followed for no longer
   */
  async pass(leading: AbortSignal): Promise<number> {
    const tags = this.#options.tags().filter(asksForRestarts);
    const names = new Set(tags.map(({ metadata }) => metadata.name));
    this.#reports.keepOnly(names);
    if (tags.length === 0) {
      this.#leadership?.end();
      this.#leadership = undefined;
      return resyncMs;
    }
    const leadership = this.#follow(leading);
    leadership.keepOnly(names);
    this.#isBusy = false;
    this.#turns.spent = 0;
    let wait: number = lookMs.idle;
    for (const tag of [...tags].sort((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1))) {
      if (leading.aborted) break;
      wait = Math.min(wait, await this.#restart(tag, leadership));
    }
    return wait;
  }

  async #restart(tag: RevisionTag, leadership: Leadership): Promise<number> {
    const { objectOf, podsOf, judgedBy, metrics, clock } = this.#options;
    const { name } = tag.metadata;
    const { workloads, leading } = leadership;
    const pods = podsOf(name);
    const unread = [...(pods === undefined ? ['Pods'] : []), ...workloads.unread];
    if (pods === undefined || unread.length > 0) {
      // Where a right is missing they never will be.
      const why = `${unread.join(', ')} have not been read yet: nothing is restarted; has the operator the right to list and watch them?`;
      return this.#sayAfterAWhile(name, leadership.judgedSince(name, undefined), why) ? lookMs.idle : lookMs.busy;
    }
    const groups = [...pods];
    const path = judgedBy(name);
    const since = leadership.judgedSince(name, path);
    if (path === undefined) {
      const why =
        'its pods are not judged by the webhook that is in force: nothing is restarted; is its InjectorConfig there?';
      return this.#sayAfterAWhile(name, since, why) ? lookMs.idle : judgeMs;
    }
    metrics.restarted?.(name, 0);
    // Whatever else was said meanwhile would stand for ever.
    const isSaid = this.#reports.of(name)?.phase === 'Idle';
    if (isSaid && leadership.isOver(name, path) && staleWorkloads(name, groups) === 0) return lookMs.idle;
    // What is planned holds as long as the tag asks for it, and pods are judged, as they were.
    const hasChanged = (): boolean =>
      leading.aborted || judgedBy(name) !== path || objectOf(name)?.metadata.generation !== tag.metadata.generation;
    const settlesIn = since + settledMs - clock.monotonic();
    const looked = await this.#look(tag, groups, workloads, settlesIn > 0);
    let { plan } = looked;
    let writes: Writes = 'all';
    if (plan.restart.length > 0) {
      writes = await this.#write(tag, looked, workloads, hasChanged, leading);
      const after = podsOf(name);
      if (after === undefined || hasChanged()) return judgeMs;
      // Said is what has been done: the status counts what was written, and names what could not be.
      ({ plan } = await this.#look(tag, after, workloads, false));
    }
    if (hasChanged()) return judgeMs;
    const object = objectOf(name);
    const status = { ...plan.status, ...(path !== null && { path }) };
    if (object !== undefined) this.#reports.found(tag, object, status, plan.counts);
    leadership.planned(name, plan, path, restartBounds(tag.spec.strategy ?? {}));
    const isBusy = plan.counts.restarting + plan.counts.waiting > 0;
    this.#isBusy ||= isBusy;
    const due = plan.at === undefined ? Infinity : plan.at - clock.now().getTime();
    const look = writes === 'some' ? 0 : isBusy ? lookMs.busy : lookMs.idle;
    const settled = settlesIn > 0 && isBusy ? settlesIn : Infinity;
    return Math.max(this.#turns.spent * restPerLook, Math.min(due, settled, look));
  }

  /** Looks at everything, while others have their turn. */
  async #look(
    tag: RevisionTag,
    groups: Iterable<PodGroup>,
    workloads: FollowedWorkloads,
    hasMoved: boolean,
  ): Promise<TagRestarts> {
    const { clock, reports } = this.#options;
    const sources = { groups, workloads, hasMoved, troubles: this.#troubles, reports, now: clock.now().getTime() };
    const looked = await this.#turns.run(planTagRestarts(tag, sources));
    for (const record of looked.overtaken) workloads.completions.overtake(record, tag.metadata.name);
    return looked;
  }

  /** Restarts what is planned, one after the other, and ends at the first write that comes to nothing. */
  async #write(
    { metadata: { name: tag } }: RevisionTag,
    { plan, records, had }: TagRestarts,
    workloads: FollowedWorkloads,
    hasChanged: () => boolean,
    leading: AbortSignal,
  ): Promise<Writes> {
    const { recorder, metrics, logger } = this.#options;
    for (const { key, target } of plan.restart.slice(0, mostWrites)) {
      if (hasChanged()) return 'failed';
      const record = records.get(key);
      if (record === undefined) continue;
      const fields = { revisionTag: tag, workload: key, target };
      const written = await writeRestart(this.#options, record, { tag, target, signal: leading });
      if ('trouble' in written) {
        this.#troubles.add(key, written.trouble);
        const { reason, message } = written.trouble;
        const isConflict = reason === 'Conflict';
        logger[isConflict ? 'debug' : 'warn']('a restart could not be written', { ...fields, reason, error: message });
        const note = `RevisionTag ${tag} (spec.strategy) wants it restarted, and that could not be written; it is tried again: ${message}`;
        if (!isConflict) recorder.record(record, { type: 'Warning', reason: 'RestartFailed', action: 'Restart', note });
        return 'failed';
      }
      this.#troubles.resolve(key);
      metrics.restarted?.(tag, 1);
      const what = had(key).join(', ');
      const note = `restarted by RevisionTag ${tag} (spec.strategy): its pods had ${what || 'what none of ours has injected'} and get ${target}`;
      recorder.record(written.stored, { type: 'Normal', reason: 'Restarted', action: 'Restart', note });
      logger.info('a workload is restarted', { ...fields, had: what });
      workloads.written(written.stored);
    }
    return plan.restart.length > mostWrites ? 'some' : 'all';
  }

  /** Whether it is time to say why nothing is restarted. */
  #sayAfterAWhile(tag: string, since: number, message: string): boolean {
    if (this.#options.clock.monotonic() - since < unsaidMs) return false;
    this.#reports.say(tag, { phase: 'Waiting', message, stale: 0, inProgress: 0, waiting: [], untouched: [] });
    return true;
  }

  #follow(leading: AbortSignal): Leadership {
    if (this.#leadership?.leading === leading) return this.#leadership;
    this.#leadership?.end();
    const { follow, clock } = this.#options;
    const leadership = new Leadership({ leading, follow, clock, changed: () => this.#wakeSoon() });
    this.#leadership = leadership;
    const forget = (): void => {
      if (this.#leadership !== leadership) return;
      this.#leadership = undefined;
      this.#reports.keepOnly(new Set());
    };
    leading.addEventListener('abort', forget, { once: true, signal: leadership.ended });
    return leadership;
  }

  #wakeSoon(): void {
    if (this.#isDue || !this.#isBusy) return;
    this.#isDue = true;
    this.#options.clock.after(Math.max(settleMs, this.#turns.spent * restPerLook), () => {
      this.#isDue = false;
      this.#options.wake();
    });
  }
}

/** For so long at a stretch, in milliseconds: admissions may wait for the same thread. */
const stretchMs = 4;

/** Goes through steps, and lets the event loop turn in between. */
export class Turns {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** What the steps have taken by themselves, since this was set to 0. Milliseconds. */
  spent = 0;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  async run<Result>(steps: Steps<Result>): Promise<Result> {
    for (;;) {
      const began = this.#clock.monotonic();
      for (let now = began; now < began + stretchMs; now = this.#clock.monotonic()) {
        const step = steps.next();
        if (step.done !== true) continue;
        this.spent += this.#clock.monotonic() - began;
        return step.value;
      }
      this.spent += this.#clock.monotonic() - began;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

/**
 * Restarts a workload for a tag: one annotation of the pod template, by server-side apply and only onto the very version that was read. So whoever
 * else writes, an answer that is lost or a second leader ends in a Conflict (409), never in a second restart.
 * Rejects where the failure says nothing of this workload ({@link failedWrite}), and when the signal aborts.
 * @param workload as it was looked at
 * @param target `N.<hash8>`: what its pods are to get
 * @returns the object as stored, or why it came to nothing
 */
async function writeRestart(
  { client, clock }: Pick<RestartPassOptions, 'client' | 'clock'>,
  workload: WorkloadRecord,
  { tag, target, signal }: { readonly tag: string; readonly target: string; readonly signal: AbortSignal },
): Promise<{ readonly stored: KubernetesObject } | { readonly trouble: Trouble }> {
  const { apiVersion, kind, metadata, restarts } = workload;
  const value = formatRestartAnnotation(withRestart(restarts, { tag, target, at: clock.now().getTime() }));
  const spec = { template: { metadata: { annotations: { [restartedAnnotation]: value } } } };
  const began = clock.monotonic();
  try {
    // By force: somebody may have applied what he read from the cluster, our annotation with it.
    const how = { fieldManager: restartManager, force: true, signal };
    return { stored: await client.apply<KubernetesObject>({ apiVersion, kind, metadata, spec }, how) };
  } catch (error) {
    const failed = failedWrite(error);
    if (failed === undefined) throw error;
    const message = error instanceof Error ? error.message : String(error);
    return { trouble: { ...failed, message, took: clock.monotonic() - began, record: workload } };
  }
}
