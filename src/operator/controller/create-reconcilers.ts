import type { GenerateKeyPair } from '../../certs/key-pair.ts';
import type { RandomBytes } from '../../certs/random-source.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { ObjectApplier } from '../../kube/apply-object.ts';
import { EventRecorder } from '../../kube/event-recorder.ts';
import type { Clock, Logger } from '../../kube/ports.ts';
import { CertificateKeeper } from '../certificates/certificate-keeper.ts';
import {
  CertificateSecretProvider,
  type FollowSecret,
  selfSignedProvider,
} from '../certificates/certificate-secret-provider.ts';
import type { ClusterView } from '../cluster-view.ts';
import { Finalizers } from './finalizers.ts';
import { HostClaims } from '../certificates/host-claims.ts';
import { whileLeading } from './leading-client.ts';
import { ReachabilityCheck } from '../webhooks/reachability-check.ts';
import { ObjectWriter } from './object-writer.ts';
import type { OwnedObjects } from './owned-objects.ts';
import { ConfigurationCompiler } from '../configurations/compile-configuration.ts';
import type { LoadConfiguration, OperatorMetrics, ReplicaReports } from '../ports.ts';
import { PathProbe } from '../webhooks/path-probe.ts';
import { PodEvents } from '../pods/pod-events.ts';
import { FollowedPods } from '../pods/followed-pods.ts';
import { RevisionProducer } from './produce-revision.ts';
import { Publication } from '../webhooks/publication.ts';
import { PublishedRules } from '../configurations/published-rules.ts';
import { RevisionReconciler } from './reconcile.ts';
import { type FollowConfigMap, ReferenceWatches } from '../configurations/reference-watches.ts';
import { Refusals } from './refusals.ts';
import { Removal } from '../webhooks/removal.ts';
import { RecentWorkloads } from '../rollout/recent-workloads.ts';
import { Rollouts } from '../rollout/rollouts.ts';
import { createRestarts } from '../restarts/create-restarts.ts';
import type { FollowCollection } from '../restarts/followed-workloads.ts';
import type { RestartPass } from '../restarts/restart-pass.ts';
import type { RestartSource } from '../restarts/restart-source.ts';
import { RevisionCertificates } from '../certificates/revision-certificates.ts';
import { RevisionEvents } from './revision-events.ts';
import { ServingRoleKeeper } from '../replicas/serving-role.ts';
import { fieldManager, type OperatorSettings } from '../settings.ts';
import { StoredConfigurations } from '../configurations/stored-configurations.ts';
import { KnownRevisions } from '../webhooks/revision-facts.ts';
import { TagReconciler } from '../tags/reconcile-tag.ts';
import { TagTargets } from '../tags/tag-targets.ts';
import { WebhookWriter } from '../webhooks/webhook-writer.ts';
import { ClusterUsage } from '../usage/cluster-usage.ts';
import { uncounted } from '../usage/usage-status.ts';
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
  /** An InjectorConfig serves something else than before: the tags that lead to it follow. */
  readonly onPublished: (injectorConfig: string) => void;
  readonly followCollection: FollowCollection;
  /** There may be something to restart. */
  readonly onRestarts: () => void;
  /** Who uses an InjectorConfig or a tag, or how restarts go on, is different now: its status is to be written. */
  readonly onUsage: (kind: 'InjectorConfig' | 'RevisionTag', name: string) => void;
}

export interface Reconcilers {
  readonly tags: TagReconciler;
  /** Where tags lead. */
  readonly targets: TagTargets;
  readonly revisions: RevisionReconciler;
  readonly validator: ValidatorReconciler;
  readonly servingRole: ServingRoleKeeper;
  readonly references: ReferenceWatches;
  /** Restarts of workloads; one pass at a time. */
  readonly restarts: RestartSource & Pick<RestartPass, 'pass'>;
  /** What follows pods and namespaces while we lead. */
  readonly pods: FollowedPods;
}

