import { randomBytes } from 'node:crypto';
import type { GenerateKeyPair } from '../../certs/key-pair.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { EventRecorder } from '../../kube/event-recorder.ts';
import { CertificateKeeper } from '../certificates/certificate-keeper.ts';
import { CertManagerProvider } from '../certificates/cert-manager-provider.ts';
import { disabledProvider, selfSignedProvider } from '../certificates/certificate-provider.ts';
import { secretProvider } from '../certificates/certificate-secret-provider.ts';
import { SigningRequestProvider } from '../certificates/signing-request-provider.ts';
import { TrustedAuthorities } from '../certificates/trusted-authorities.ts';
import { certificates, configMaps, secrets, signingRequests } from '../cluster-view.ts';
import { whileLeading } from './leading-client.ts';
import { ReachabilityCheck } from '../webhooks/reachability-check.ts';
import { ObjectWriter } from './object-writer.ts';
import { HoldKeeper } from '../holding/hold-keeper.ts';
import { HoldPolicies, type HoldPoliciesOptions } from '../holding/hold-policies.ts';
import { ClusterRehearsal, type RehearsalMemory } from '../configurations/cluster-rehearsal.ts';
import { type CompilerMemory, ConfigurationCompiler } from '../configurations/compile-configuration.ts';
import { FollowedObjects, type FollowedObjectsOptions } from '../followed-objects.ts';
import type { PassContext } from './pass-context.ts';
import { PassMemory } from './pass-memory.ts';
import type { ResourceKind } from '../../kube/resource-kinds.ts';
import type { LoadConfiguration, RehearsePods } from '../ports.ts';
import { followPods, PodEvents, type PodStores } from '../pods/pod-events.ts';
import { RevisionProducer } from './produce-revision.ts';
import { Publication, type PublicationMemory } from '../webhooks/publication.ts';
import { publishedRules, type RulesMemory } from '../configurations/published-rules.ts';
import { RevisionReconciler } from './reconcile.ts';
import { type RefusalMemory, Refusals } from './refusals.ts';
import { Removal } from '../webhooks/removal.ts';
import { RecentWorkloads } from '../rollout/recent-workloads.ts';
import { Rollouts } from '../rollout/rollouts.ts';
import { createRestarts } from '../restarts/create-restarts.ts';
import type { FollowCollection } from '../restarts/followed-workloads.ts';
import { type ReleaseMemory, RevisionCertificates } from '../certificates/revision-certificates.ts';
import { RevisionEvents } from './revision-events.ts';
import { ServingRoleKeeper } from '../replicas/serving-role.ts';
import { StoredConfigurations, type StoredMemory } from '../configurations/stored-configurations.ts';
import { type FactsMemory, KnownRevisions } from '../webhooks/revision-facts.ts';
import { TagReconciler } from '../tags/reconcile-tag.ts';
import { TagTargets } from '../tags/tag-targets.ts';
import type { ConflictMemory } from '../webhooks/conflicts.ts';
import { type WebhookMemory, WebhookWriter } from '../webhooks/webhook-writer.ts';
import { ClusterUsage } from '../usage/cluster-usage.ts';
import { uncounted } from '../usage/usage-status.ts';
import { ValidatorReconciler } from './validator-reconcile.ts';
import { otherKeys, tagKey } from './wake-ups.ts';

/** What passes remember of an InjectorConfig, until it is deleted. */
type RevisionMemory = RefusalMemory &
  ConflictMemory &
  ReleaseMemory &
  CompilerMemory &
  RehearsalMemory &
  RulesMemory &
  StoredMemory &
  FactsMemory;

export interface ReconcilerParts extends Omit<PassContext, 'owned' | 'targets' | 'events'> {
  readonly client: ApiClient;
  /** Reports whether this process holds the Lease; called before each write. */
  readonly holdsLease: () => boolean;
  readonly generateKeyPair: GenerateKeyPair;
  readonly load: LoadConfiguration;
  readonly rehearse: RehearsePods;
  readonly followObject: FollowedObjectsOptions['follow'];
  readonly followCollection: FollowCollection;
  /** Keeps a store in sync with the objects of a kind that have our labels, for good. */
  readonly followOurs: HoldPoliciesOptions['follow'];
  /** Adds a key to the queue. */
  readonly wake: (key: string) => void;
  /** Reconciles the tags of an InjectorConfig that has published another configuration. */
  readonly onPublished: (injectorConfig: string) => void;
}

/** The reconcilers of all queue keys, the targets of tags, and a function that watches pods. */
export type Reconcilers = ReturnType<typeof createReconcilers>;

