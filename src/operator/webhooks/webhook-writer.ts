import { injectorConfigOf } from '../cluster-view.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { ApiError } from '../../kube/api-error.ts';
import { probeSubject } from '../../manifests/probe-objects.ts';
import {
  webhookConfiguration,
  type WebhookConfiguration,
  webhookName,
  withCaBundle,
} from '../../manifests/webhook-configuration.ts';
import type { ObjectWriter } from '../controller/object-writer.ts';
import type { WriteOutcome } from '../controller/owned-objects.ts';
import type { PassContext } from '../controller/pass-context.ts';
import { type Finding, no } from '../controller/revision-status.ts';
import { nameTaken } from './foreign-finding.ts';
import { leaveNarrowed, type Narrowing } from './narrowing.ts';
import type { ClosedGate, ReachabilityCheck, WebhookTarget } from './reachability-check.ts';

/** A name that another operator class has becomes free with an event; in case it is missed, look again. Milliseconds. */
const takenRetryMs = 30_000;

/**
 * How long a webhook that was refused is not tried again, in milliseconds. What is wanted differs when somebody has corrected it, and is tried at once;
 * that the same is valid later is rare: a policy or the API server must have changed.
 */
const refusedMs = 60_000;

/** What became of a webhook that was to be written. */
export interface WrittenWebhook {
  /** Another writer undoes what we do, and it is not our turn yet. */
  readonly isDeferred: boolean;
  /** Whether a tolerated manager narrows what it selects. */
  readonly narrowed: Finding;
  /** What the API server finds invalid in it, now or a moment ago, and the milliseconds after which it may be tried again. */
  readonly refusal?: { readonly message: string; readonly retryAfter: number };
}

export interface WebhookWriterOptions extends Pick<PassContext, 'view' | 'clock' | 'reports'> {
  readonly objects: ObjectWriter;
  readonly check: ReachabilityCheck;
}

/**
 * The only one that writes MutatingWebhookConfigurations: an InjectorConfig's own in the pass over the InjectorConfig, a tag's in the pass over the
 * tag. A write carries the resourceVersion of the object that it was decided from, so a leader that was frozen, or the pass that had the webhook of
 * the default before, cannot overwrite what is newer: the API server answers 409, and the next pass decides again.
 */
export class WebhookWriter {
  readonly #options: WebhookWriterOptions;
  /**
   * What the API server found invalid last, by metadata.name. Each attempt makes the next forced write of the same object wait: tried at each pass,
   * while a rollout is under way once a second, it would keep the caBundle of the live one from being repaired.
   */
  readonly #refused = new Map<string, { text: string; message: string; at: number }>();
  /** What is being written at this moment. */
  readonly #underWay = new Set<KubernetesObject>();

  constructor(options: WebhookWriterOptions) {
    this.#options = options;
  }

