import { isConditionTrue } from '../../api/kubernetes/conditions.ts';
import { ConfigurationError } from '../../api/errors.ts';
import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { finalizer, objectNames } from '../../api/names.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { ApiError } from '../../kube/api-error.ts';
import { conflictBackOff, type ConflictMemory, observeConflict } from '../webhooks/conflicts.ts';
import { configWinner, nameOf, type PodClaim } from '../../selection/pod-claims.ts';
import { type ReleaseMemory, releaseCertificates } from '../certificates/revision-certificates.ts';
import type { HoldKeeper } from '../holding/hold-keeper.ts';
import { otherInstallation } from './validator-reconcile.ts';
import { parsedConfig } from './parsed-configs.ts';
import { combineResults, type PassMemory } from './pass-context.ts';
import { produce, type ProducingParts, type RevisionResult, withdrawn } from './produce-revision.ts';
import type { ConditionReason } from '../reasons.ts';
import { type Removal, RemovalBlockedError } from '../webhooks/removal.ts';
import { no, type RevisionFindings, revisionStatus, yes } from './revision-status.ts';
import { resyncMs } from '../settings.ts';
import { finishPass } from './store-status.ts';
import type { UsageSource } from '../usage/usage-status.ts';
import type { FollowedObjects } from '../followed-objects.ts';

export interface ReconcilerOptions extends ProducingParts {
  readonly client: ProducingParts['client'] & Pick<ApiClient, 'apply' | 'patch'>;
  readonly usage: UsageSource;
  readonly removal: Removal;
  readonly held: Pick<HoldKeeper, 'finding'>;
  readonly followed: FollowedObjects;
  /** The memory of all parts of the pass. */
  readonly memory: PassMemory<ConflictMemory & ReleaseMemory>;
}

const defaultFindings: RevisionFindings = {
  Paused: no('NotPaused', 'spec.paused is not set'),
  RemovalBlocked: no('NotBlocked', 'no deletion is blocked'),
};

const podsHeld = {
  reason: 'PodsHeld',
  message:
    'pods wait for their sidecar, because the webhook could not be called when they were created; condition Holding says how many, since when and why',
} as const;

