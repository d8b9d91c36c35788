import { ConfigurationError } from '../api/errors.ts';
import type { InjectorConfig, InjectorConfigStatus } from '../api/injector-config.ts';
import type { KubernetesObject } from '../api/kubernetes.ts';
import { objectNames } from '../api/names.ts';
import { CertificatePolicyError } from '../certs/certificate-policy-error.ts';
import type { Rotation } from '../certs/rotation.ts';
import type { ApiClient } from '../kube/api-client.ts';
import { ApiError } from '../kube/api-error.ts';
import type { Clock, Logger } from '../kube/ports.ts';
import { writeStatus } from '../kube/status-writer.ts';
import { certificateNames, certificatePolicy } from '../manifests/certificate-terms.ts';
import { rotationSecret, servingObjects } from '../manifests/desired-objects.ts';
import type { CertificateKeeper } from './certificate-keeper.ts';
import type { ClusterView } from './cluster-view.ts';
import type { CompiledConfiguration, ConfigurationCompiler } from './compile-configuration.ts';
import { ConflictMemory } from './conflict-memory.ts';
import { hasFinalizer, type Finalizers } from './finalizers.ts';
import { manifestContext } from './manifest-context.ts';
import { overlapWinner } from './overlap.ts';
import { noWrites, type OwnedObjects, type WriteOutcome } from './owned-objects.ts';
import { otherInstallation } from './other-installation.ts';
import { ParsedConfigs } from './parsed-configs.ts';
import type { OperatorMetrics } from './ports.ts';
import type { Publication } from './publication.ts';
import type { Refusals } from './refusals.ts';
import type { Removal } from './removal.ts';
import type { RevisionEvents } from './revision-events.ts';
import { revisionStatus, type Finding, type RevisionFindings } from './revision-status.ts';
import { servingPairOf } from './secret-text.ts';
import { statusManager, type OperatorSettings } from './settings.ts';

export interface ReconcilerOptions {
  readonly client: Pick<ApiClient, 'apply'>;
  readonly settings: OperatorSettings;
  readonly view: ClusterView;
  readonly owned: OwnedObjects;
  readonly compiler: ConfigurationCompiler;
  readonly certificates: CertificateKeeper;
  readonly publication: Publication;
  readonly removal: Removal;
  readonly finalizers: Finalizers;
  readonly refusals: Refusals;
  readonly events: RevisionEvents;
  readonly metrics: OperatorMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Everything is looked at again after this long even when nothing happens: deadlines survive clocks that jump. Milliseconds. */
const resyncMs = 600_000;
/** How soon to look again for what replicas report; their reports wake us sooner. */
const pendingMs = 1000;
/** How long we leave an InjectorConfig alone whose objects somebody else writes too. Milliseconds. */
const contestedMs = 1000;

/** Why a webhook is not ready where waiting does not help: somebody has to act, so an Event tells. */
const forPeople: readonly string[] = ['ConfigurationLost', 'Invalid'];

/** A pass over one InjectorConfig: what is, what should be, the difference written, status once. */
export class RevisionReconciler {
  readonly #options: ReconcilerOptions;
  readonly #conflicts: ConflictMemory;
  readonly #configs = new ParsedConfigs();
  /** When fields were last taken back from somebody else. */
  readonly #contested = new Map<string, { at: number; generation: number | undefined }>();

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#conflicts = new ConflictMemory(options.clock);
  }

