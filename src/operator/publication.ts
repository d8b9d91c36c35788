import { validateInjectorConfig } from '../api/validate-injector-config.ts';
import type { InjectorConfig } from '../api/injector-config.ts';
import type { KubernetesObject } from '../api/kubernetes.ts';
import { objectNames, replicaLeaseName } from '../api/names.ts';
import { ApiError } from '../kube/api-error.ts';
import type { Clock } from '../kube/ports.ts';
import type { ManifestContext } from '../manifests/manifest-context.ts';
import { webhookConfiguration } from '../manifests/webhook-configuration.ts';
import type { ClusterView } from './cluster-view.ts';
import type { CompiledConfiguration } from './compile-configuration.ts';
import type { InstallGate } from './install-gate.ts';
import { nameTaken } from './name-taken.ts';
import { leaveNarrowed } from './narrowing.ts';
import type { OwnedObjects, WriteOutcome } from './owned-objects.ts';
import type { ReplicaReports } from './ports.ts';
import type { Finding } from './revision-status.ts';
import type { StoredConfigurations } from './stored-configurations.ts';
import { withCaBundle } from './with-ca-bundle.ts';

export interface PublicationInput {
  readonly config: InjectorConfig;
  /** Undefined: what the spec says now does not compile. */
  readonly compiled: CompiledConfiguration | undefined;
  readonly caBundlePem: string;
  /** Undefined: the owner that was asked for does not exist, so nothing may be published. */
  readonly context: ManifestContext | undefined;
  /** A tag stands in for it: all is made ready for those whom the tag sends, and no webhook of its own is written. */
  readonly isTagged?: boolean;
  /** The host of the url is another's: what is there stays, and nothing is installed. */
  readonly taken?: Finding | undefined;
  /** Somebody else's injector takes the same pods, as a sentence: a webhook that is not there yet is not installed. */
  readonly foreign?: string | undefined;
}

export interface PublicationOutcome {
  /** Undefined: as it was; somebody else is writing too, and it is not our turn. */
  readonly finding: Finding | undefined;
  /** What is published now, and what was before; while replicas are waited for it stays, so that it is not forgotten. */
  readonly hash: string | undefined;
  readonly before: string | undefined;
  /** Whether a tolerated manager narrows what is published; undefined: as it was. */
  readonly narrowed?: Finding;
  /** Still to be done: waiting for replicas, for instance. */
  readonly isPending: boolean;
}

/** For so long after a start, or between two replicas, nobody may answer before it is told. Milliseconds. */
const silentMs = 30_000;

/** A replica that is live and has not loaded a configuration for so long is named with what to do. Milliseconds. */
const longWaitMs = 300_000;

/**
 * The second half of a reconcile: the webhook names a configuration only when every live replica holds it, and goes on naming the last good one
 * while a newer one is not there yet or does not compile.
 */
export class Publication {
  readonly #view: ClusterView;
  readonly #owned: OwnedObjects;
  readonly #reports: ReplicaReports;
  readonly #gate: InstallGate;
  readonly #configurations: StoredConfigurations;
  /** The webhook that the API server found invalid last, and its words, by InjectorConfig. */
  readonly #refused = new Map<string, { text: string; message: string }>();
  /** Since when no replica is live, by InjectorConfig. */
  readonly #silentSince = new Map<string, number>();
  /** Since when replicas are waited for, by InjectorConfig, and with which configuration. */
  readonly #waitingSince = new Map<string, { hash: string; at: number }>();
  readonly #clock: Pick<Clock, 'monotonic'>;

  constructor(
    view: ClusterView,
    owned: OwnedObjects,
    reports: ReplicaReports,
    gate: InstallGate,
    configurations: StoredConfigurations,
    clock: Pick<Clock, 'monotonic'>,
  ) {
    this.#clock = clock;
    this.#view = view;
    this.#gate = gate;
    this.#owned = owned;
    this.#reports = reports;
    this.#configurations = configurations;
  }