/** Runs passes over InjectorConfigs: each writes the objects that differ, then the status. */
export class RevisionReconciler {
  readonly #options: ReconcilerOptions;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
  }

  /**
   * Reconciles one InjectorConfig, or the objects that a deleted InjectorConfig has left behind.
   * Resolves with the milliseconds until the next call. Rejects with errors of the API server; the
   * caller retries with back-off.
   */
  async reconcile(name: string, signal: AbortSignal): Promise<number> {
    const { view, settings, memory, clock } = this.#options;
    const object = view.configs.get(name);
    if (object === undefined) {
      this.#forget(name);
      return (await this.#removeStep(name, signal)) ?? resyncMs;
    }
    const { spec } = object as { spec?: { operatorClass?: string; paused?: unknown } };
    if ((spec?.operatorClass ?? 'default') !== settings.context.operatorClass) return resyncMs;
    if (this.#isOfOtherInstallation(object)) return resyncMs;
    if (object.metadata.deletionTimestamp !== undefined) return this.#finalize(object, signal);
    if (spec?.paused === true) return this.#pause(object, signal);
    const config = parsedConfig(object);
    if (config instanceof ConfigurationError) return this.#refuseWhole(object, config, signal);
    // While another client reverts our writes, reconcile a known generation only once a second.
    const isKnown = config.status?.observedGeneration === config.metadata.generation;
    const delay = isKnown ? conflictBackOff(memory.read(name), clock.monotonic()) : 0;
    return delay > 0 ? delay : this.#reconcileLive(config, object, signal);
  }

  /**
   * Reports whether another installation of our operator class owns the webhook. Two installations
   * would revert each other's writes forever, so the second, which has no Secret yet, writes no
   * object, not even a status. An Event and the log report this.
   */
  #isOfOtherInstallation(object: KubernetesObject): boolean {
    const { view, settings, refusals } = this.#options;
    const { namespace, operatorClass } = settings.context;
    const { name = '' } = object.metadata;
    const { webhookConfiguration, servingSecret } = objectNames(name);
    const other = otherInstallation(view.mutatingWebhooks.get(webhookConfiguration), namespace);
    // If another operator class owns the webhook, a condition suffices: only we write this status.
    const isOfOurClass = view.otherClassAt(webhookConfiguration) === undefined;
    if (other === undefined || !isOfOurClass || view.secrets.get(servingSecret, namespace) !== undefined) {
      refusals.report(object, 'Installation');
      return false;
    }
    const message = `MutatingWebhookConfiguration ${webhookConfiguration} calls a Service in namespace ${other}, where another installation of operator class ${operatorClass} runs; the operator in namespace ${namespace} writes nothing: give it another --operator-class, or delete the webhook configuration if the other installation is gone`;
    refusals.report(object, 'Installation', { reason: 'OtherInstallation', message });
    return true;
  }

  async #reconcileLive(config: InjectorConfig, read: KubernetesObject, signal: AbortSignal): Promise<number> {
    const { clock, targets, refusals, followed, events, view, memory } = this.#options;
    const { name } = config.metadata;
    let object = read;
    const winner = configWinner(config, targets.claims());
    if (winner !== undefined) return this.#yieldTo(winner, config, object, signal);
    refusals.report(object, 'Overlap');
    const Overlap = no('NoOverlap', 'no other InjectorConfig or RevisionTag selects the same pods');
    const results: RevisionResult[] = [{ findings: { Overlap } }];
    let failure: Error | undefined;
    try {
      object = await setFinalizer(this.#options, object, true, signal);
      for await (const result of produce(this.#options, { config, object, signal })) results.push(result);
      followed.endPass(name);
    } catch (error) {
      failure = asError(error);
      results.push({ findings: failureFindings(combineResults(...results).findings, failure) });
    }
    const { findings, writes, retryAfter } = combineResults(...results);
    const webhooks = view.webhooksOf(name);
    const { finding: Conflict, again } = observeConflict(memory.of(name), clock.monotonic(), writes, webhooks);
    events.repaired(object, writes);
    if (failure === undefined && isConditionTrue(config.status?.conditions, 'Paused')) events.resumed(object);
    const waits = [retryAfter, again];
    try {
      if (!signal.aborted) waits.push(await this.#write(config, object, { ...findings, Conflict }, signal));
    } catch (error) {
      failure ??= asError(error);
    }
    if (failure !== undefined) throw failure;
    const { rotation } = findings;
    if (rotation !== undefined) waits.push(rotation.nextAt.getTime() - clock.now().getTime());
    return Math.max(0, Math.min(...waits));
  }

  /** Deletes the objects of an InjectorConfig that overlaps with an older InjectorConfig or tag. */
  async #yieldTo(
    winner: PodClaim,
    config: InjectorConfig,
    object: KubernetesObject,
    signal: AbortSignal,
  ): Promise<number> {
    const { refusals } = this.#options;
    const isCustom = winner.isCustom || config.spec.webhook.selection === 'Custom';
    const advice = isCustom
      ? '; give one of the two separate spec.webhook.keys, or selectors that exclude each other'
      : '';
    const message = `${nameOf(winner)} is older and selects the same pods, so this InjectorConfig publishes nothing${advice}`;
    const WebhookReady = no('Overlap', message);
    refusals.report(object, 'Overlap', WebhookReady);
    withdrawn(this.#options, config.metadata.name);
    const wait = await this.#unblocked(object, signal, () => this.#removeStep(config.metadata.name, signal));
    const findings = { Overlap: yes('Overlap', message), WebhookReady, publishedHash: undefined };
    return Math.min(wait ?? resyncMs, await this.#write(config, object, findings, signal));
  }

  /** Deletes the webhook, then the objects of certificate providers, which are then unused. */
  async #removeStep(name: string, signal: AbortSignal): Promise<number | undefined> {
    const wait = await this.#options.removal.step(name, signal);
    await releaseCertificates(this.#options, name, signal);
    return wait;
  }

  /** Handles `spec.paused`, which works even if the rest of the spec is invalid. */
  async #pause(object: KubernetesObject, signal: AbortSignal): Promise<number> {
    const { removal, events, logger } = this.#options;
    const { name = '' } = object.metadata;
    if (await this.#unblocked(object, signal, () => removal.withdraw(name, signal)))
      logger.warn('paused: the webhook is withdrawn', { injectorConfig: name });
    withdrawn(this.#options, name);
    const message =
      'spec.paused is set: the webhook is withdrawn, pods start without this injector, and the operator repairs nothing';
    const config = configForStatus(object);
    if (!isConditionTrue(config.status?.conditions, 'Paused')) events.paused(object, message);
    return this.#write(config, object, { Paused: yes('Paused', message), WebhookReady: no('Paused', message) }, signal);
  }

  /** Runs a deletion. A condition and an Event name other controllers' finalizers that block it. */
  async #unblocked<T>(object: KubernetesObject, signal: AbortSignal, remove: () => Promise<T>): Promise<T> {
    const { refusals } = this.#options;
    try {
      const removed = await remove();
      refusals.report(object, 'Removal');
      return removed;
    } catch (error) {
      if (!(error instanceof RemovalBlockedError)) throw error;
      const { message } = error;
      refusals.report(object, 'Removal', { reason: 'RemovalBlocked', message });
      const findings = { RemovalBlocked: yes('ForeignFinalizer', message) };
      await this.#write(configForStatus(object), object, findings, signal);
      throw error;
    }
  }

  async #refuseWhole(object: KubernetesObject, error: ConfigurationError, signal: AbortSignal): Promise<number> {
    const TemplatesValid = no('Invalid', error.message);
    this.#options.refusals.report(object, 'Object', TemplatesValid);
    return this.#write(configForStatus(object), object, { TemplatesValid }, signal);
  }

  /** Writes the status. Resolves with the milliseconds until the next call. */
  #write(
    config: InjectorConfig,
    object: KubernetesObject,
    findings: RevisionFindings,
    signal: AbortSignal,
  ): Promise<number> {
    const { clock, held, refusals } = this.#options;
    const { name } = config.metadata;
    const usage = this.#options.usage.injectorConfig(name);
    const Holding = held.finding(name);
    refusals.report(object, 'HeldPods', Holding.status === 'True' ? podsHeld : undefined);
    const status = revisionStatus(config, { ...defaultFindings, Holding, ...findings, usage }, clock.now());
    return finishPass(this.#options, name, object, status, signal);
  }

  async #finalize(object: KubernetesObject, signal: AbortSignal): Promise<number> {
    const { logger } = this.#options;
    const { name = '' } = object.metadata;
    if (!hasFinalizer(object)) return resyncMs;
    withdrawn(this.#options, name);
    const wait = await this.#unblocked(object, signal, () => this.#removeStep(name, signal));
    if (wait !== undefined) return wait;
    await setFinalizer(this.#options, object, false, signal);
    logger.info('removed', { injectorConfig: name });
    this.#forget(name);
    return resyncMs;
  }

  #forget(name: string): void {
    withdrawn(this.#options, name);
    this.#options.followed.forget(name);
    this.#options.memory.forget(name);
    this.#options.metrics.forget?.(name);
  }
}

/** Returns the parts of an InjectorConfig that its status needs; the rest may be invalid. */
function configForStatus(object: KubernetesObject): InjectorConfig {
  const { metadata, spec, status } = object as { spec?: { revision?: unknown } } & KubernetesObject;
  const revision = typeof spec?.revision === 'string' ? { revision: spec.revision } : {};
  return { metadata, spec: revision, ...(status === undefined ? {} : { status }) } as unknown as InjectorConfig;
}

/** Reports an error in the condition of the failed step; earlier steps keep their findings. */
function failureFindings(earlier: RevisionFindings, error: Error): RevisionFindings {
  if (error instanceof ApiError && (error.code === 0 || error.code === 409)) return {};
  // A webhook may deny a write with any reason; that of a condition begins with a letter.
  const given = error instanceof ApiError ? error.reason.replace(/^[^A-Za-z]+|\W/g, '').slice(0, 64) : '';
  // The type ConditionReason does not include the reasons of the API server.
  const finding = no((given || 'InternalError') as ConditionReason, error.message);
  if (earlier.CertificateReady === undefined) return { CertificateReady: finding };
  return { WebhookReady: earlier.WebhookReady ?? finding };
}

function asError(value: unknown): Error {
  return value instanceof Error ? value : new Error(String(value));
}

function hasFinalizer(object: KubernetesObject): boolean {
  return object.metadata.finalizers?.includes(finalizer) ?? false;
}

/**
 * Adds our finalizer before any other write, since a deletion would otherwise leave a dead webhook,
 * or removes it once all objects are deleted. Writes with the resourceVersion that was read, since
 * other controllers edit finalizers, too.
 */
async function setFinalizer(
  { client, view }: Pick<ReconcilerOptions, 'client' | 'view'>,
  object: KubernetesObject,
  isSet: boolean,
  signal: AbortSignal,
): Promise<KubernetesObject> {
  if (hasFinalizer(object) === isSet) return object;
  const { resourceVersion, finalizers: before = [] } = object.metadata;
  const finalizers = isSet ? [...before, finalizer] : before.filter((each) => each !== finalizer);
  const written = await client.patch(object, 'merge', { metadata: { finalizers, resourceVersion } }, { signal });
  // An object with a deletionTimestamp and no finalizers is gone, which the watch reports.
  if (written.metadata.deletionTimestamp === undefined) view.configs.upsert(written);
  return written;
}