/** Puts the reconcilers together. */
export function createReconcilers(parts: ReconcilerParts): Reconcilers {
  const { settings, view, reports, logger, metrics, clock, randomBytes, generateKeyPair } = parts;
  const client = whileLeading(parts.client, parts.holdsLease);
  const objects = new ObjectWriter(client, new ObjectApplier({ client, fieldManager, clock }), view, metrics);
  const owned: OwnedObjects = objects;
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
  const probe = new PathProbe({
    client,
    webhooks: objects,
    clock,
    nonce: () => Buffer.from(randomBytes(16)).toString('hex'),
  });
  const check = new ReachabilityCheck({ view, webhooks: objects, probe, clock, logger });
  const webhooks = new WebhookWriter(view, objects, check, clock);
  const { operatorClass } = settings.context;
  const targets = new TagTargets(
    { configs: view.configs, tags: view.tags, targetOf: (tag) => view.targetOf(tag) },
    operatorClass,
  );
  const configurations = new StoredConfigurations(view, owned, settings.context);
  const hosts = new HostClaims(view, settings.context.namespace, () => targets.configs());
  const known = new KnownRevisions();
  known.subscribe(parts.onPublished);
  const rules = new PublishedRules(view, settings.context.namespace, parts.load);
  const recent = new RecentWorkloads(clock, (namespace) => usage.isLeaving(namespace));
  const usage = new ClusterUsage({
    view,
    claims: () => targets.claims(),
    namespace: settings.context.namespace,
    rules: (name, hash) => rules.ofHash(name, hash),
    news: parts.onUsage,
    left: (tag, { traits }) => {
      recent.left(tag, { namespace: traits.namespace, ...traits.workload });
    },
    clock,
    logger,
  });
  metrics.usageFrom?.(() => usage.figures());
  const told = settings.followPods === false ? uncounted : usage;
  const producer = new RevisionProducer({
    ...shared,
    targets,
    hosts,
    known,
    certificates: new RevisionCertificates({ ...shared, webhooks, providers, hosts, refusals, events }),
    servingRole,
    reports,
    compiler: new ConfigurationCompiler(references, parts.load),
    configurations,
    publication: new Publication(view, webhooks, reports, configurations, clock),
    refusals,
    events,
  });
  const revisions = new RevisionReconciler({
    ...shared,
    client,
    usage: told,
    producer,
    targets,
    removal: new Removal(view, owned, webhooks, clock),
    finalizers: new Finalizers(client, view),
    refusals,
    events,
  });
  const restarts = createRestarts({
    ...shared,
    client,
    targets,
    usage,
    reports,
    recorder,
    follow: parts.followCollection,
    wake: parts.onRestarts,
    news: (tag) => {
      parts.onUsage('RevisionTag', tag);
    },
  });
  const tags = new TagReconciler({
    ...shared,
    client,
    targets,
    known,
    reports,
    webhooks,
    rollouts: new Rollouts({
      podsOf: settings.followPods === false ? undefined : (tag) => usage.podsOf(tag),
      followedSince: () => usage.followedSince(),
      recent,
      configOf: (name) => targets.configs().find(({ metadata }) => metadata.name === name),
      reports,
      clock,
    }),
    refusals: new Refusals(events, logger, 'revisionTag'),
    events,
    usage: told,
    restarts,
  });
  const { namespace } = settings.context;
  const podEvents = new PodEvents({
    // Where a tag leads now: pods are made by that, wherever it is to lead.
    claims: () => ({ ...targets.claims(), targetOf: ({ metadata }) => targets.current(metadata.name) }),
    rules,
    recorder,
    metrics,
    clock,
    logger,
    namespace,
  });
  return {
    revisions,
    tags,
    targets,
    validator: new ValidatorReconciler(shared),
    servingRole,
    references,
    restarts,
    pods: new FollowedPods(podEvents, usage, clock),
  };
}