export function createReconcilers(parts: ReconcilerParts) {
  const { settings, view, reports, logger, metrics, clock, generateKeyPair, wake } = parts;
  const { namespace, operatorClass } = settings.context;
  const client = whileLeading(parts.client, parts.holdsLease);
  const owned = new ObjectWriter({ client, view, metrics, clock });
  const recorder = new EventRecorder({
    client: parts.client,
    clock,
    logger,
    controller: 'sidecar-injector.io/operator',
    instance: settings.identity,
  });
  const events = new RevisionEvents(recorder);
  const memory = new PassMemory<RevisionMemory>();
  const tagMemory = new PassMemory<RefusalMemory & ConflictMemory>();
  const webhookMemory = new PassMemory<WebhookMemory & PublicationMemory>();
  const refusals = new Refusals(events, logger, memory);
  const targets = new TagTargets(
    { configs: view.configs, tags: view.tags, targetOf: (tag) => view.targetOf(tag) },
    operatorClass,
  );
  const context: PassContext = { settings, view, owned, targets, reports, events, metrics, clock, logger };
  const followed = { client, follow: parts.followObject, onChange: wake };
  const shared = {
    ...context,
    client,
    memory,
    certificates: new CertificateKeeper({ ...context, client, random: randomBytes, generateKeyPair }),
    known: new KnownRevisions(memory, parts.onPublished),
  };
  const servingRole = new ServingRoleKeeper(context);
  const nonce = (): string => randomBytes(16).toString('hex');
  const check = new ReachabilityCheck({ view, client, webhooks: owned, memory: webhookMemory, clock, nonce, logger });
  const holds = new HoldPolicies({ ...context, client, nonce, follow: parts.followOurs });
  const webhooks = new WebhookWriter({ ...context, objects: owned, memory: webhookMemory, check, holds });
  const keeper = new HoldKeeper({
    ...context,
    client,
    policies: holds,
    follow: parts.followCollection,
    wake: () => wake(otherKeys.heldPods),
    news: wake,
  });
  const configurations = new StoredConfigurations({ ...context, memory });
  const rules = publishedRules(view, namespace, parts.load, memory);
  const recent = new RecentWorkloads(clock, (leaving) => usage.isBeingDeleted(leaving));
  const usage = new ClusterUsage({
    view,
    claims: () => targets.claims(),
    namespace,
    rules: (name, hash) => rules.withHash(name, hash),
    news: (kind, name) => wake(kind === 'RevisionTag' ? tagKey(name) : name),
    left: (tag, { traits }) => recent.left(tag, { namespace: traits.namespace, ...traits.workload }),
    clock,
    timeScale: settings.leaseTimeScale,
    logger,
  });
  metrics.usageFrom?.(() => usage.figures());
  const reportedUsage = settings.followPods === false ? uncounted : usage;
  const follow = (resource: ResourceKind): FollowedObjects => new FollowedObjects({ ...followed, resource });
  // One instance per provider: each stops the watches that its own provider does not need.
  const trust = (): TrustedAuthorities =>
    new TrustedAuthorities({ ConfigMap: follow(configMaps), Secret: follow(secrets) }, namespace);
  const providers = {
    SelfSigned: selfSignedProvider,
    Secret: secretProvider(follow(secrets), namespace, clock),
    CertificateSigningRequest:
      settings.certificateSigningRequests === true
        ? new SigningRequestProvider({ ...shared, requests: follow(signingRequests), trust: trust(), generateKeyPair })
        : disabledProvider("set the chart's operator.certificateSigningRequests (flag --certificate-signing-requests)"),
    CertManager:
      settings.certManager === true
        ? new CertManagerProvider({
            ...shared,
            certificates: follow(certificates),
            secrets: follow(secrets),
            trust: trust(),
          })
        : disabledProvider("set the chart's operator.certManager (flag --cert-manager)"),
  };
  const revisions = new RevisionReconciler({
    ...shared,
    usage: reportedUsage,
    producer: new RevisionProducer({
      ...shared,
      certificates: new RevisionCertificates({ ...shared, webhooks, providers, refusals }),
      servingRole,
      compiler: new ConfigurationCompiler(follow(configMaps), parts.load, memory),
      rehearsal: new ClusterRehearsal({ ...parts, targets, usage, memory }),
      configurations,
      holds,
      publication: new Publication({ ...context, webhooks, configurations, memory: webhookMemory }),
      webhooks,
      refusals,
    }),
    removal: new Removal({ ...context, webhooks }),
    refusals,
    held: keeper,
  });
  const restarts = createRestarts({
    ...shared,
    usage,
    recorder,
    follow: parts.followCollection,
    wake: () => wake(otherKeys.restarts),
    news: (tag) => wake(tagKey(tag)),
  });
  const tags = new TagReconciler({
    ...shared,
    webhooks,
    rollouts: new Rollouts({
      podsOf: settings.followPods === false ? undefined : (tag) => usage.podsOf(tag),
      followedSince: () => usage.followedSince(),
      recent,
      configOf: (name) => targets.configs().find(({ metadata }) => metadata.name === name),
      reports,
      clock,
    }),
    memory: tagMemory,
    refusals: new Refusals(events, logger, tagMemory, 'revisionTag'),
    usage: reportedUsage,
    restarts,
  });
  const podEvents = new PodEvents({
    // Pods are injected by the current target of a tag, not by the desired target.
    claims: () => ({ ...targets.claims(), targetOf: ({ metadata }) => targets.current(metadata.name) }),
    rules,
    recorder,
    metrics,
    clock,
    logger,
    namespace,
  });
  const beginPods = (signal: AbortSignal, restart: () => void, isRestart?: boolean): PodStores =>
    followPods({ podEvents, usage, clock }, signal, restart, isRestart);
  return {
    revisions,
    tags,
    targets,
    validator: new ValidatorReconciler(shared),
    servingRole,
    restarts,
    keeper,
    followPods: beginPods,
  };
}
