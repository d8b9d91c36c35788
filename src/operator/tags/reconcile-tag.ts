import { ConfigurationError } from '../../api/errors.ts';
import { revisionOf, type InjectorConfig } from '../../api/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes.ts';
import { defaultRevision, type RevisionTag } from '../../api/revision-tag.ts';
import { validateRevisionTag } from '../../api/validate-revision-tag.ts';
import { claimantOfTag, nameOf } from '../../manifests/claims.ts';
import { ConflictMemory } from '../conflict-memory.ts';
import { foreignFinding, foreignOverlap } from '../foreign-overlap.ts';
import { manifestContext } from '../manifest-context.ts';
import { configWinner, tagWinner } from '../overlap.ts';
import { noWrites } from '../owned-objects.ts';
import { ParsedTags } from '../parsed-configs.ts';
import type { ReplicaReports } from '../ports.ts';
import type { Refusals } from '../refusals.ts';
import type { Finding } from '../revision-status.ts';
import { resyncMs, type OperatorSettings } from '../settings.ts';
import type { PublishedRevisions } from './published-revisions.ts';
import type { RevisionLocks } from './revision-locks.ts';
import { planTag, revisionsOf, type TagPlan } from './tag-plan.ts';
import type { TagFindings } from './tag-status.ts';
import { TagStatusWriter, type TagStatusWriterOptions } from './tag-status-writer.ts';
import type { TagTarget } from './tag-webhook.ts';

export interface TagReconcilerOptions extends TagStatusWriterOptions {
  readonly settings: OperatorSettings;
  readonly published: PublishedRevisions;
  readonly locks: RevisionLocks;
  readonly reports: Pick<ReplicaReports, 'lacking'>;
  readonly refusals: Refusals;
}

/** How soon to look again for an InjectorConfig whose own pass is under way. Milliseconds. */
const busyMs = 20;
/** How soon to look again for what replicas report; their reports wake us sooner. Milliseconds. */
const pendingMs = 1000;

