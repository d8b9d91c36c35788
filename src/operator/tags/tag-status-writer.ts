import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { RevisionTag, RolloutState } from '../../api/revision-tag/revision-tag.ts';
import type { UsageSource } from '../usage/usage-status.ts';
import type { RolloutPass } from '../../rollout/rollout.ts';
import type { PassContext } from '../controller/pass-context.ts';
import { no } from '../controller/revision-status.ts';
import { finishPass, type StatusParts, storeStatus } from '../controller/store-status.ts';
import { tagKey } from '../controller/wake-ups.ts';
import { publishedHash } from '../webhooks/published-webhook.ts';
import type { RestartSource } from '../restarts/restart-source.ts';
import { isSameProgress, rolloutFinding, type Rollouts } from '../rollout/rollouts.ts';
import { tagStatus, type TagFindings, type LiveTarget } from './tag-status.ts';

export interface TagStatusWriterOptions extends PassContext, Pick<StatusParts, 'client' | 'refusals'> {
  readonly rollouts: Rollouts;
  readonly usage: UsageSource;
  readonly restarts: RestartSource;
}

/** The input of one pass over a RevisionTag. */
export interface TagPass {
  /** The parsed tag. `spec` is absent if the spec does not parse. */
  readonly tag: Pick<RevisionTag, 'metadata' | 'status'> & { readonly spec?: RevisionTag['spec'] };
  /** The tag as stored by the API server. */
  readonly object: KubernetesObject;
  readonly signal: AbortSignal;
}

/** Writes the status of RevisionTags, and updates their metrics. */
export class TagStatusWriter {
  readonly #options: TagStatusWriterOptions;

  constructor(options: TagStatusWriterOptions) {
    this.#options = options;
  }

  /**
   * Writes a rollout's state, before its path, so that the next leader can complete the step.
   * Resolves with undefined if the API server refuses the state: the path must then stay.
   */
  async record(
    { metadata: { name }, status }: RevisionTag,
    object: KubernetesObject,
    { state, events: happened }: RolloutPass,
    signal: AbortSignal,
  ): Promise<KubernetesObject | undefined> {
    const { events, metrics, logger } = this.#options;
    const before = status?.rollout;
    if (state === undefined || (before !== undefined && isSameProgress(before, state))) return object;
    const desired = { ...(object.status as object | undefined), rollout: state };
    const stored = await storeStatus(this.#options, object, desired, signal);
    if (stored === undefined) return undefined;
    events.rollout(object, happened);
    for (const { reason, message } of happened) {
      metrics.rolloutEvent?.(name, reason);
      logger.info('rollout', { revisionTag: name, reason, message });
    }
    return stored;
  }

  /** Returns the live webhook's target. Tag and InjectorConfig `default` share one webhook. */
  liveTarget(name: string): LiveTarget | undefined {
    const { targets, view } = this.#options;
    const config = targets.current(name);
    const hash = config && publishedHash(view.tagWebhook(name), config.metadata.name);
    return config === undefined || hash === undefined ? undefined : { config, hash };
  }

  /**
   * Writes the status with all findings. Resolves with the milliseconds until the next pass.
   * @param state the state of the rollout, if this pass has planned a rollout
   */
  async write(
    { tag, object, signal }: TagPass,
    found: TagFindings,
    retryAfter: number,
    state?: RolloutState,
  ): Promise<number> {
    const { clock, metrics, usage, rollouts, restarts, targets } = this.#options;
    const { name } = tag.metadata;
    const before = (object as RevisionTag).status?.rollout;
    const hasStrategy = tag.spec === undefined || tag.spec.strategy?.canary !== undefined;
    const rollout = !hasStrategy ? undefined : state === undefined ? before : rollouts.shown(name, before, state);
    metrics.rollout?.(name, state ?? rollout);
    const [live, current] = [this.liveTarget(name), targets.current(name)];
    const RolloutComplete =
      tag.spec?.strategy?.canary === undefined
        ? undefined
        : live === undefined
          ? rollout && no('NotPublished', 'the tag has no webhook')
          : rolloutFinding(tag.spec.revision, rollout);
    const findings = { ...found, RolloutComplete };
    // A tag that does not parse keeps its restart status.
    const restarting = tag.spec === undefined ? tag.status?.restarts : restarts.shown({ ...tag, spec: tag.spec });
    const progress = { ...(rollout && { rollout }), ...(restarting && { restarts: restarting }) };
    const status = tagStatus(tag, findings, live, current, usage.tag(name), clock.now(), progress);
    const wait = Math.max(0, retryAfter);
    if (signal.aborted) return wait;
    return Math.min(wait, await finishPass(this.#options, tagKey(name), object, status, signal));
  }

  /** Drops the metrics of a deleted tag. */
  forget(name: string): void {
    const { metrics } = this.#options;
    metrics.forget?.(tagKey(name));
    metrics.rollout?.(name, undefined);
  }
}
