import type { GenerateKeyPair } from '../certs/key-pair.ts';
import type { RandomBytes } from '../certs/random-source.ts';
import type { ApiClient } from '../kube/api-client.ts';
import { ObjectApplier } from '../kube/apply-object.ts';
import { EventRecorder } from '../kube/event-recorder.ts';
import type { Clock, Logger } from '../kube/ports.ts';
import { CertificateKeeper } from './certificate-keeper.ts';
import { selfSignedProvider } from './certificate-provider.ts';
import { CertificateSecretProvider, type FollowSecret } from './certificate-secret-provider.ts';
import type { ClusterView } from './cluster-view.ts';
import { Finalizers } from './finalizers.ts';
import { whileLeading } from './leading-client.ts';
import { InstallGate } from './install-gate.ts';
import { OwnedObjects } from './owned-objects.ts';
import { ConfigurationCompiler } from './compile-configuration.ts';
import type { LoadConfiguration, OperatorMetrics, ReplicaReports } from './ports.ts';
import { ParsedConfigs } from './parsed-configs.ts';
import { PathProbe } from './path-probe.ts';
import { PodEvents } from './pod-events.ts';
import { RevisionProducer } from './produce-revision.ts';
import { Publication } from './publication.ts';
import { PublishedRules } from './published-rules.ts';
import { RevisionReconciler } from './reconcile.ts';
import { ReferenceWatches, type FollowConfigMap } from './reference-watches.ts';
import { Refusals } from './refusals.ts';
import { Removal } from './removal.ts';
import { RevisionCertificates } from './revision-certificates.ts';
import { RevisionEvents } from './revision-events.ts';
import { ServingRoleKeeper } from './serving-role.ts';
import { fieldManager, type OperatorSettings } from './settings.ts';
import { ValidatorReconciler } from './validator-reconcile.ts';

export interface ReconcilerParts {
  readonly client: ApiClient;
  /** Asked before each write. */
  readonly holdsLease: () => boolean;
  readonly settings: OperatorSettings;
  readonly view: ClusterView;
  readonly reports: ReplicaReports;
  readonly logger: Logger;
  readonly metrics: OperatorMetrics;
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
  readonly generateKeyPair: GenerateKeyPair;
  readonly load: LoadConfiguration;
  readonly followConfigMap: FollowConfigMap;
  readonly followSecret: FollowSecret;
  readonly onReferenceChange: (injectorConfig: string) => void;
}

export interface Reconcilers {
  readonly revisions: RevisionReconciler;
  readonly validator: ValidatorReconciler;
  readonly servingRole: ServingRoleKeeper;
  readonly references: ReferenceWatches;
  readonly podEvents: PodEvents;
}

/** Puts the reconcilers together. */
export function createReconcilers(parts: ReconcilerParts): Reconcilers {
  const { settings, view, reports, logger, metrics, clock, randomBytes, generateKeyPair } = parts;
  const client = whileLeading(parts.client, parts.holdsLease);
  const owned = new OwnedObjects(client, new ObjectApplier({ client, fieldManager, clock }), view, metrics);
  const certificates = new CertificateKeeper({ client, owned, view, clock, random: randomBytes, generateKeyPair });
  const references = new ReferenceWatches(client, parts.followConfigMap, parts.onReferenceChange);
  const recorder = new EventRecorder({
    client: parts.client,
    clock,
    logger,
    controller: 'sidecar-injector.io/operator',
    instance: settings.identity,
  });
  const events = new RevisionEvents(recorder);
  const refusals = new Refusals(events, logger);
  const shared = { settings, view, owned, certificates, metrics, clock, logger };
  const providers = {
    SelfSigned: selfSignedProvider,
    Secret: new CertificateSecretProvider({
      client,
      clock,
      namespace: settings.context.namespace,
      follow: parts.followSecret,
      onChange: parts.onReferenceChange,
    }),
  };
  const servingRole = new ServingRoleKeeper({ view, owned, context: settings.context, clock, logger });
  const probe = new PathProbe({ client, owned, clock, nonce: () => Buffer.from(randomBytes(16)).toString('hex') });
  const gate = new InstallGate({ view, owned, probe, clock, logger });
  const producer = new RevisionProducer({
    ...shared,
    certificates: new RevisionCertificates({ ...shared, providers, refusals, events }),
    servingRole,
    reports,
    compiler: new ConfigurationCompiler(references, parts.load),
    publication: new Publication(view, owned, reports, gate, settings.context, clock),
    refusals,
    events,
  });
  const revisions = new RevisionReconciler({
    ...shared,
    client,
    producer,
    removal: new Removal(view, owned, clock),
    finalizers: new Finalizers(client, view),
    refusals,
    events,
  });
  const { namespace, operatorClass } = settings.context;
  const parsed = new ParsedConfigs();
  const podEvents = new PodEvents({
    configs: () => parsed.parseAll(view.configs.list()).filter(({ spec }) => spec.operatorClass === operatorClass),
    rules: new PublishedRules(view, namespace, parts.load),
    recorder,
    metrics,
    clock,
    logger,
    namespace,
  });
  return { revisions, validator: new ValidatorReconciler(shared), servingRole, references, podEvents };
}
