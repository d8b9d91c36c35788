import { ConfigurationError } from '../../api/errors.ts';
import { tagProbeSubject } from '../../api/names.ts';
import { type RolloutState, defaultRevision, type RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import { injectorConfigOf, tagOf } from '../cluster-view.ts';
import { type InjectorConfig, revisionOf } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { validateRevisionTag } from '../../api/revision-tag/revision-tag-rules.ts';
import { claimOfTag, configWinner, nameOf, tagWinner } from '../../selection/pod-claims.ts';
import { type ConflictMemory, observeConflict } from '../webhooks/conflicts.ts';
import { foreignOverlap } from '../../selection/foreign-overlap.ts';
import { foreignFinding, safeTakeover } from '../webhooks/foreign-finding.ts';
import { manifestContext, resyncMs } from '../settings.ts';
import type { ObjectWrite } from '../controller/owned-objects.ts';
import { parsedTag } from '../controller/parsed-configs.ts';
import { combineResults, type PassMemory, type PassResult } from '../controller/pass-context.ts';
import { refusedStatusMs } from '../controller/store-status.ts';
import { type Finding, no, yes } from '../controller/revision-status.ts';
import { tagKey } from '../controller/wake-ups.ts';
import { ownerMissing } from '../webhooks/decide-webhook.ts';
import type { KnownRevisions } from '../webhooks/revision-facts.ts';
import type { CheckedWebhook } from '../webhooks/reachability-check.ts';
import type { WebhookWriter } from '../webhooks/webhook-writer.ts';
import { planTag, revisionsOf, type TagPlan } from './tag-plan.ts';
import type { TagFindings } from './tag-status.ts';
import { type TagPass, TagStatusWriter, type TagStatusWriterOptions } from './tag-status-writer.ts';

export interface TagReconcilerOptions extends TagStatusWriterOptions {
  readonly known: KnownRevisions;
  readonly webhooks: WebhookWriter;
  readonly memory: PassMemory<ConflictMemory>;
}

/** How long to wait if no report of a replica triggers a pass earlier, in milliseconds. */
const pendingMs = 1000;

const noWebhook = 'there is no webhook, so pods that follow the tag get no sidecar';

type TagResult = PassResult<TagFindings>;

/** Reconciles RevisionTags: plans the target, writes the webhook, then the status. */
export class TagReconciler {
  readonly #options: TagReconcilerOptions;
  readonly #status: TagStatusWriter;

  constructor(options: TagReconcilerOptions) {
    this.#options = options;
    this.#status = new TagStatusWriter(options);
  }

  /**
   * Reconciles one tag, or cleans up after a deleted one. Resolves with the milliseconds until the
   * next pass. Rejects when a request to the API server fails; the caller retries with back-off.
   */
  async reconcile(name: string, signal: AbortSignal): Promise<number> {
    const { view, settings, refusals } = this.#options;
    const object = view.tags.get(name);
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return this.#gone(name, signal);
    const { spec } = object as { spec?: { operatorClass?: string } };
    if ((spec?.operatorClass ?? 'default') !== settings.context.operatorClass) return this.#gone(name, signal);
    const tag = parsedTag(object);
    if (tag instanceof ConfigurationError) return this.#refuse(object, tag.message, signal);
    const [mistake] = validateRevisionTag(tag);
    if (mistake !== undefined) return this.#refuse(object, mistake.message, signal);
    refusals.report(object, 'Object');
    const winner = tagWinner(tag, this.#options.targets.claims());
    if (winner !== undefined) {
      const advice = winner.isCustom ? '; give it its own spec.webhook.keys or selectors that exclude the tag' : '';
      const message = `${nameOf(winner)} is older and selects the same pods, so this tag publishes nothing${advice}`;
      return this.#withdraw(object, tag, message, signal);
    }
    refusals.report(object, 'Overlap');
    return this.#apply(tag, object, signal);
  }

  async #apply(tag: RevisionTag, object: KubernetesObject, signal: AbortSignal): Promise<number> {
    const { settings, view, webhooks, rollouts, refusals } = this.#options;
    const { name } = tag.metadata;
    const pass = { tag, object, signal };
    const plan = this.#plan(tag, signal);
    const { revisionReady: RevisionReady } = plan;
    const Overlap = no('NoOverlap', 'no older InjectorConfig or RevisionTag selects the same pods');
    this.#report(object, 'Configuration', RevisionReady);
    const context = manifestContext(settings, view);
    if (plan.target === undefined || context === undefined) {
      const WebhookReady = context === undefined ? ownerMissing : this.#unpublished(name, RevisionReady);
      const findings = { Overlap, RevisionReady, WebhookReady };
      return this.#keep(pass, { findings, retryAfter: rollouts.wait(tag, plan.rollout) });
    }
    const { config, published, rollout } = plan.target;
    const target: CheckedWebhook = { tag, context, config, ...published, rollout };
    const claim = foreignOverlap(claimOfTag(tag, config), view.mutatingWebhooks.list());
    const { foreign, finding: ForeignOverlap } = foreignFinding(claim, config);
    const findings = { Overlap, RevisionReady, ForeignOverlap };
    if (foreign !== undefined && view.tagWebhook(name) === undefined) {
      const message = `${foreign}, so nothing is published; ${safeTakeover(`spec.webhook.takeover of InjectorConfig ${config.metadata.name}`)}`;
      const WebhookReady = no('ForeignOverlap', message);
      this.#report(object, 'Webhook', WebhookReady);
      return this.#status.write(pass, { ...findings, WebhookReady }, resyncMs);
    }
    if (webhooks.canWrite(target)) return this.#move(target, plan.rollout, pass, findings);
    const obstacle = await webhooks.checkBeforeWrite(target, signal);
    // The cluster may have changed during the reachability check: start again.
    if (obstacle === undefined) return this.reconcile(name, signal);
    const { finding: WebhookReady, retryAfter } = obstacle;
    refusals.report(object, 'Webhook', WebhookReady);
    return this.#keep(pass, { findings: { ...findings, WebhookReady }, retryAfter });
  }

  /** Returns `WebhookReady` of a tag without a target; undefined if it stays unchanged. */
  #unpublished(name: string, revisionReady: Finding | undefined): Finding | undefined {
    const { view, targets } = this.#options;
    if (view.tagWebhook(name) !== undefined || revisionReady === undefined) return undefined;
    if (revisionReady.status !== 'True') return no(revisionReady.reason, noWebhook);
    const current = `InjectorConfig ${targets.current(name)?.metadata.name ?? ''}, to which the tag points,`;
    return no('NotPublished', `${current} is paused (spec.paused) or publishes nothing yet; ${noWebhook}`);
  }

  /** Ends a pass that cannot write the desired webhook. Updates the live webhook's caBundle. */
  async #keep(pass: TagPass, result: TagResult): Promise<number> {
    const writes = await this.#keepTrust(pass.tag.metadata.name, pass.signal);
    return this.#settle(pass, [result, { writes }]);
  }

  async #keepTrust(name: string, signal: AbortSignal): Promise<readonly ObjectWrite[]> {
    const { view, webhooks, known } = this.#options;
    const live = view.tagWebhook(name);
    if (live === undefined || !view.isOurs(live)) return [];
    return webhooks.keep(live, known.get(injectorConfigOf(live) ?? '')?.caBundlePem, signal);
  }

  /** Writes the state of the rollout, then the webhook, then the status. */
  async #move(
    decided: CheckedWebhook,
    rollout: TagPlan['rollout'],
    pass: TagPass & { readonly tag: RevisionTag },
    findings: TagFindings,
  ): Promise<number> {
    const { view, known, webhooks, events, refusals, rollouts, logger } = this.#options;
    const { tag, signal } = pass;
    const { name } = tag.metadata;
    const { config, hash } = decided;
    const object = rollout === undefined ? pass.object : await this.#status.record(tag, pass.object, rollout, signal);
    if (object === undefined) return this.#keep(pass, { findings, retryAfter: refusedStatusMs });
    // A rotation may have progressed during that write.
    const { caBundlePem } = known.get(config.metadata.name) ?? {};
    if (caBundlePem === undefined) return 0;
    const before = this.#status.liveTarget(name);
    const { isDeferred, narrowed, refusal, ...written } = await webhooks.apply({ ...decided, caBundlePem }, signal);
    const again = rollouts.wait(tag, rollout);
    // Never retry a failed write immediately, even if the rollout is due.
    const retryAfter = isDeferred || refusal !== undefined ? Math.max(pendingMs, again) : again;
    const results: TagResult[] = [{ findings, retryAfter }, written];
    if (refusal === undefined) {
      if (!isDeferred) {
        const message = `the webhook names InjectorConfig ${config.metadata.name}, configuration ${hash}`;
        results.push({ findings: { WebhookReady: yes('Published', message), Narrowed: narrowed } });
        const from = before?.config.metadata.name;
        if (from !== config.metadata.name) {
          events.tagMoved(object, revisionOf(config), hash, before && revisionOf(before.config));
          logger.info('moved a tag', { revisionTag: name, to: config.metadata.name, from, hash });
        }
      }
      refusals.report(object, 'Webhook');
    } else {
      const writes = await this.#keepTrust(name, signal);
      const stays = view.tagWebhook(name) === undefined ? noWebhook : 'the webhook stays as it was';
      const WebhookReady = no('Invalid', `${refusal.message}; ${stays}`);
      refusals.report(object, 'Webhook', { ...WebhookReady, message: refusal.message });
      results.push({ findings: { WebhookReady }, writes, retryAfter: refusal.retryAfter });
    }
    return this.#settle({ ...pass, object }, results, rollout?.state);
  }

  /** Records the writes of a pass, and writes the status. */
  #settle(pass: TagPass, results: readonly TagResult[], state?: RolloutState): Promise<number> {
    const { view, events, memory, clock } = this.#options;
    const { name } = pass.tag.metadata;
    const webhook = view.tagWebhook(name);
    const { findings, writes, retryAfter } = combineResults(...results);
    const webhooks = webhook === undefined ? [] : [webhook];
    const { finding: Conflict, again } = observeConflict(memory.of(tagKey(name)), clock.monotonic(), writes, webhooks);
    events.repaired(pass.object, writes);
    return this.#status.write(pass, { ...findings, Conflict }, Math.min(retryAfter, again), state);
  }

  #plan(tag: RevisionTag, signal: AbortSignal): TagPlan {
    const { targets, known, reports, rollouts, view } = this.#options;
    const current = targets.current(tag.metadata.name);
    const situation = {
      tag,
      desired: targets.desired(tag),
      current,
      published: (name: string) => known.published(name),
      lacking: (name: string, hash: string) => reports.lacking(name, hash),
      revisions: revisionsOf(targets.configs()),
    };
    // A tag that has no target has no workloads yet, so it needs no canary.
    if (tag.spec.strategy?.canary === undefined || current === undefined) {
      rollouts.rest(tag.metadata.name, signal);
      return planTag(situation);
    }
    return rollouts.plan({ ...situation, current }, view.tagWebhook(tag.metadata.name), signal);
  }

  /** Withdraws the webhook, because an older object selects the same pods. */
  async #withdraw(object: KubernetesObject, tag: RevisionTag, message: string, signal: AbortSignal): Promise<number> {
    const findings = { Overlap: yes('Overlap', message), WebhookReady: no('Overlap', message) };
    this.#options.refusals.report(object, 'Overlap', findings.Overlap);
    await this.#remove(tag.metadata.name, signal);
    return this.#status.write({ tag, object, signal }, findings, resyncMs);
  }

  /** Cleans up after a tag that was deleted, or that now belongs to another operator class. */
  async #gone(name: string, signal: AbortSignal): Promise<number> {
    const { view, memory, rollouts, targets, logger } = this.#options;
    memory.forget(tagKey(name));
    rollouts.forget(name, signal);
    this.#status.forget(name);
    // The pass over InjectorConfig `default` updates the webhook. A deletion would stop injection.
    const defaultConfig = name === defaultRevision ? targets.configs().find(isUsableDefault) : undefined;
    if (defaultConfig !== undefined && configWinner(defaultConfig, targets.claims()) === undefined) {
      const live = view.tagWebhook(name);
      // If the webhook has lost the tag's label, it already belongs to the InjectorConfig.
      if (live !== undefined && tagOf(live) === name) await this.#keepTrust(name, signal);
      return resyncMs;
    }
    if (await this.#remove(name, signal)) {
      logger.info('removed the webhook of a deleted tag', { revisionTag: name });
    }
    return resyncMs;
  }

  /** Removes the tag's webhook and any probe webhook. Resolves with whether a webhook existed. */
  async #remove(name: string, signal: AbortSignal): Promise<boolean> {
    const { view, webhooks } = this.#options;
    webhooks.forget(tagProbeSubject(name));
    await webhooks.sweep(tagProbeSubject(name), signal);
    const live = view.tagWebhook(name);
    if (live === undefined || !view.isOurs(live) || tagOf(live) !== name) return false;
    await webhooks.remove(live, signal);
    return true;
  }

  async #refuse(object: KubernetesObject, message: string, signal: AbortSignal): Promise<number> {
    const findings = { RevisionReady: no('Invalid', message) };
    this.#options.refusals.report(object, 'Object', findings.RevisionReady);
    const { metadata, status } = object as RevisionTag;
    return this.#keep({ tag: { metadata, ...(status && { status }) }, object, signal }, { findings });
  }

  /** Emits an Event, once, for a finding that needs a user's action. */
  #report(object: KubernetesObject, topic: 'Configuration' | 'Webhook', finding: Finding | undefined): void {
    if (finding === undefined) return;
    this.#options.refusals.report(object, topic, finding.status === 'True' ? undefined : finding);
  }
}

/** Reports whether an InjectorConfig can take over the webhook of tag `default`. */
function isUsableDefault({ metadata, spec }: InjectorConfig): boolean {
  return metadata.name === defaultRevision && metadata.deletionTimestamp === undefined && !spec.paused;
}