  /**
   * The webhook configurations by which API servers call an InjectorConfig now, or may in a moment: a rotation goes on only when all of them trust what
   * is to be served next. Those that are being written count as they were and as they will be.
   */
  callersOf(injectorConfig: string): KubernetesObject[] {
    const underWay = [...this.#underWay].filter((object) => injectorConfigOf(object) === injectorConfig);
    return [...this.#options.view.webhooksOf(injectorConfig), ...underWay];
  }

  /** What is there for a target: for an InjectorConfig its own webhook, and for tag `default` also that of InjectorConfig `default`. */
  live({ config, tag }: Pick<WebhookTarget, 'config' | 'tag'>): KubernetesObject | undefined {
    const { view } = this.#options;
    return tag === undefined ? view.ownWebhook(config.metadata.name) : view.tagWebhook(tag.metadata.name);
  }

  /** Whether every replica can read its path, and the API server has reached the webhook where it is to lead. */
  isOpen(target: WebhookTarget): boolean {
    const isReadable = typeof this.#options.reports.pathFormat() !== 'string';
    if (!isReadable || this.#options.view.otherClassAt(webhookName(target)) !== undefined) return false;
    return this.#options.check.isOpen(probeSubject(target), this.#desired(target).object, this.live(target));
  }

  /** Tries out a webhook that leads where it has not led before; what keeps it from being written, with the milliseconds to wait. */
  async tryOut(target: WebhookTarget, signal: AbortSignal): Promise<ClosedGate | undefined> {
    const taken = nameTaken(this.#options.view, webhookName(target));
    if (taken !== undefined) return { finding: taken, retryAfter: takenRetryMs };
    const format = this.#options.reports.pathFormat();
    if (typeof format === 'string') {
      const message = `no path that this version writes is read by every replica (${format}); the webhook stays as it was`;
      return { finding: no('WaitingForReplicas', message), retryAfter: takenRetryMs };
    }
    await this.#options.check.sweep(probeSubject(target), signal);
    return this.#options.check.check({ ...target, format }, this.#desired(target).object, this.live(target), signal);
  }

  /** Writes the webhook, the one write by which it is moved. A refusal is what the API server finds invalid in it (CEL that does not compile). */
  async apply(target: WebhookTarget, into: WriteOutcome, signal: AbortSignal): Promise<WrittenWebhook> {
    const live = this.live(target);
    const { object: desired, finding: narrowed } = this.#desired(target);
    const name = webhookName(target);
    const text = JSON.stringify(desired);
    const known = this.#refused.get(name);
    const retryAfter = known?.text === text ? known.at + refusedMs - this.#options.clock.monotonic() : 0;
    if (known !== undefined && retryAfter > 0) {
      return { isDeferred: false, narrowed, refusal: { message: known.message, retryAfter } };
    }
    try {
      const isDeferred = await this.#write(desired, live, into, signal);
      if (!isDeferred) this.#refused.delete(name);
      return { isDeferred, narrowed };
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 422) throw error;
      const { message } = error;
      this.#refused.set(name, { text, message, at: this.#options.clock.monotonic() });
      return { isDeferred: false, narrowed, refusal: { message, retryAfter: refusedMs } };
    }
  }

  /**
   * Leaves a webhook as it is, but for the caBundle, where no other may be written: so a mistake in a spec keeps no rotation from going on. Resolves
   * with whether that had to be put off.
   * @param caBundlePem of the InjectorConfig that the live webhook leads to, which may be another than the one that is wanted
   */
  async keep(
    live: KubernetesObject | undefined,
    caBundlePem: string | undefined,
    into: WriteOutcome,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (live === undefined || caBundlePem === undefined || caBundlePem === '') return false;
    return this.#write(withCaBundle(live, caBundlePem), live, into, signal);
  }

  /** Takes one away, see `ObjectWriter.remove`. */
  remove(object: KubernetesObject, signal: AbortSignal): Promise<KubernetesObject | undefined> {
    return this.#options.objects.remove(object, signal);
  }

  /** Removes the probe webhook that a process which ended too early has left. */
  sweep(subject: string, signal: AbortSignal): Promise<void> {
    return this.#options.check.sweep(subject, signal);
  }

  /** The webhook is gone: the next one has to be tried out. @param subject see `probeSubject` @param name of the webhook configuration */
  forget(subject: string, name: string): void {
    this.#options.check.forget(subject);
    this.#refused.delete(name);
  }

  #desired(target: WebhookTarget): Narrowing<WebhookConfiguration> {
    const format = this.#options.reports.pathFormat();
    const desired = webhookConfiguration(typeof format === 'string' ? target : { ...target, format }, target.context);
    return leaveNarrowed(desired, this.live(target), target.config.spec.webhook.toleratedManagers);
  }

  async #write(
    desired: WebhookConfiguration,
    live: KubernetesObject | undefined,
    into: WriteOutcome,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { resourceVersion } = live?.metadata ?? {};
    const metadata = resourceVersion === undefined ? desired.metadata : { ...desired.metadata, resourceVersion };
    this.#underWay.add(desired);
    try {
      const { outcome } = await this.#options.objects.apply({ ...desired, metadata }, into, signal);
      return outcome === 'Deferred';
    } finally {
      this.#underWay.delete(desired);
    }
  }
}
