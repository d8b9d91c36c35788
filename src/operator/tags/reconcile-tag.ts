import { ConfigurationError } from '../../api/errors.ts';
import { tagProbeSubject, tagWebhookConfiguration } from '../../api/names.ts';
import { type RolloutState, defaultRevision, type RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import { injectorConfigOf, tagOf } from '../cluster-view.ts';
import { type InjectorConfig, revisionOf } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { validateRevisionTag } from '../../api/revision-tag/revision-tag-rules.ts';
import { claimOfTag, configWinner, nameOf, tagWinner } from '../../selection/pod-claims.ts';
import { ConflictMemory } from '../webhooks/conflict-memory.ts';
import { foreignOverlap } from '../../selection/foreign-overlap.ts';
import { foreignFinding } from '../webhooks/foreign-finding.ts';
import { manifestContext, resyncMs } from '../settings.ts';
import { noWrites, type WriteOutcome } from '../controller/owned-objects.ts';
import { parsedTag } from '../controller/parsed-configs.ts';
import type { Refusals } from '../controller/refusals.ts';
import { type Finding, no, yes } from '../controller/revision-status.ts';
import { ownerMissing } from '../webhooks/decide-webhook.ts';
import type { KnownRevisions } from '../webhooks/revision-facts.ts';
import type { WebhookTarget } from '../webhooks/reachability-check.ts';
import type { WebhookWriter } from '../webhooks/webhook-writer.ts';
import { planTag, revisionsOf, type TagPlan } from './tag-plan.ts';
import type { TagFindings } from './tag-status.ts';
import { type TagPass, TagStatusWriter, type TagStatusWriterOptions } from './tag-status-writer.ts';

export interface TagReconcilerOptions extends TagStatusWriterOptions {
  readonly known: KnownRevisions;
  readonly webhooks: WebhookWriter;
  readonly refusals: Refusals;
}

/** How soon to look again for what replicas report; their reports wake us sooner. Milliseconds. */
const pendingMs = 1000;

/** A pass over one RevisionTag: where it should lead, the webhook written, status once. */
export class TagReconciler {
  readonly #options: TagReconcilerOptions;
  readonly #conflicts: ConflictMemory;
  readonly #status: TagStatusWriter;

  constructor(options: TagReconcilerOptions) {
    this.#options = options;
    this.#status = new TagStatusWriter(options);
    this.#conflicts = new ConflictMemory(options.clock);
  }

  /**
   * Reconciles one tag, or what one that is gone has left behind.
   * Resolves with the milliseconds until it wants to be called again. Rejects when the API server does: call again with back-off.
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
    refusals.settled(name, 'Object');
    const winner = tagWinner(tag, this.#options.targets.claims());
    if (winner !== undefined) {
      const advice = winner.isCustom ? '; give it its own spec.webhook.keys or selectors that exclude the tag' : '';
      const message = `${nameOf(winner)} is older and takes the same pods; nothing of this tag is published${advice}`;
      return this.#yield(object, tag, message, signal);
    }
    refusals.settled(name, 'Overlap');
    return this.#lead(tag, object, signal);
  }

  async #lead(tag: RevisionTag, object: KubernetesObject, signal: AbortSignal): Promise<number> {
    const { settings, view, webhooks, rollouts, refusals, targets } = this.#options;
    const { name } = tag.metadata;
    const plan = this.#plan(tag);
    const { revisionReady } = plan;
    const findings: TagFindings = {
      Overlap: no('NoOverlap', 'nobody else takes the same pods'),
      RevisionReady: revisionReady,
    };
    const pass = { tag, object, findings, signal };
    this.#tell(object, 'Configuration', revisionReady);
    const context = manifestContext(settings, view);
    if (plan.target === undefined || context === undefined) {
      const nowhere = 'there is no webhook: the tag leads nowhere, so nobody who follows it is injected';
      if (context === undefined) findings.WebhookReady = ownerMissing;
      else if (view.tagWebhook(name) === undefined && revisionReady !== undefined) {
        const home = `InjectorConfig ${targets.current(name)?.metadata.name ?? ''}, where the tag stands,`;
        const idle = no('NotPublished', `${home} is paused (spec.paused) or publishes nothing yet; ${nowhere}`);
        findings.WebhookReady = revisionReady.status === 'True' ? idle : no(revisionReady.reason, nowhere);
      }
      return this.#keep(pass, [resyncMs, rollouts.wait(tag, plan.rollout)]);
    }
    const { config, published, rollout } = plan.target;
    const target: WebhookTarget = { tag, context, config, ...published, rollout };
    const claim = foreignOverlap(claimOfTag(tag, config), view.mutatingWebhooks.list());
    const { foreign, finding } = foreignFinding(claim, config);
    findings.ForeignOverlap = finding;
    if (foreign !== undefined && view.tagWebhook(name) === undefined) {
      const message = `${foreign}, so nothing is published; remove the other injector or its webhook, or set spec.webhook.takeover of InjectorConfig ${config.metadata.name}`;
      findings.WebhookReady = no('ForeignOverlap', message);
      this.#tell(object, 'Webhook', findings.WebhookReady);
      return this.#status.write(pass, [resyncMs]);
    }
    if (webhooks.isOpen(target)) return this.#move(target, plan.rollout, pass);
    const closed = await webhooks.tryOut(target, signal);
    // What was found before the trial may have changed meanwhile: everything is looked at again.
    if (closed === undefined) return this.reconcile(name, signal);
    findings.WebhookReady = closed.finding;
    refusals.refuse(object, 'Webhook', closed.finding.reason, closed.finding.message);
    return this.#keep(pass, [closed.retryAfter]);
  }

  /** What is live stays where it leads, and trusts what is served there; for everything that keeps another webhook from being written. */
  async #keep(pass: TagPass, waits: readonly number[]): Promise<number> {
    const writes = noWrites();
    await this.#keepTrust(pass.tag.metadata.name, writes, pass.signal);
    return this.#settle(pass, writes, waits);
  }

  async #keepTrust(name: string, writes: WriteOutcome, signal: AbortSignal): Promise<void> {
    const { view, webhooks, known } = this.#options;
    const live = view.tagWebhook(name);
    const { caBundlePem } = known.get((live && injectorConfigOf(live)) ?? '') ?? {};
    if (live !== undefined && view.isOurs(live)) await webhooks.keep(live, caBundlePem, writes, signal);
  }

  /** Writes the course of a rollout, then the webhook, then the status. */
  async #move(
    decided: WebhookTarget,
    rollout: TagPlan['rollout'],
    pass: TagPass & { readonly tag: RevisionTag },
  ): Promise<number> {
    const { view, known, webhooks, events, refusals, rollouts, logger } = this.#options;
    const { tag, findings, signal } = pass;
    const { name } = tag.metadata;
    const { config, hash } = decided;
    const object = rollout === undefined ? pass.object : await this.#status.course(tag, pass.object, rollout, signal);
    // A rotation may have gone on while the course was written.
    const { caBundlePem } = known.get(config.metadata.name) ?? {};
    if (caBundlePem === undefined) return 0;
    const before = this.#status.place(name);
    const writes = noWrites();
    const { isDeferred, narrowed, refusal } = await webhooks.apply({ ...decided, caBundlePem }, writes, signal);
    const again = rollouts.wait(tag, rollout);
    // What could not be written is not tried again at once, however much there is to do.
    const waits = [resyncMs, isDeferred || refusal !== undefined ? Math.max(pendingMs, again) : again];
    if (refusal === undefined) {
      if (!isDeferred) {
        const message = `the webhook leads to InjectorConfig ${config.metadata.name}, configuration ${hash}`;
        findings.WebhookReady = yes('Published', message);
        findings.Narrowed = narrowed;
        const from = before?.config.metadata.name;
        if (from !== config.metadata.name) {
          events.led(object, revisionOf(config), hash, before && revisionOf(before.config));
          logger.info('a tag leads elsewhere', { revisionTag: name, to: config.metadata.name, from, hash });
        }
      }
      refusals.settled(name, 'Webhook');
    } else {
      await this.#keepTrust(name, writes, signal);
      const stays =
        view.tagWebhook(name) === undefined
          ? 'there is no webhook, so nobody who follows the tag is injected'
          : 'the webhook stays as it was';
      findings.WebhookReady = no('Invalid', `${refusal.message}; ${stays}`);
      refusals.refuse(object, 'Webhook', 'Invalid', refusal.message);
      waits.push(refusal.retryAfter);
    }
    return this.#settle({ ...pass, object }, writes, waits, rollout?.state);
  }

  /** What the writes of a pass came to, and the status. */
  #settle(pass: TagPass, writes: WriteOutcome, waits: readonly number[], state?: RolloutState): Promise<number> {
    const { name } = pass.tag.metadata;
    const webhook = this.#options.view.tagWebhook(name);
    const { finding, again = resyncMs } = this.#conflicts.observe(name, writes.foreign, webhook ? [webhook] : []);
    pass.findings.Conflict = finding;
    this.#options.events.repaired(pass.object, writes.repairs);
    return this.#status.write(pass, [...waits, again, writes.retryAfter ?? resyncMs], state);
  }

  #plan(tag: RevisionTag): TagPlan {
    const { targets, known, reports, rollouts, view } = this.#options;
    const current = targets.current(tag.metadata.name);
    const situation = {
      tag,
      wanted: targets.wanted(tag),
      current,
      published: (name: string) => known.published(name),
      lacking: (name: string, hash: string) => reports.lacking(name, hash),
      revisions: revisionsOf(targets.configs()),
    };
    // Before it leads anywhere there is nobody to be careful with.
    if (tag.spec.strategy?.canary === undefined || current === undefined) return planTag(situation);
    return rollouts.plan({ ...situation, current }, view.tagWebhook(tag.metadata.name));
  }

  /** Somebody older takes the same pods: nothing of this tag may be there. */
  async #yield(object: KubernetesObject, tag: RevisionTag, message: string, signal: AbortSignal): Promise<number> {
    this.#options.refusals.refuse(object, 'Overlap', 'Overlap', message);
    await this.#remove(tag.metadata.name, signal);
    const findings = { Overlap: yes('Overlap', message), WebhookReady: no('Overlap', message) };
    return this.#status.write({ tag, object, findings, signal }, [resyncMs]);
  }

  /** The tag is gone, or of another class now: its webhook goes, or is given back to InjectorConfig `default`. */
  async #gone(name: string, signal: AbortSignal): Promise<number> {
    const { view, refusals, rollouts, targets, logger } = this.#options;
    refusals.forget(name);
    this.#conflicts.forget(name);
    rollouts.forget(name);
    this.#status.forget(name);
    // One update by that InjectorConfig's own pass: in between nobody would be injected.
    const heir = name === defaultRevision ? targets.configs().find(isHeir) : undefined;
    if (heir !== undefined && configWinner(heir, targets.claims()) === undefined) {
      const live = view.tagWebhook(name);
      // Without the tag's label it is the InjectorConfig's already.
      if (live !== undefined && tagOf(live) === name) await this.#keepTrust(name, noWrites(), signal);
      return resyncMs;
    }
    if (await this.#remove(name, signal)) {
      logger.info('the webhook of a tag that is gone is removed', { revisionTag: name });
    }
    return resyncMs;
  }

  /** Takes its webhook away, and the probe webhook of a trial that was left, whatever they lead to. True when there was one. */
  async #remove(name: string, signal: AbortSignal): Promise<boolean> {
    const { view, webhooks } = this.#options;
    webhooks.forget(tagProbeSubject(name), tagWebhookConfiguration(name));
    await webhooks.sweep(tagProbeSubject(name), signal);
    const live = view.tagWebhook(name);
    if (live === undefined || !view.isOurs(live) || tagOf(live) !== name) return false;
    await webhooks.remove(live, signal);
    return true;
  }

  async #refuse(object: KubernetesObject, message: string, signal: AbortSignal): Promise<number> {
    this.#options.refusals.refuse(object, 'Object', 'Invalid', message);
    const { metadata, status } = object as RevisionTag;
    const findings = { RevisionReady: no('Invalid', message) };
    return this.#keep({ tag: { metadata, ...(status && { status }) }, object, findings, signal }, [resyncMs]);
  }

  /** What somebody has to do something about is told by an Event, once. */
  #tell(object: KubernetesObject, topic: 'Configuration' | 'Webhook', finding: Finding | undefined): void {
    const { refusals } = this.#options;
    if (finding === undefined) return;
    if (finding.status === 'True') refusals.settled(object.metadata.name ?? '', topic);
    else refusals.refuse(object, topic, finding.reason, finding.message);
  }
}

/** An InjectorConfig `default` that takes back what tag `default` had. */
function isHeir({ metadata, spec }: InjectorConfig): boolean {
  return metadata.name === defaultRevision && metadata.deletionTimestamp === undefined && !spec.paused;
}
