import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import type { RevisionTag, RolloutState } from '../../api/revision-tag/revision-tag.ts';
import type { UsageSource } from '../usage/usage-status.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { writeStatus } from '../../kube/status-writer.ts';
import type { RolloutPass } from '../../rollout/rollout.ts';
import type { PassContext } from '../controller/pass-context.ts';
import { publishedHash } from '../webhooks/published-webhook.ts';
import type { RestartSource } from '../restarts/restart-source.ts';
import { isSameCourse, rolloutFinding, type Rollouts } from '../rollout/rollouts.ts';
import { statusManager } from '../settings.ts';
import { tagStatus, type TagFindings, type TagPlace } from './tag-status.ts';

export interface TagStatusWriterOptions extends PassContext {
  readonly client: Pick<ApiClient, 'apply'>;
  readonly rollouts: Rollouts;
  /** Who uses a tag. */
  readonly usage: UsageSource;
  readonly restarts: RestartSource;
}

/** One pass over a RevisionTag: what was read, and what it has found out so far. */
export interface TagPass {
  /** Without a spec where that cannot be read. */
  readonly tag: Pick<RevisionTag, 'metadata' | 'status'> & { readonly spec?: RevisionTag['spec'] };
  /** The same as the API server has it. */
  readonly object: KubernetesObject;
  readonly findings: TagFindings;
  readonly signal: AbortSignal;
}

/** What is written of a RevisionTag: its status, and its metrics with it. */
export class TagStatusWriter {
  readonly #options: TagStatusWriterOptions;

  constructor(options: TagStatusWriterOptions) {
    this.#options = options;
  }

  /** Writes where a rollout goes before the path goes there: whoever leads next finishes it. */
  async course(
    { metadata: { name }, status }: RevisionTag,
    object: KubernetesObject,
    { state, events: happened }: RolloutPass,
    signal: AbortSignal,
  ): Promise<KubernetesObject> {
    const { client, view, events, metrics, logger } = this.#options;
    const before = status?.rollout;
    if (state === undefined || (before !== undefined && isSameCourse(before, state))) return object;
    const wanted = { ...(object.status as object | undefined), rollout: state };
    const stored = await writeStatus(client, object, wanted, { fieldManager: statusManager, signal });
    if (stored !== undefined) view.tags.upsert(stored);
    events.rollout(object, happened);
    for (const { reason, message } of happened) {
      metrics.rolloutEvent?.(name, reason);
      logger.info('rollout', { revisionTag: name, reason, message });
    }
    return stored ?? object;
  }

  /** Where the webhook that is in force leads; for `default` also InjectorConfig `default`'s own. */
  place(name: string): TagPlace | undefined {
    const { targets, view } = this.#options;
    const config = targets.current(name);
    const hash = config && publishedHash(view.tagWebhook(name), config.metadata.name);
    return config === undefined || hash === undefined ? undefined : { config, hash };
  }

  /**
   * Writes the status once, with all that was found. Resolves with the shortest of the waits, in milliseconds.
   * @param state of its rollout, where that was looked at
   */
  async write(pass: TagPass, waits: readonly number[], state?: RolloutState): Promise<number> {
    const { tag, object, findings, signal } = pass;
    const { client, clock, view, metrics, usage, rollouts, restarts, targets } = this.#options;
    const { name } = tag.metadata;
    const before = (object as RevisionTag).status?.rollout;
    const hasStrategy = tag.spec === undefined || tag.spec.strategy?.canary !== undefined;
    const rollout = !hasStrategy ? undefined : state === undefined ? before : rollouts.shown(name, before, state);
    if (tag.spec?.strategy?.canary !== undefined && this.place(name) !== undefined) {
      findings.RolloutComplete = rolloutFinding(tag.spec.revision, rollout);
    }
    metrics.rollout?.(name, state ?? rollout);
    const [place, home] = [this.place(name), targets.current(name)];
    // Of a tag that cannot be read nobody knows what it asks for.
    const restarting = tag.spec === undefined ? tag.status?.restarts : restarts.shown({ ...tag, spec: tag.spec });
    const courses = { ...(rollout && { rollout }), ...(restarting && { restarts: restarting }) };
    const status = tagStatus(tag, findings, place, home, usage.tag(name), clock.now(), courses);
    const conditions = (status.conditions ?? []).map((each): [string, boolean] => [each.type, each.status === 'True']);
    metrics.conditions?.(metricName(name), new Map(conditions));
    if (!signal.aborted) {
      const stored = await writeStatus(client, object, status, { fieldManager: statusManager, signal });
      if (stored !== undefined) view.tags.upsert(stored);
    }
    return Math.max(0, Math.min(...waits));
  }

  /** A tag that is gone. */
  forget(name: string): void {
    const { metrics } = this.#options;
    metrics.forget?.(metricName(name));
    metrics.rollout?.(name, undefined);
  }
}

/** Under which name the series of a tag stand beside those of InjectorConfigs, which have no `/` in theirs. */
function metricName(tag: string): string {
  return `tag/${tag}`;
}