  /**
   * Reconciles one InjectorConfig, or what one that is gone has left behind.
   * Resolves with the milliseconds until it wants to be called again. Rejects when the API server does: call again with back-off.
   */
  async reconcile(name: string, signal: AbortSignal): Promise<number> {
    const { view, settings, removal } = this.#options;
    const object = view.configs.get(name);
    if (object === undefined) {
      this.#forget(name);
      return (await removal.step(name, signal)) ?? resyncMs;
    }
    const { spec } = object as { spec?: { operatorClass?: string } };
    if ((spec?.operatorClass ?? 'default') !== settings.context.operatorClass) return resyncMs;
    if (this.#isOfAnother(object)) return resyncMs;
    if (object.metadata.deletionTimestamp !== undefined) return this.#finalize(object, signal);
    const config = this.#configs.parse(object);
    if (config instanceof ConfigurationError) return this.#refuseWhole(object, config, signal);
    const quiet = this.#quietFor(config);
    return quiet > 0 ? quiet : this.#reconcileLive(config, object, signal);
  }

  /**
   * Two installations of one operator class would undo each other's writes for ever. The one that came second, which has nothing here yet, keeps
   * away; not even a status is written, which is one of those writes: an Event and the log tell.
   */
  #isOfAnother(object: KubernetesObject): boolean {
    const { view, settings, refusals } = this.#options;
    const { namespace, operatorClass } = settings.context;
    const { name = '' } = object.metadata;
    const { webhookConfiguration, servingSecret } = objectNames(name);
    const other = otherInstallation(view.mutatingWebhooks.get(webhookConfiguration), namespace);
    if (other === undefined || view.secrets.get(servingSecret, namespace) !== undefined) {
      refusals.settled(name, 'Installation');
      return false;
    }
    const message = `MutatingWebhookConfiguration ${webhookConfiguration} leads to namespace ${other}, where another installation of operator class ${operatorClass} lives; the one in namespace ${namespace} writes nothing: give it another --operator-class, or delete the webhook configuration if nobody is there any more`;
    refusals.refuse(object, 'Installation', 'OtherInstallation', message);
    return true;
  }

  async #reconcileLive(config: InjectorConfig, read: KubernetesObject, signal: AbortSignal): Promise<number> {
    const { clock, finalizers } = this.#options;
    const { name } = config.metadata;
    let object = read;
    const winner = overlapWinner(config, this.#configs.parseAll(this.#options.view.configs.list()));
    if (winner !== undefined) return this.#yieldTo(winner, config, object, signal);
    this.#options.refusals.settled(name, 'Overlap');
    const findings: RevisionFindings = {
      Overlap: { status: 'False', reason: 'NoOverlap', message: 'no other InjectorConfig takes the same pods' },
    };
    const writes = noWrites();
    const waits: number[] = [resyncMs];
    let failure: Error | undefined;
    try {
      object = await finalizers.hold(object, signal);
      waits.push(await this.#produce(config, object, findings, writes, signal));
    } catch (error) {
      failure = asError(error);
      this.#noteFailure(findings, failure);
    }
    const { finding, again } = this.#conflicts.observe(name, writes.foreign);
    findings.Conflict = finding;
    if (again !== undefined) waits.push(again);
    if (writes.retryAfter !== undefined) waits.push(writes.retryAfter);
    if (writes.foreign.length > 0) {
      this.#contested.set(name, { at: clock.monotonic(), generation: config.metadata.generation });
    }
    this.#options.events.repaired(object, writes.repairs);
    try {
      if (!signal.aborted) await this.#write(config, object, findings, signal);
    } catch (error) {
      failure ??= asError(error);
    }
    if (failure !== undefined) throw failure;
    const { rotation } = findings;
    if (rotation !== undefined) waits.push(rotation.nextAt.getTime() - clock.now().getTime());
    return Math.max(0, Math.min(...waits));
  }

  /** An older one takes the same pods: nothing of this one may be there. */
  async #yieldTo(
    winner: InjectorConfig,
    config: InjectorConfig,
    object: KubernetesObject,
    signal: AbortSignal,
  ): Promise<number> {
    const { removal, refusals } = this.#options;
    const isCustom = [winner, config].some(({ spec }) => spec.webhook.selection === 'Custom');
    const advice = isCustom
      ? '; give one of the two its own spec.webhook.keys or selectors that exclude each other'
      : '';
    const message = `InjectorConfig ${winner.metadata.name} is older and takes the same pods; nothing of this one is published${advice}`;
    refusals.refuse(object, 'Overlap', 'Overlap', message);
    const wait = await removal.step(config.metadata.name, signal);
    const findings: RevisionFindings = {
      Overlap: { status: 'True', reason: 'Overlap', message },
      WebhookReady: { status: 'False', reason: 'Overlap', message },
      publishedHash: undefined,
    };
    await this.#write(config, object, findings, signal);
    return wait ?? resyncMs;
  }