/** A pass over one RevisionTag: where it should lead, the webhook written, status once. */
export class TagReconciler {
  readonly #options: TagReconcilerOptions;
  readonly #conflicts: ConflictMemory;
  readonly #tags = new ParsedTags();
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
    const { view, settings, refusals, locks } = this.#options;
    const object = view.tags.get(name);
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return this.#gone(name, signal);
    const { spec } = object as { spec?: { operatorClass?: string } };
    if ((spec?.operatorClass ?? 'default') !== settings.context.operatorClass) return this.#gone(name, signal);
    const tag = this.#tags.parse(object);
    if (tag instanceof ConfigurationError) return this.#refuse(object, 'Invalid', tag.message, signal);
    const [mistake] = validateRevisionTag(tag);
    if (mistake !== undefined) return this.#refuse(object, 'Invalid', mistake.message, signal);
    refusals.settled(name, 'Object');
    const winner = tagWinner(tag, this.#options.targets.claims());
    if (winner !== undefined) {
      const advice = winner.isCustom ? '; give it its own spec.webhook.keys or selectors that exclude the tag' : '';
      const message = `${nameOf(winner)} is older and takes the same pods; nothing of this tag is published${advice}`;
      const done = await locks.tryHold(this.#involved(tag), () => this.#yield(object, tag, message, signal));
      return done ?? busyMs;
    }
    refusals.settled(name, 'Overlap');
    return this.#lead(tag, object, signal);
  }

  async #lead(tag: RevisionTag, object: KubernetesObject, signal: AbortSignal): Promise<number> {
    const { settings, view, webhook, locks, refusals } = this.#options;
    const { name } = tag.metadata;
    const findings: TagFindings = {
      Overlap: { status: 'False', reason: 'NoOverlap', message: 'nobody else takes the same pods' },
    };
    const plan = this.#plan(tag);
    findings.RevisionReady = plan.revisionReady;
    this.#tell(object, 'Configuration', plan.revisionReady);
    const context = manifestContext(settings, view);
    if (plan.target === undefined || context === undefined) {
      findings.WebhookReady =
        context === undefined
          ? no('OwnerMissing', 'the owner of the webhook configurations (--owner) does not exist; nothing is published')
          : this.#withoutTarget(tag, plan);
      const again = this.#options.rollouts.wait(tag, plan.rollout);
      return this.#status.write(tag, object, findings, [resyncMs, again], signal);
    }
    const target: TagTarget = { tag, context, ...plan.target };
    const isInForce = webhook.live(name) !== undefined;
    const claim = foreignOverlap(claimantOfTag(tag, target.config), view.mutatingWebhooks.list());
    const { foreign, finding } = foreignFinding(claim, target.config);
    findings.ForeignOverlap = finding;
    if (foreign !== undefined && !isInForce) {
      const message = `${foreign}, so nothing is published; remove the other injector or its webhook, or set spec.webhook.takeover of InjectorConfig ${target.config.metadata.name}`;
      findings.WebhookReady = no('ForeignOverlap', message);
      this.#tell(object, 'Webhook', findings.WebhookReady);
      return this.#status.write(tag, object, findings, [resyncMs], signal);
    }
    const closed = webhook.isOpen(target) ? undefined : await webhook.tryOut(target, signal);
    if (closed !== undefined) {
      findings.WebhookReady = closed.finding;
      refusals.refuse(object, 'Webhook', closed.finding.reason, closed.finding.message);
      return this.#status.write(tag, object, findings, [closed.retryAfter], signal);
    }
    // What was found before the trial may have changed meanwhile, and nobody may be at the webhooks of either.
    const moved = locks.tryHold(this.#involved(tag), () => this.#move(tag, object, findings, target, signal));
    return moved ?? busyMs;
  }

  /** With the locks of all that is involved: written only if the plan is what was tried out. */
  async #move(
    tag: RevisionTag,
    read: KubernetesObject,
    findings: TagFindings,
    tried: TagTarget,
    signal: AbortSignal,
  ): Promise<number> {
    const { view, settings, webhook, events, refusals, rollouts, logger } = this.#options;
    const { name } = tag.metadata;
    const { target: now, rollout } = this.#plan(tag);
    const context = manifestContext(settings, view);
    const isAsTried =
      view.tags.get(name)?.metadata.generation === tag.metadata.generation &&
      now?.config.metadata.name === tried.config.metadata.name &&
      context !== undefined;
    if (!isAsTried) return 0;
    const target = { tag, context, ...now };
    if (!webhook.isOpen(target)) return 0;
    const object = rollout === undefined ? read : await this.#status.course(tag, read, rollout, signal);
    const before = this.#status.place(name);
    const writes = noWrites();
    const { isDeferred, narrowed, refusal } = await webhook.apply(target, writes, signal);
    const { config, published } = target;
    const again = rollouts.wait(tag, rollout);
    // What could not be written is not tried again at once, however much there is to do.
    const waits = [resyncMs, isDeferred || refusal !== undefined ? Math.max(pendingMs, again) : again];
    if (refusal === undefined) {
      if (!isDeferred) {
        const message = `the webhook leads to InjectorConfig ${config.metadata.name}, configuration ${published.hash}`;
        findings.WebhookReady = { status: 'True', reason: 'Published', message };
        findings.Narrowed = narrowed;
        if (before?.config.metadata.name !== config.metadata.name) {
          events.led(object, revisionOf(config), published.hash, before && revisionOf(before.config));
          const from = before?.config.metadata.name;
          logger.info('a tag leads elsewhere', {
            revisionTag: name,
            to: config.metadata.name,
            from,
            hash: published.hash,
          });
        }
      }
      refusals.settled(name, 'Webhook');
    } else {
      const stays =
        webhook.live(name) === undefined
          ? 'there is no webhook, so nobody who follows the tag is injected'
          : 'the webhook stays as it was';
      findings.WebhookReady = no('Invalid', `${refusal.message}; ${stays}`);
      refusals.refuse(object, 'Webhook', 'Invalid', refusal.message);
      waits.push(refusal.retryAfter);
    }
    const { finding: conflict, again: anew } = this.#conflicts.observe(name, writes.foreign);
    findings.Conflict = conflict;
    events.repaired(object, writes.repairs);
    if (anew !== undefined) waits.push(anew);
    if (writes.retryAfter !== undefined) waits.push(writes.retryAfter);
    return this.#status.write(tag, object, findings, waits, signal, rollout?.state);
  }

