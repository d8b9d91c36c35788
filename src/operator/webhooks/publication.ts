import { validateInjectorConfig } from '../../api/injector-config/validate-injector-config.ts';
import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { objectNames } from '../../api/names.ts';
import type { ManifestContext } from '../../manifests/manifest-context.ts';
import type { CompiledConfiguration } from '../configurations/compile-configuration.ts';
import type { StoredConfigurations } from '../configurations/stored-configurations.ts';
import { combineResults, type PassContext, type PassMemory, type PassResult } from '../controller/pass-context.ts';
import { type Finding, no } from '../controller/revision-status.ts';
import { decideWebhook, type WebhookDecision } from './decide-webhook.ts';
import { nameInUse } from './foreign-finding.ts';
import type { WebhookWriter, WrittenWebhook } from './webhook-writer.ts';

export interface PublicationInput {
  readonly config: InjectorConfig;
  /** The configuration of the spec; undefined if it does not compile. */
  readonly compiled: CompiledConfiguration | undefined;
  readonly caBundlePem: string;
  /** The fingerprint of the serving certificate, if known. */
  readonly fingerprint: string | undefined;
  /** Undefined if the owner (`--owner`) does not exist. Then nothing may be published. */
  readonly context: ManifestContext | undefined;
  /** Whether RevisionTag `default` owns the webhook, so that this pass must not write it. */
  readonly isTagged: boolean;
  /** Set if another InjectorConfig uses the host of spec.webhook.url. Blocks a new webhook. */
  readonly taken: Finding | undefined;
  /** A clause that names another product's injector of the same pods. Blocks a new webhook. */
  readonly foreign: string | undefined;
}

export interface PublicationOutcome extends Pick<PassResult<never>, 'writes' | 'retryAfter'> {
  /** The condition `WebhookReady`; undefined if it stays unchanged. */
  readonly finding: Finding | undefined;
  /** The published hash after the pass. `before` is the published hash before the pass. */
  readonly hash: string | undefined;
  readonly before: string | undefined;
  /** The condition `Narrowed`; undefined if it stays unchanged. */
  readonly narrowed?: Finding;
  /** Whether another pass is needed, for example when replicas have loaded a configuration. */
  readonly isPending: boolean;
}

export interface PublicationMemory {
  /** The time since which no replica is live. */
  noReplicaSince?: number;
  /** The start of the wait for replicas, and the configuration. */
  waiting?: { readonly hash: string; readonly at: number };
}

export interface PublicationParts extends Pick<PassContext, 'settings' | 'view' | 'reports' | 'clock'> {
  readonly webhooks: WebhookWriter;
  readonly configurations: StoredConfigurations;
  /** By the name of the InjectorConfig, as long as its webhook is not withdrawn. */
  readonly webhookMemory: PassMemory<PublicationMemory>;
}

/** How long to wait for a live replica, for example in a restart, before reporting it, in ms. */
const noReplicaMs = 30_000;

/** Writes or keeps the webhook of an InjectorConfig, as `decideWebhook` decides. */
export async function publish(
  parts: PublicationParts,
  input: PublicationInput,
  signal: AbortSignal,
): Promise<PublicationOutcome> {
  const { config, compiled, caBundlePem, context, isTagged } = input;
  const { webhooks, configurations, webhookMemory } = parts;
  const { name } = config.metadata;
  await webhooks.sweep(name, signal);
  const live = isTagged ? undefined : webhooks.live({ config });
  const before = configurations.published(config, live);
  const decision = decide(parts, input, live, before);
  const { finding, isPending } = decision;
  if (decision.action !== 'keep') delete webhookMemory.of(name).waiting;
  const stays = { finding, hash: before, before, isPending };
  if (decision.action === 'leave') {
    if (decision.hash !== undefined && compiled !== undefined) configurations.remember(name, compiled);
    return { ...stays, hash: decision.hash ?? before };
  }
  if (decision.action === 'keep' || context === undefined) {
    const { refusal, ...kept } = await keep(parts, input, live, decision.hash, signal);
    return { ...stays, ...kept, ...(refusal && { finding: invalid(refusal, live) }) };
  }
  const target = { config, hash: decision.hash, caBundlePem, context };
  const obstacle = webhooks.canWrite(target) ? undefined : await webhooks.checkBeforeWrite(target, signal);
  if (obstacle !== undefined) {
    // Keep the live endpoint: it may still work.
    return { ...stays, ...obstacle, writes: await webhooks.keep(live, caBundlePem, signal) };
  }
  const { isDeferred, narrowed, refusal, ...written } = await webhooks.apply(target, signal);
  if (refusal !== undefined) {
    const kept = await webhooks.keep(live, caBundlePem, signal);
    const { writes, retryAfter } = combineResults(written, { retryAfter: refusal.retryAfter }, { writes: kept });
    const isPending = kept.some(({ outcome }) => outcome === 'Deferred');
    return { ...stays, finding: invalid(refusal, live), isPending, writes, retryAfter };
  }
  if (isDeferred) return { ...stays, ...written, finding: undefined, isPending: true };
  if (compiled !== undefined) configurations.remember(name, compiled);
  return { ...stays, ...written, hash: decision.hash, narrowed };
}

