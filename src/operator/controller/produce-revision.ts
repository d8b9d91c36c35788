import { ConfigurationError } from '../../api/errors.ts';
import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { objectNames } from '../../api/names.ts';
import type { Logger } from '../../kube/ports.ts';
import { claimOfConfig, isTagged as isStoodInFor } from '../../selection/pod-claims.ts';
import { servingObjects } from '../../manifests/desired-objects.ts';
import type { ClusterView } from '../cluster-view.ts';
import {
  type CompiledConfiguration,
  type ConfigurationCompiler,
  RefusedConfigurationError,
  tooCostlyReason,
} from '../configurations/compile-configuration.ts';
import { manifestContext, type OperatorSettings, resyncMs } from '../settings.ts';
import type { OwnedObjects, WriteOutcome } from './owned-objects.ts';
import type { ReplicaReports } from '../ports.ts';
import { foreignOverlap } from '../../selection/foreign-overlap.ts';
import { foreignFinding } from '../webhooks/foreign-finding.ts';
import type { HostClaims } from '../certificates/host-claims.ts';
import type { Publication } from '../webhooks/publication.ts';
import type { Refusals } from './refusals.ts';
import type { RevisionCertificates } from '../certificates/revision-certificates.ts';
import type { RevisionEvents } from './revision-events.ts';
import type { Finding, RevisionFindings } from './revision-status.ts';
import { servingPairOf } from '../certificates/secret-text.ts';
import type { ServingRoleKeeper } from '../replicas/serving-role.ts';
import type { StoredConfigurations } from '../configurations/stored-configurations.ts';
import type { KnownRevisions } from '../webhooks/revision-facts.ts';
import type { TagTargets } from '../tags/tag-targets.ts';

export interface RevisionProducerOptions {
  readonly settings: OperatorSettings;
  readonly view: ClusterView;
  readonly owned: OwnedObjects;
  readonly compiler: ConfigurationCompiler;
  readonly certificates: Pick<RevisionCertificates, 'advance' | 'forget'>;
  readonly servingRole: Pick<ServingRoleKeeper, 'admit'>;
  readonly reports: Pick<ReplicaReports, 'replicas'>;
  readonly configurations: StoredConfigurations;
  readonly publication: Publication;
  readonly targets: TagTargets;
  readonly hosts: HostClaims;
  readonly known: KnownRevisions;
  readonly refusals: Refusals;
  readonly events: RevisionEvents;
  readonly logger: Logger;
}

/** How soon to look again for what replicas report; their reports wake us sooner. */
const pendingMs = 1000;
/** A host that another InjectorConfig has becomes free when its webhook is elsewhere, of which no event tells us. Milliseconds. */
const takenRetryMs = 30_000;

/** Why a webhook is not ready where waiting does not help: somebody has to act, so an Event tells. */
const forPeople: readonly string[] = [
  'ConfigurationLost',
  'ForeignOverlap',
  'HostTaken',
  'Invalid',
  'NoReplica',
  'NotReachable',
  'OtherOperatorClass',
  'ProbeRefused',
];

/** Makes the objects of one InjectorConfig; what it finds out on the way is left to the caller to report. */
export class RevisionProducer {
  readonly #options: RevisionProducerOptions;

  constructor(options: RevisionProducerOptions) {
    this.#options = options;
  }