  #plan(tag: RevisionTag): TagPlan {
    const { targets, published, reports, rollouts, webhook } = this.#options;
    const configs = targets.configs();
    const current = targets.current(tag.metadata.name);
    const situation = {
      tag,
      wanted: targets.wanted(tag),
      current,
      published: (name: string) => published.of(name),
      lacking: (name: string, hash: string) => reports.lacking(name, hash),
      revisions: revisionsOf(configs),
    };
    // Before it leads anywhere there is nobody to be careful with.
    if (tag.spec.strategy?.canary === undefined || current === undefined) return planTag(situation);
    return rollouts.plan({ ...situation, current }, webhook.live(tag.metadata.name));
  }

  /** What to say of the webhook when it cannot be written now. */
  #withoutTarget({ metadata: { name } }: RevisionTag, { revisionReady }: TagPlan): Finding | undefined {
    const { webhook } = this.#options;
    // It stays as it is, and its InjectorConfig's pass looks after what it trusts.
    if (webhook.live(name) !== undefined || revisionReady === undefined) return undefined;
    return no(revisionReady.reason, 'there is no webhook: the tag leads nowhere, so nobody who follows it is injected');
  }

  /** The InjectorConfigs at whose webhooks a write for this tag is. */
  #involved(tag: RevisionTag): string[] {
    const { targets } = this.#options;
    const configs: (InjectorConfig | undefined)[] = [targets.current(tag.metadata.name), targets.wanted(tag)];
    const decided = tag.status?.rollout?.stable.injectorConfig;
    return [...new Set([...configs.map((config) => config?.metadata.name), decided].flatMap((name) => name ?? []))];
  }

  /** Somebody older takes the same pods: nothing of this tag may be there. */
  async #yield(object: KubernetesObject, tag: RevisionTag, message: string, signal: AbortSignal): Promise<number> {
    const { refusals, webhook } = this.#options;
    refusals.refuse(object, 'Overlap', 'Overlap', message);
    await webhook.remove(tag.metadata.name, signal);
    const overlap: Finding = { status: 'True', reason: 'Overlap', message };
    return this.#status.write(
      tag,
      object,
      { Overlap: overlap, WebhookReady: no('Overlap', message) },
      [resyncMs],
      signal,
    );
  }

  /** The tag is gone, or of another class now: its webhook goes, or is given back to InjectorConfig `default`. */
  async #gone(name: string, signal: AbortSignal): Promise<number> {
    const { refusals, webhook, locks, targets, logger } = this.#options;
    refusals.forget(name);
    this.#conflicts.forget(name);
    this.#options.rollouts.forget(name);
    this.#status.forget(name);
    const current = targets.current(name)?.metadata.name;
    // One update by that InjectorConfig's own pass: in between nobody would be injected.
    const heir = name === defaultRevision ? targets.configs().find(isHeir) : undefined;
    if (heir !== undefined && configWinner(heir, targets.claims()) === undefined) return resyncMs;
    const removed = await locks.tryHold(current === undefined ? [] : [current], () => webhook.remove(name, signal));
    if (removed === undefined) return busyMs;
    if (removed) logger.info('the webhook of a tag that is gone is removed', { revisionTag: name });
    return resyncMs;
  }

  async #refuse(object: KubernetesObject, reason: string, message: string, signal: AbortSignal): Promise<number> {
    this.#options.refusals.refuse(object, 'Object', reason, message);
    const { metadata, status } = object as RevisionTag;
    return this.#status.write(
      { metadata, ...(status && { status }) },
      object,
      { RevisionReady: no(reason, message) },
      [resyncMs],
      signal,
    );
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

function no(reason: string, message: string): Finding {
  return { status: 'False', reason, message };
}