  /** Everything but status, in the order in which nothing is ever called before it can answer. */
  async #produce(
    config: InjectorConfig,
    object: KubernetesObject,
    findings: RevisionFindings,
    writes: WriteOutcome,
    signal: AbortSignal,
  ): Promise<number> {
    const { publication, owned, settings, view, events, logger } = this.#options;
    const { name } = config.metadata;
    const rotation = await this.#certificates(config, object, findings, writes, signal);
    for (const each of servingObjects(config, rotation?.serving, settings.context)) {
      await owned.apply(each, writes, signal);
    }
    const compiled = await this.#compile(config, object, findings, signal);
    await publication.storeConfiguration(config, compiled, writes, signal);
    // Without a rotation (its policy cannot work) what is served already goes on being trusted and repaired.
    const caBundlePem = rotation?.caBundlePem ?? this.#servedBundle(name);
    if (caBundlePem === undefined) return resyncMs;
    const outcome = await publication.publish(
      { config, compiled, caBundlePem, context: manifestContext(settings, view) },
      writes,
      signal,
    );
    if (outcome.finding !== undefined) {
      findings.WebhookReady = outcome.finding;
      const { reason, message } = outcome.finding;
      if (forPeople.includes(reason)) this.#options.refusals.refuse(object, 'Webhook', reason, message);
      else this.#options.refusals.settled(name, 'Webhook');
    }
    findings.publishedHash = outcome.hash;
    if (outcome.hash !== undefined && outcome.hash !== outcome.before) {
      events.published(object, outcome.hash, outcome.before);
      logger.info('published', { injectorConfig: name, hash: outcome.hash, before: outcome.before });
    }
    await publication.prune(config, [outcome.hash, compiled?.hash], signal);
    return outcome.isPending ? pendingMs : resyncMs;
  }

  #servedBundle(name: string): string | undefined {
    const { view, settings } = this.#options;
    const secret = view.secrets.get(objectNames(name).servingSecret, settings.context.namespace);
    return secret && servingPairOf(secret).caPem;
  }

  async #certificates(
    config: InjectorConfig,
    object: KubernetesObject,
    findings: RevisionFindings,
    writes: WriteOutcome,
    signal: AbortSignal,
  ): Promise<Rotation | undefined> {
    const { certificates, settings, view, events, refusals, metrics, logger } = this.#options;
    const { name } = config.metadata;
    const names = objectNames(name);
    try {
      const rotation = await certificates.advance(
        {
          namespace: settings.context.namespace,
          rotationSecret: (stored) => rotationSecret(config, stored, settings.context),
          servingSecret: names.servingSecret,
          policy: certificatePolicy(config),
          names: certificateNames(config, settings.context.namespace),
          webhooks: [view.mutatingWebhooks.get(names.webhookConfiguration)],
        },
        writes,
        signal,
      );
      findings.rotation = rotation;
      findings.CertificateReady = certificateFinding(rotation);
      events.rotated(object, rotation.changes);
      for (const { kind, subject, message } of rotation.changes) {
        logger.info(`certificate: ${message}`, { injectorConfig: name, change: kind, subject });
      }
      refusals.settled(name, 'Certificate');
      if (rotation.serving !== undefined) metrics.certificateExpires?.(name, rotation.serving.notAfter);
      return rotation;
    } catch (error) {
      if (!(error instanceof CertificatePolicyError)) throw error;
      const message = `spec.certificate: ${error.message}`;
      findings.CertificateReady = { status: 'False', reason: 'InvalidPolicy', message };
      refusals.refuse(object, 'Certificate', 'InvalidPolicy', message);
      return undefined;
    }
  }

  async #compile(
    config: InjectorConfig,
    object: KubernetesObject,
    findings: RevisionFindings,
    signal: AbortSignal,
  ): Promise<CompiledConfiguration | undefined> {
    const { compiler, refusals } = this.#options;
    try {
      const compiled = await compiler.compile(config, signal);
      const { templates, hash, warnings } = compiled;
      const count = templates === 1 ? '1 template compiles' : `${templates} templates compile`;
      const message = [`${count}; the configuration is ${hash}`, ...warnings].join('; ');
      findings.TemplatesValid = { status: 'True', reason: 'Compiled', message };
      refusals.settled(config.metadata.name, 'Configuration');
      return compiled;
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      const reason = /^spec\.injection\.\w+From/.test(error.field) ? 'ReferenceInvalid' : 'ConfigurationInvalid';
      findings.TemplatesValid = { status: 'False', reason, message: error.message };
      refusals.refuse(object, 'Configuration', reason, error.message);
      return undefined;
    }
  }

  /** A step that the API server refused shows in the condition of that step; what came before it keeps its finding. */
  #noteFailure(findings: RevisionFindings, error: Error): void {
    if (error instanceof ApiError && (error.code === 0 || error.code === 409)) return;
    const reason = error instanceof ApiError ? error.reason.replace(/[^A-Za-z0-9_]/g, '') : 'InternalError';
    const finding: Finding = { status: 'False', reason, message: error.message };
    if (findings.CertificateReady === undefined) findings.CertificateReady = finding;
    else findings.WebhookReady ??= finding;
  }

  async #refuseWhole(object: KubernetesObject, error: ConfigurationError, signal: AbortSignal): Promise<number> {
    this.#options.refusals.refuse(object, 'Object', 'Invalid', error.message);
    const finding: Finding = { status: 'False', reason: 'Invalid', message: error.message };
    const { status, metadata } = object as { status?: InjectorConfigStatus } & KubernetesObject;
    const shell = { metadata, spec: {}, ...(status === undefined ? {} : { status }) } as unknown as InjectorConfig;
    await this.#write(shell, object, { TemplatesValid: finding }, signal);
    return resyncMs;
  }

  async #write(
    config: InjectorConfig,
    object: KubernetesObject,
    findings: RevisionFindings,
    signal: AbortSignal,
  ): Promise<void> {
    const { client, clock, view, metrics } = this.#options;
    const status = revisionStatus(config, findings, clock.now());
    const conditions = (status.conditions ?? []).map((each): [string, boolean] => [each.type, each.status === 'True']);
    metrics.conditions?.(config.metadata.name, new Map(conditions));
    const stored = await writeStatus(client, object, status, { fieldManager: statusManager, signal });
    if (stored !== undefined) view.configs.upsert(stored);
  }

  async #finalize(object: KubernetesObject, signal: AbortSignal): Promise<number> {
    const { removal, finalizers, logger } = this.#options;
    const { name = '' } = object.metadata;
    if (!hasFinalizer(object)) return resyncMs;
    const wait = await removal.step(name, signal);
    if (wait !== undefined) return wait;
    await finalizers.release(object, signal);
    logger.info('removed', { injectorConfig: name });
    this.#forget(name);
    return resyncMs;
  }

  /** While somebody undoes what we do, one pass a second is enough; a new generation is looked at whatever happens. */
  #quietFor({ metadata }: InjectorConfig): number {
    const contested = this.#contested.get(metadata.name);
    if (contested === undefined || contested.generation !== metadata.generation) return 0;
    return contested.at + contestedMs - this.#options.clock.monotonic();
  }

  #forget(name: string): void {
    this.#options.refusals.forget(name);
    this.#conflicts.forget(name);
    this.#options.compiler.forget(name);
    this.#options.publication.forget(name);
    this.#contested.delete(name);
    this.#options.metrics.forget?.(name);
  }
}

function certificateFinding({ serving, phase }: Rotation): Finding {
  if (serving === undefined) {
    const message = 'the new serving certificate is served once its authority is trusted everywhere';
    return { status: 'False', reason: phase, message };
  }
  const message = `the serving certificate is valid until ${serving.notAfter.toISOString()}`;
  return { status: 'True', reason: phase, message };
}

function asError(value: unknown): Error {
  return value instanceof Error ? value : new Error(String(value));
}