  /**
   * Everything but status, in the order in which nothing is ever called before it can answer. Resolves with the milliseconds until it wants to be
   * called again; what it found before it rejected stands in `findings`.
   */
  async produce(
    config: InjectorConfig,
    object: KubernetesObject,
    findings: RevisionFindings,
    writes: WriteOutcome,
    signal: AbortSignal,
  ): Promise<number> {
    const { publication, configurations, owned, settings, view, reports, events, logger } = this.#options;
    const { name } = config.metadata;
    await this.#options.servingRole.admit(name, signal);
    const rotation = await this.#options.certificates.advance(config, object, findings, writes, signal);
    // Without a rotation (its policy cannot work) what is served already goes on being trusted and repaired.
    const caBundlePem = rotation?.caBundlePem ?? this.#servedBundle(name);
    const { known } = this.#options;
    // At once, before anything else is awaited: the webhooks of tags must never be written with the bundle of before, which a rotation may have left.
    if (caBundlePem !== undefined && caBundlePem !== '') known.set(name, { ...known.get(name), caBundlePem });
    for (const each of servingObjects(config, rotation?.serving, settings.context)) {
      await owned.apply(each, writes, signal);
    }
    const compiled = await this.#compile(config, object, findings, signal);
    await configurations.store(config, compiled, writes, signal);
    // Without a certificate every call would fail TLS verification.
    if (caBundlePem === undefined || caBundlePem === '') return resyncMs;
    const isTagged = isStoodInFor(config, this.#options.targets.tags());
    const { foreign, finding } = this.#foreignOverlap(config, isTagged);
    findings.ForeignOverlap = finding;
    const { taken } = this.#options.hosts.of(config);
    const outcome = await publication.publish(
      { config, compiled, caBundlePem, context: manifestContext(settings, view), isTagged, taken, foreign },
      writes,
      signal,
    );
    const isInForce = isTagged || view.ownWebhook(name) !== undefined;
    const { hash } = outcome;
    known.set(name, { caBundlePem, hash: isInForce ? hash : undefined });
    if (outcome.finding !== undefined) {
      findings.WebhookReady = outcome.finding;
      const { reason, message } = outcome.finding;
      if (forPeople.includes(reason)) this.#options.refusals.refuse(object, 'Webhook', reason, message);
      else this.#options.refusals.settled(name, 'Webhook');
    }
    if (outcome.narrowed !== undefined) findings.Narrowed = outcome.narrowed;
    findings.publishedHash = outcome.hash;
    const live = reports.replicas(name);
    // Of nobody nothing is known: before the Leases have been read, or while a process that does everything restarts.
    if (live.length > 0 || outcome.finding?.reason === 'NoReplica') {
      findings.servedBy = live.filter(({ hashes }) => hashes.some((hash) => hash === outcome.hash)).length;
    }
    if (outcome.hash !== undefined && outcome.hash !== outcome.before) {
      events.published(object, outcome.hash, outcome.before);
      logger.info('published', { injectorConfig: name, hash: outcome.hash, before: outcome.before });
    }
    await configurations.prune(config, [outcome.hash, compiled?.hash], signal);
    if (outcome.isPending) return pendingMs;
    return taken === undefined ? resyncMs : takenRetryMs;
  }

  /** Somebody else's injector of the same pods: it keeps us from publishing, unless we are told to take over. */
  #foreignOverlap(config: InjectorConfig, isTagged: boolean): { foreign?: string; finding: Finding } {
    const { view } = this.#options;
    const claim = isTagged ? undefined : foreignOverlap(claimOfConfig(config), view.mutatingWebhooks.list());
    return foreignFinding(claim, config);
  }

  #servedBundle(name: string): string | undefined {
    const { view, settings } = this.#options;
    const secret = view.secrets.get(objectNames(name).servingSecret, settings.context.namespace);
    return secret && servingPairOf(secret).caPem;
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
      findings.refusedHash = undefined;
      refusals.settled(config.metadata.name, 'Configuration');
      return compiled;
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      const reason = reasonOf(error);
      findings.TemplatesValid = { status: 'False', reason, message: error.message };
      findings.refusedHash = error instanceof RefusedConfigurationError ? error.hash : undefined;
      refusals.refuse(object, 'Configuration', reason, error.message);
      return undefined;
    }
  }

  /** The webhook was withdrawn: the next one must prove itself again. */
  withdrawn(name: string): void {
    this.#options.known.set(name, undefined);
    this.#options.publication.withdrawn(name);
  }

  /** The InjectorConfig is gone. */
  forget(name: string): void {
    this.#options.known.set(name, undefined);
    this.#options.certificates.forget(name);
    this.#options.compiler.forget(name);
    this.#options.publication.forget(name);
  }
}

/** Why a configuration cannot be published. */
function reasonOf(error: ConfigurationError): string {
  if (error instanceof RefusedConfigurationError) return tooCostlyReason;
  return /^spec\.injection\.\w+From/.test(error.field) ? 'ReferenceInvalid' : 'ConfigurationInvalid';
}
