import { injectorConfigOf } from '../cluster-view.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { ApiError } from '../../kube/api-error.ts';
import { probeSubject } from '../../manifests/probe-objects.ts';
import {
  webhookConfiguration,
  type WebhookConfiguration,
  withCaBundle,
  withFallback,
} from '../../manifests/webhook-configuration.ts';
import { webhookName } from '../../selection/webhook-selectors.ts';
import type { ObjectWriter } from '../controller/object-writer.ts';
import type { ObjectWrite } from '../controller/owned-objects.ts';
import type { PassContext, PassMemory } from '../controller/pass-context.ts';
import { type Finding, no } from '../controller/revision-status.ts';
import type { HoldPolicies } from '../holding/hold-policies.ts';
import { nameInUse } from './foreign-finding.ts';
import { leaveNarrowed, type Narrowing } from './narrowing.ts';
import {
  type CheckedWebhook,
  checkReachability,
  type EndpointMemory,
  hasReached,
  type ReachabilityParts,
  sweepProbe,
  type WriteObstacle,
} from './reachability-check.ts';

/** How long to wait while another operator class uses the name, without a watch event, in ms. */
const takenRetryMs = 30_000;

/**
 * How long to wait before retrying a rejected webhook, in milliseconds. A changed webhook is tried
 * immediately. The same webhook becomes valid only if a policy or the API server changes.
 */
const rejectedMs = 60_000;

/** The result of a write of a webhook. */
export interface WrittenWebhook {
  /** Whether the write was deferred because another writer conflicts with it. */
  readonly isDeferred: boolean;
  /** The condition `Narrowed`. */
  readonly narrowed: Finding;
  /** The API server's rejection of this webhook, and the milliseconds until the next attempt. */
  readonly refusal?: { readonly message: string; readonly retryAfter: number };
  readonly writes: readonly ObjectWrite[];
  /** The milliseconds until the policy that holds pods needs another pass. */
  readonly retryAfter?: number | undefined;
}

export interface WebhookMemory extends EndpointMemory {
  /**
   * The last rejection. Each attempt delays the next forced write to the same object, so an attempt
   * in every pass of a rollout would block caBundle repairs.
   */
  refused?: { readonly text: string; readonly message: string; readonly at: number };
}

export interface WebhookWriterOptions extends Pick<PassContext, 'reports'>, ReachabilityParts {
  readonly webhooks: ObjectWriter;
  /** By `probeSubject`. */
  readonly memory: PassMemory<WebhookMemory>;
  readonly holds: Pick<HoldPolicies, 'prepare' | 'isIntact' | 'withdraw'>;
}

/**
 * The only writer of MutatingWebhookConfigurations. Each pass over an InjectorConfig or tag writes
 * the webhook of this object. Each write carries the resourceVersion on which the decision depends,
 * so a former leader, or the previous owner of `sidecar-injector-default`, cannot overwrite a newer
 * version: the API server answers 409, and the next pass decides again.
 */
export class WebhookWriter {
  readonly #options: WebhookWriterOptions;
  /** The webhook configurations that are being written. */
  readonly #inFlight = new Set<KubernetesObject>();

  constructor(options: WebhookWriterOptions) {
    this.#options = options;
  }