  /** The webhook: moved, repaired, or left where it is. */
  async publish(input: PublicationInput, into: WriteOutcome, signal: AbortSignal): Promise<PublicationOutcome> {
    const { config, compiled, caBundlePem, context } = input;
    await this.#gate.sweep(config.metadata.name, signal);
    const isTagged = input.isTagged === true;
    const live = isTagged ? undefined : this.#liveWebhook(config);
    const before = this.#configurations.published(config, live);
    const wanted = compiled?.hash ?? before;
    if (context === undefined) {
      const message =
        'the owner of the webhook configurations (--owner) does not exist; nothing is published without it';
      return { finding: no('OwnerMissing', message), hash: before, before, isPending: true };
    }
    const taken = isTagged ? undefined : nameTaken(this.#view, objectNames(config.metadata.name).webhookConfiguration);
    if (taken !== undefined) return { finding: taken, hash: before, before, isPending: false };
    if (wanted === undefined) {
      const message = 'no configuration has compiled yet, so there is nothing that the webhook could name';
      return { finding: no('NothingToPublish', message), hash: before, before, isPending: false };
    }
    const mistakes = webhookMistakes(config);
    const refused = mistakes.length > 0 ? no('Invalid', mistakes.join('; ')) : input.taken;
    if (refused !== undefined) {
      if (live !== undefined) await this.#owned.apply(withCaBundle(live, caBundlePem), into, signal);
      return { finding: refused, hash: before, before, isPending: false };
    }
    const lacking = this.#reports.lacking(config.metadata.name, wanted);
    const isSilent = this.#isSilent(config.metadata.name);
    if (lacking.length > 0) {
      // What is published already is kept as it should be; what is not there yet stays away until somebody can answer it.
      if (live !== undefined) {
        const kept = this.#kept(live, before, input, context);
        const { refusal } = await this.#applyWebhook(kept, input, into, signal);
        if (refusal !== undefined) {
          return { finding: no('Invalid', refusal), hash: before, before, isPending: true };
        }
      }
      const isLost = compiled === undefined && this.#configurations.held(config, wanted) === undefined;
      // After a restart the replica is about to load what is published and held: nothing has changed that a condition should tell.
      if (!isLost && wanted === before && isSilent) {
        const message = `the webhook names configuration ${wanted}, but no replica is running to answer for it: start the webhook's replicas, or set spec.paused to let pods start without this injector`;
        return { finding: no('NoReplica', message), hash: before, before, isPending: true };
      }
      if (!isLost && wanted === before) return { finding: undefined, hash: before, before, isPending: true };
      const finding = isLost
        ? no('ConfigurationLost', lost(config, wanted, lacking))
        : no('WaitingForReplicas', this.#waiting(config.metadata.name, wanted, lacking));
      return { finding, hash: before, before, isPending: true };
    }
    this.#waitingSince.delete(config.metadata.name);
    if (isTagged) {
      if (compiled !== undefined) this.#configurations.remember(config.metadata.name, compiled);
      const message = `RevisionTag ${config.metadata.name} stands in for this InjectorConfig, which has no webhook of its own; configuration ${wanted} is served to whom a tag sends here`;
      return { finding: { status: 'True', reason: 'Tagged', message }, hash: wanted, before, isPending: false };
    }
    if (live === undefined && input.foreign !== undefined) {
      const message = `${input.foreign}, so nothing is published; remove the other injector or its webhook, give this one its own spec.webhook.keys, or set spec.webhook.takeover`;
      return { finding: no('ForeignOverlap', message), hash: before, before, isPending: false };
    }
    const { object: desired, finding: narrowed } = leaveNarrowed(
      webhookConfiguration({ config, hash: wanted, caBundlePem }, context),
      live,
      config.spec.webhook.toleratedManagers,
    );
    const closed = await this.#gate.check({ config, hash: wanted, caBundlePem, context, desired, live }, signal);
    if (closed !== undefined) {
      // What is there goes where it went: that may still work.
      if (live !== undefined) await this.#owned.apply(withCaBundle(live, caBundlePem), into, signal);
      into.retryAfter = Math.min(into.retryAfter ?? Infinity, closed.retryAfter);
      return { finding: closed.finding, hash: before, before, isPending: false };
    }
    const { isDeferred, refusal } = await this.#applyWebhook(desired, input, into, signal);
    if (refusal !== undefined) {
      return { finding: no('Invalid', refusal), hash: before, before, isPending: isDeferred };
    }
    if (isDeferred) return { finding: undefined, hash: before, before, isPending: true };
    if (compiled !== undefined) this.#configurations.remember(config.metadata.name, compiled);
    const message = `the webhook names configuration ${wanted}`;
    const published: Finding = { status: 'True', reason: 'Published', message };
    return { finding: published, hash: wanted, before, narrowed, isPending: false };
  }

  /** Whether no replica has been live for longer than a restart takes. */
  #isSilent(name: string): boolean {
    if (this.#reports.replicas(name).length > 0) {
      this.#silentSince.delete(name);
      return false;
    }
    const now = this.#clock.monotonic();
    const since = this.#silentSince.get(name) ?? now;
    this.#silentSince.set(name, since);
    return now - since >= silentMs;
  }

  /** Whom a publication waits for; of a wait that is long, how to end it, since a replica can hold it up for as long as it lives. */
  #waiting(name: string, hash: string, lacking: readonly string[]): string {
    const now = this.#clock.monotonic();
    const known = this.#waitingSince.get(name);
    const { at } = known?.hash === hash ? known : { at: now };
    this.#waitingSince.set(name, { hash, at });
    const message = `configuration ${hash} is not served yet by ${lacking.join(', ')}`;
    if (now - at < longWaitMs) return message;
    return `${message}; this has lasted for more than ${longWaitMs / 60_000} minutes: see the log of that pod, or delete the pod, and its Lease (${replicaLeaseName('<pod>')}) holds up nothing after a minute`;
  }