function decide(
  parts: PublicationParts,
  input: PublicationInput,
  live: KubernetesObject | undefined,
  before: string | undefined,
): WebhookDecision {
  const { config, compiled, context, isTagged, taken, foreign, fingerprint } = input;
  const { view, reports, configurations } = parts;
  const { name } = config.metadata;
  // Other code validates spec.injection and spec.certificate.
  const mistakes = validateInjectorConfig(config)
    .filter(({ field }) => !/^spec\.(injection|certificate)/.test(field))
    .map(({ message }) => message);
  return decideWebhook({
    name,
    isLive: live !== undefined,
    before,
    compiled: compiled?.hash,
    isOwnerMissing: context === undefined,
    otherClass: nameInUse(view, objectNames(name).webhookConfiguration),
    mistake: mistakes.length > 0 ? no('Invalid', mistakes.join('; ')) : taken,
    isTagged,
    foreign,
    // If the InjectorConfig was recreated, replicas may have a certificate of the old authority.
    lacking: (hash) => reports.lacking(name, hash, before === undefined ? fingerprint : undefined),
    isStored: (hash) => configurations.find(config, hash) !== undefined,
    waitedMs: (hash) => waitedMs(parts, name, hash),
    hasNoReplica: hasNoReplica(parts, name),
  });
}

/**
 * Keeps the published configuration. Applies the rest of the spec, unless this needs a new
 * reachability check.
 */
async function keep(
  { webhooks, configurations }: PublicationParts,
  { config, caBundlePem, context }: PublicationInput,
  live: KubernetesObject | undefined,
  hash: string | undefined,
  signal: AbortSignal,
): Promise<Partial<Pick<WrittenWebhook, 'refusal' | 'writes' | 'retryAfter'>>> {
  if (live === undefined) return {};
  const isKnown = hash !== undefined && configurations.isNamedOrFound(config, live, hash);
  const target = isKnown && context !== undefined && { config, hash, caBundlePem, context };
  const written = target && webhooks.canWrite(target) ? await webhooks.apply(target, signal) : undefined;
  const { refusal, writes = [], retryAfter } = written ?? {};
  if (written !== undefined && refusal === undefined) return { writes, retryAfter };
  const kept = await webhooks.keep(live, caBundlePem, signal);
  return { ...(refusal && { refusal }), writes: [...writes, ...kept], retryAfter };
}

/** Reports whether there has been no live replica for longer than a restart takes. */
function hasNoReplica({ reports, clock, settings, webhookMemory }: PublicationParts, name: string): boolean {
  const record = webhookMemory.of(name);
  if (reports.replicas(name).length > 0) {
    delete record.noReplicaSince;
    return false;
  }
  const now = clock.monotonic();
  record.noReplicaSince ??= now;
  return now - record.noReplicaSince >= noReplicaMs / (settings.testLeaseTimeScale ?? 1);
}

/** Returns how long the leader has waited for replicas to load a configuration. */
function waitedMs({ clock, webhookMemory }: PublicationParts, name: string, hash: string): number {
  const [now, record] = [clock.monotonic(), webhookMemory.of(name)];
  if (record.waiting?.hash !== hash) record.waiting = { hash, at: now };
  return now - record.waiting.at;
}

function invalid({ message }: NonNullable<WrittenWebhook['refusal']>, live: KubernetesObject | undefined): Finding {
  const stays = live === undefined ? 'there is no webhook yet, so nothing is injected' : 'the webhook stays as it was';
  return no('Invalid', `${message}; ${stays}`);
}