  /**
   * Returns the webhook configurations through which API servers may call an InjectorConfig. During
   * a write, these include the old and the new version: a rotation must wait until all of them
   * trust the next certificate.
   */
  callersOf(injectorConfig: string): KubernetesObject[] {
    const inFlight = [...this.#inFlight].filter((object) => injectorConfigOf(object) === injectorConfig);
    return [...this.#options.view.webhooksOf(injectorConfig), ...inFlight];
  }

  /** Returns the live webhook of a target. Tag and InjectorConfig `default` share one webhook. */
  live({ config, tag }: Pick<CheckedWebhook, 'config' | 'tag'>): KubernetesObject | undefined {
    const { view } = this.#options;
    return tag === undefined ? view.ownWebhook(config.metadata.name) : view.tagWebhook(tag.metadata.name);
  }

  /** Reports whether every replica can parse the path and the API server reaches the endpoint. */
  canWrite(target: CheckedWebhook): boolean {
    const isReadable = typeof this.#options.reports.pathFormat() !== 'string';
    if (!isReadable || this.#options.view.otherClassAt(webhookName(target)) !== undefined) return false;
    return hasReached(this.#options, probeSubject(target), this.#desired(target).object, this.live(target));
  }

  /** Runs the reachability check. Resolves with the obstacle to a write, or undefined. */
  async checkBeforeWrite(target: CheckedWebhook, signal: AbortSignal): Promise<WriteObstacle | undefined> {
    const taken = nameInUse(this.#options.view, webhookName(target));
    if (taken !== undefined) return { finding: taken, retryAfter: takenRetryMs };
    const format = this.#options.reports.pathFormat();
    if (typeof format === 'string') {
      const message = `no path format of this version is supported by every replica (${format}); the webhook stays as it was`;
      return { finding: no('WaitingForReplicas', message), retryAfter: takenRetryMs };
    }
    await this.sweep(probeSubject(target), signal);
    const desired = this.#desired(target).object;
    return checkReachability(this.#options, { ...target, format }, desired, this.live(target), signal);
  }

  /** Writes the webhook. The API server may reject it, for example if CEL does not compile. */
  async apply(target: CheckedWebhook, signal: AbortSignal): Promise<WrittenWebhook> {
    const { holds, clock, memory } = this.#options;
    const live = this.live(target);
    const record = memory.of(probeSubject(target));
    const { isHolding, ...held } = await holds.prepare(target, this.#desired(target).object, live, signal);
    const { object: desired, finding: narrowed } = this.#desired({ ...target, isHolding });
    const unwritten = { ...held, narrowed, isDeferred: false };
    const text = JSON.stringify(desired);
    const { refused } = record;
    const retryAfter = refused?.text === text ? refused.at + rejectedMs - clock.monotonic() : 0;
    if (refused !== undefined && retryAfter > 0) {
      return { ...unwritten, refusal: { message: refused.message, retryAfter } };
    }
    try {
      const write = await this.#write(desired, live, signal);
      const written = { ...unwritten, writes: [...held.writes, write] };
      if (write.outcome === 'Deferred') return { ...written, isDeferred: true };
      delete record.refused;
      if (target.config.spec.webhook.failurePolicy === 'Hold') return written;
      return { ...written, retryAfter: await holds.withdraw(webhookName(target), signal) };
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 422) throw error;
      const { message } = error;
      record.refused = { text, message, at: clock.monotonic() };
      return { ...unwritten, refusal: { message, retryAfter: rejectedMs } };
    }
  }

  /**
   * Updates only the caBundle of a live webhook, so that an invalid spec does not block a rotation.
   * @param caBundlePem the CA bundle of the InjectorConfig that the live webhook names
   */
  async keep(
    live: KubernetesObject | undefined,
    caBundlePem: string | undefined,
    signal: AbortSignal,
  ): Promise<ObjectWrite[]> {
    if (live === undefined || caBundlePem === undefined || caBundlePem === '') return [];
    const kept = withCaBundle(live, caBundlePem);
    const isIntact = this.#options.holds.isIntact(live);
    return [await this.#write(isIntact ? kept : withFallback(kept), live, signal)];
  }

  /** See `ObjectWriter.remove`. Then removes the policy that holds pods of this webhook. */
  async remove(object: KubernetesObject, signal: AbortSignal): Promise<KubernetesObject | undefined> {
    const remaining = await this.#options.webhooks.remove(object, signal);
    if (remaining === undefined) await this.#options.holds.withdraw(object.metadata.name ?? '', signal);
    return remaining;
  }

  /** See `sweepProbe`. */
  sweep(subject: string, signal: AbortSignal): Promise<void> {
    return sweepProbe(this.#options, subject, signal);
  }

  /** Forgets a withdrawn webhook: the next one needs a check. @param subject see `probeSubject` */
  forget(subject: string): void {
    this.#options.memory.forget(subject);
  }

  #desired(target: CheckedWebhook): Narrowing<WebhookConfiguration> {
    const format = this.#options.reports.pathFormat();
    const desired = webhookConfiguration(typeof format === 'string' ? target : { ...target, format }, target.context);
    return leaveNarrowed(desired, this.live(target), target.config.spec.webhook.toleratedManagers);
  }

  async #write(
    desired: WebhookConfiguration,
    live: KubernetesObject | undefined,
    signal: AbortSignal,
  ): Promise<ObjectWrite> {
    const { resourceVersion } = live?.metadata ?? {};
    const metadata = resourceVersion === undefined ? desired.metadata : { ...desired.metadata, resourceVersion };
    this.#inFlight.add(desired);
    try {
      return await this.#options.webhooks.apply({ ...desired, metadata }, signal);
    } finally {
      this.#inFlight.delete(desired);
    }
  }
}