  /** The webhook was withdrawn. */
  withdrawn(name: string): void {
    this.#silentSince.delete(name);
    this.#waitingSince.delete(name);
    this.#gate.forget(name);
  }

  /** The InjectorConfig is gone. */
  forget(name: string): void {
    this.#gate.forget(name);
    this.#configurations.forget(name);
    this.#refused.delete(name);
    this.#silentSince.delete(name);
    this.#waitingSince.delete(name);
  }

  /**
   * Applies a webhook; when the API server finds it invalid (CEL that does not compile, for instance) the live one gets the caBundle, so that a
   * mistake in the spec does not keep a rotation from being published.
   */
  async #applyWebhook(
    desired: KubernetesObject,
    { config, caBundlePem }: PublicationInput,
    into: WriteOutcome,
    signal: AbortSignal,
  ): Promise<{ isDeferred: boolean; refusal?: string }> {
    const { name } = config.metadata;
    const text = JSON.stringify(desired);
    if (this.#refused.get(name)?.text !== text) {
      try {
        const { outcome } = await this.#owned.apply(desired, into, signal);
        this.#refused.delete(name);
        return { isDeferred: outcome === 'Deferred' };
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 422) throw error;
        this.#refused.set(name, { text, message: error.message });
      }
    }
    const refusal = this.#refused.get(name)?.message ?? '';
    const live = this.#liveWebhook(config);
    if (live === undefined) {
      this.#refused.delete(name);
      return { isDeferred: false, refusal: `${refusal}; there is no webhook yet, so nothing is injected` };
    }
    const { outcome } = await this.#owned.apply(withCaBundle(live, caBundlePem), into, signal);
    // Only then may the one that was refused be tried again: each attempt makes the next forced write of the same object wait.
    if (outcome === 'Unchanged') this.#refused.delete(name);
    return { isDeferred: outcome === 'Deferred', refusal: `${refusal}; the webhook stays as it was` };
  }

  /** What a webhook should be while it cannot move: as the spec says, or as it is where that would lead it somewhere untried. */
  #kept(
    live: KubernetesObject,
    before: string | undefined,
    { config, caBundlePem }: PublicationInput,
    context: ManifestContext,
  ): KubernetesObject {
    const asItIs = withCaBundle(live, caBundlePem);
    if (before === undefined || !this.#configurations.isNamedOrHeld(config, live, before)) return asItIs;
    const { object: wanted } = leaveNarrowed(
      webhookConfiguration({ config, hash: before, caBundlePem }, context),
      live,
      config.spec.webhook.toleratedManagers,
    );
    return this.#gate.isOpen(config.metadata.name, wanted, live) ? wanted : asItIs;
  }

  #liveWebhook(config: InjectorConfig): KubernetesObject | undefined {
    return this.#view.ownWebhook(config.metadata.name);
  }
}

function no(reason: string, message: string): Finding {
  return { status: 'False', reason, message };
}

function lost({ metadata: { name } }: InjectorConfig, hash: string, lacking: readonly string[]): string {
  const { configMap } = objectNames(name);
  return `configuration ${hash}, which is published, is lost: no ConfigMap ${configMap}-${hash} holds it and it is not served by ${lacking.join(', ')}; correct the configuration of InjectorConfig ${name} or restore the ConfigMap`;
}

/** What keeps the webhook from being built; the configuration and the certificates are checked where they are made. */
function webhookMistakes(config: InjectorConfig): string[] {
  return validateInjectorConfig(config)
    .filter(({ field }) => !/^spec\.(injection|certificate)/.test(field))
    .map(({ message }) => message);
}
