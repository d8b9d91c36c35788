import { validateInjectorConfig } from '../../api/injector-config/validate-injector-config.ts';
import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { objectNames } from '../../api/names.ts';
import type { ManifestContext } from '../../manifests/manifest-context.ts';
import type { CompiledConfiguration } from '../configurations/compile-configuration.ts';
import type { StoredConfigurations } from '../configurations/stored-configurations.ts';
import type { WriteOutcome } from '../controller/owned-objects.ts';
import type { PassContext } from '../controller/pass-context.ts';
import { type Finding, no } from '../controller/revision-status.ts';
import { decideWebhook, type WebhookDecision } from './decide-webhook.ts';
import { otherClassFinding } from './foreign-finding.ts';
import type { WebhookWriter, WrittenWebhook } from './webhook-writer.ts';

export interface PublicationInput {
  readonly config: InjectorConfig;
  /** Undefined: what the spec says now does not compile. */
  readonly compiled: CompiledConfiguration | undefined;
  readonly caBundlePem: string;
  /** Fingerprint of the serving certificate, where it is known. */
  readonly fingerprint: string | undefined;
  /** Undefined: the owner that was asked for does not exist, so nothing may be published. */
  readonly context: ManifestContext | undefined;
  /** A tag stands in for it: all is made ready for those whom the tag sends, and no webhook of its own is written. */
  readonly isTagged: boolean;
  /** The host of the url is another's: what is there stays, and nothing is installed. */
  readonly taken: Finding | undefined;
  /** Another injector takes the same pods, as a sentence: a webhook that is not there yet is not installed. */
  readonly foreign: string | undefined;
}

export interface PublicationOutcome {
  /** Undefined: as it was; another writer undoes what we do, and it is not our turn. */
  readonly finding: Finding | undefined;
  /** What is published now, and what was before; while replicas are waited for it stays, so that it is not forgotten. */
  readonly hash: string | undefined;
  readonly before: string | undefined;
  /** Whether a tolerated manager narrows what is published; undefined: as it was. */
  readonly narrowed?: Finding;
  /** Still to be done: waiting for replicas, for instance. */
  readonly isPending: boolean;
}

export interface PublicationOptions extends Pick<PassContext, 'view' | 'reports' | 'clock'> {
  readonly webhooks: WebhookWriter;
  readonly configurations: StoredConfigurations;
}

/** For so long after a start, or between two replicas, nobody may answer before it is told. Milliseconds. */
const noReplicaMs = 30_000;

/** The second half of a pass over an InjectorConfig: its own webhook, decided by `decideWebhook`. */
export class Publication {
  readonly #options: PublicationOptions;
  /** Since when no replica is live, by InjectorConfig. */
  readonly #noReplicaSince = new Map<string, number>();
  /** Since when replicas are waited for, by InjectorConfig, and with which configuration. */
  readonly #waitingSince = new Map<string, { hash: string; at: number }>();

  constructor(options: PublicationOptions) {
    this.#options = options;
  }

  /** The webhook: moved, repaired, or left where it is. */
  async publish(input: PublicationInput, into: WriteOutcome, signal: AbortSignal): Promise<PublicationOutcome> {
    const { config, compiled, caBundlePem, context, isTagged } = input;
    const { webhooks, configurations } = this.#options;
    const { name } = config.metadata;
    await webhooks.sweep(name, signal);
    const live = isTagged ? undefined : webhooks.live({ config });
    const before = configurations.published(config, live);
    const decision = this.#decide(input, live, before);
    const { finding, isPending } = decision;
    if (decision.action !== 'keep') this.#waitingSince.delete(name);
    const stays = { finding, hash: before, before, isPending };
    if (decision.action === 'leave') {
      if (decision.hash !== undefined && compiled !== undefined) configurations.remember(name, compiled);
      return { ...stays, hash: decision.hash ?? before };
    }
    if (decision.action === 'keep' || context === undefined) {
      const refusal = await this.#keep(input, live, decision.hash, into, signal);
      return refusal === undefined ? stays : { ...stays, finding: invalid(refusal, live) };
    }
    const target = { config, hash: decision.hash, caBundlePem, context };
    const obstacle = webhooks.canWrite(target) ? undefined : await webhooks.checkBeforeWrite(target, signal);
    if (obstacle !== undefined) {
      // What is there goes where it went: that may still work.
      await webhooks.keep(live, caBundlePem, into, signal);
      into.retryAfter = Math.min(into.retryAfter ?? Infinity, obstacle.retryAfter);
      return { ...stays, finding: obstacle.finding };
    }
    const { isDeferred, narrowed, refusal } = await webhooks.apply(target, into, signal);
    if (refusal !== undefined) {
      into.retryAfter = Math.min(into.retryAfter ?? Infinity, refusal.retryAfter);
      const isDeferred = await webhooks.keep(live, caBundlePem, into, signal);
      return { ...stays, finding: invalid(refusal, live), isPending: isDeferred };
    }
    if (isDeferred) return { ...stays, finding: undefined, isPending: true };
    if (compiled !== undefined) configurations.remember(name, compiled);
    return { ...stays, hash: decision.hash, narrowed };
  }

  #decide(input: PublicationInput, live: KubernetesObject | undefined, before: string | undefined): WebhookDecision {
    const { config, compiled, context, isTagged, taken, foreign, fingerprint } = input;
    const { view, reports, configurations } = this.#options;
    const { name } = config.metadata;
    // The configuration and the certificates are checked where they are made.
    const mistakes = validateInjectorConfig(config)
      .filter(({ field }) => !/^spec\.(injection|certificate)/.test(field))
      .map(({ message }) => message);
    return decideWebhook({
      name,
      isLive: live !== undefined,
      before,
      compiled: compiled?.hash,
      isOwnerMissing: context === undefined,
      otherClass: otherClassFinding(view, objectNames(name).webhookConfiguration),
      mistake: mistakes.length > 0 ? no('Invalid', mistakes.join('; ')) : taken,
      isTagged,
      foreign,
      // After a deletion replicas hold the configuration and a certificate of another authority.
      lacking: (hash) => reports.lacking(name, hash, before === undefined ? fingerprint : undefined),
      isStored: (hash) => configurations.find(config, hash) !== undefined,
      waitedMs: (hash) => this.#waitedMs(name, hash),
      hasNoReplica: this.#hasNoReplica(name),
    });
  }

  /**
   * What is live, while it cannot move: as the spec says for the configuration that is published, or as it is where that would lead it somewhere
   * untried. Resolves with what the API server finds invalid in it.
   */
  async #keep(
    { config, caBundlePem, context }: PublicationInput,
    live: KubernetesObject | undefined,
    hash: string | undefined,
    into: WriteOutcome,
    signal: AbortSignal,
  ): Promise<WrittenWebhook['refusal']> {
    const { webhooks, configurations } = this.#options;
    if (live === undefined) return undefined;
    let refusal: WrittenWebhook['refusal'];
    if (hash !== undefined && context !== undefined && configurations.isNamedOrFound(config, live, hash)) {
      const target = { config, hash, caBundlePem, context };
      if (webhooks.canWrite(target)) {
        ({ refusal } = await webhooks.apply(target, into, signal));
        if (refusal === undefined) return undefined;
      }
    }
    await webhooks.keep(live, caBundlePem, into, signal);
    return refusal;
  }

  /** Whether no replica has been live for longer than a restart takes. */
  #hasNoReplica(name: string): boolean {
    const { reports, clock } = this.#options;
    if (reports.replicas(name).length > 0) {
      this.#noReplicaSince.delete(name);
      return false;
    }
    const now = clock.monotonic();
    const since = this.#noReplicaSince.get(name) ?? now;
    this.#noReplicaSince.set(name, since);
    return now - since >= noReplicaMs;
  }

  /** For how long replicas have been waited for. */
  #waitedMs(name: string, hash: string): number {
    const now = this.#options.clock.monotonic();
    const known = this.#waitingSince.get(name);
    const { at } = known?.hash === hash ? known : { at: now };
    this.#waitingSince.set(name, { hash, at });
    return now - at;
  }

  /** The webhook was withdrawn. */
  withdrawn(name: string): void {
    this.#noReplicaSince.delete(name);
    this.#waitingSince.delete(name);
    this.#options.webhooks.forget(name, objectNames(name).webhookConfiguration);
  }

  /** The InjectorConfig is gone. */
  forget(name: string): void {
    this.withdrawn(name);
    this.#options.configurations.forget(name);
  }
}

function invalid({ message }: NonNullable<WrittenWebhook['refusal']>, live: KubernetesObject | undefined): Finding {
  const stays = live === undefined ? 'there is no webhook yet, so nothing is injected' : 'the webhook stays as it was';
  return no('Invalid', `${message}; ${stays}`);
}
