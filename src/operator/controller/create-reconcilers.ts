import { randomBytes } from 'node:crypto';
import type { GenerateKeyPair } from '../../certs/key-pair.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { EventRecorder } from '../../kube/event-recorder.ts';
import { createProviders } from '../certificates/create-providers.ts';
import type { ReleaseMemory } from '../certificates/revision-certificates.ts';
import { ClusterRehearsal, type RehearsalMemory } from '../configurations/cluster-rehearsal.ts';
import { type CompilerMemory, ConfigurationCompiler } from '../configurations/compile-configuration.ts';
import { publishedRules, type RulesMemory } from '../configurations/published-rules.ts';
import { StoredConfigurations, type StoredMemory } from '../configurations/stored-configurations.ts';
import { FollowedObjects, type FollowedObjectsOptions } from '../followed-objects.ts';
import { HoldKeeper } from '../holding/hold-keeper.ts';
import { HoldPolicies, type HoldPoliciesOptions } from '../holding/hold-policies.ts';
import { invalidAfterInjection } from '../pods/invalid-pods.ts';
import { followPods, PodEvents, type PodStores } from '../pods/pod-events.ts';
import { RefusedPods } from '../pods/refused-pods.ts';
import type { RehearsePods, TryConfiguration } from '../ports.ts';
import { ServingRoleKeeper } from '../replicas/serving-role.ts';
import { createRestarts } from '../restarts/create-restarts.ts';
import type { FollowCollection } from '../restarts/followed-workloads.ts';
import { RecentWorkloads } from '../rollout/recent-workloads.ts';
import { Rollouts } from '../rollout/rollouts.ts';
import { TagReconciler } from '../tags/reconcile-tag.ts';
import { ClusterUsage } from '../usage/cluster-usage.ts';
import { uncounted } from '../usage/usage-status.ts';
import type { ConflictMemory } from '../webhooks/conflicts.ts';
import type { PublicationMemory } from '../webhooks/publication.ts';
import { Removal } from '../webhooks/removal.ts';
import { type FactsMemory, KnownRevisions } from '../webhooks/revision-facts.ts';
import { type WebhookMemory, WebhookWriter } from '../webhooks/webhook-writer.ts';
import { whileLeading } from './leading-client.ts';
import { ObjectWriter } from './object-writer.ts';
import { type PassContext, PassMemory } from './pass-context.ts';
import { RevisionReconciler } from './reconcile.ts';
import { type RefusalMemory, Refusals } from './refusals.ts';
import { RevisionEvents } from './revision-events.ts';
import { ValidatorReconciler } from './validator-reconcile.ts';
import { otherKeys, tagKey } from './wake-ups.ts';

/** What passes remember of an InjectorConfig or tag, until it is deleted. */
type ObjectMemory = RefusalMemory &
  ConflictMemory &
  ReleaseMemory &
  CompilerMemory &
  RehearsalMemory &
  RulesMemory &
  StoredMemory &
  FactsMemory;

export interface ReconcilerParts extends Omit<PassContext, 'owned' | 'events'> {
  readonly client: ApiClient;
  /** Reports whether this process holds the Lease; called before each write. */
  readonly holdsLease: () => boolean;
  readonly generateKeyPair: GenerateKeyPair;
  readonly tryOne: TryConfiguration;
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
  const { settings, view, targets, reports, logger, clock, wake, tryOne, followCollection } = parts;
  const { namespace } = settings.context;
  const client = whileLeading(parts.client, parts.holdsLease);
  const owned = new ObjectWriter({ ...parts, client });
  const recorder = new EventRecorder({
    client: parts.client,
    clock,
    logger,
    controller: 'sidecar-injector.io/operator',
    instance: settings.identity,
  });
  const events = new RevisionEvents(recorder);
  const memory = new PassMemory<ObjectMemory>();
  const refusals = new Refusals(events, logger, memory);
  const nonce = (): string => randomBytes(16).toString('hex');
  const known = new KnownRevisions(memory, parts.onPublished);
  const shared = { ...parts, client, owned, events, memory, refusals, nonce, known, random: randomBytes };

  const rules = publishedRules(view, namespace, tryOne, memory);
  const recent = new RecentWorkloads(clock);
  const usage = new ClusterUsage({
    ...shared,
    claims: () => targets.claims(),
    namespace,
    rules: (name, hash) => rules.withHash(name, hash),
    news: (kind, name) => wake(kind === 'RevisionTag' ? tagKey(name) : name),
    left: (tag, { traits }) => recent.left(tag, { namespace: traits.namespace, ...traits.workload }),
    timeScale: settings.testLeaseTimeScale,
  });
  parts.metrics.usageFrom?.(() => usage.figures());
  const isFollowing = settings.followPods !== false;
  const reportedUsage = isFollowing ? usage : uncounted;
  const podEvents = new PodEvents({
    ...shared,
    // Pods are injected by the current target of a tag, not by the desired target.
    claims: () => ({ ...targets.claims(), targetOf: ({ metadata }) => targets.current(metadata.name) }),
    rules,
    recorder,
    namespace,
  });

  const holds = new HoldPolicies({ ...shared, follow: parts.followOurs });
  const keeper = new HoldKeeper({
    ...shared,
    policies: holds,
    follow: followCollection,
    wake: () => wake(otherKeys.heldPods),
    news: wake,
  });
  const webhookMemory = new PassMemory<WebhookMemory & PublicationMemory>();
  const webhooks = new WebhookWriter({ ...shared, webhooks: owned, memory: webhookMemory, holds });

  const servingRole = new ServingRoleKeeper(shared);
  const configurations = new StoredConfigurations(shared);
  const followed = new FollowedObjects({ client, follow: parts.followObject, onChange: wake });
  const providers = createProviders({ ...shared, followed });
  const rehearsal = new ClusterRehearsal({ ...shared, usage });
  const revisions = new RevisionReconciler({
    ...shared,
    providers,
    servingRole,
    compiler: new ConfigurationCompiler(followed, tryOne, memory, (...typical) => rehearsal.judge(...typical)),
    rehearsal,
    configurations,
    holds,
    webhookMemory,
    webhooks,
    usage: reportedUsage,
    removal: new Removal({ ...shared, webhooks }),
    held: keeper,
    followed,
  });

  const refused = new RefusedPods({
    ...shared,
    follow: followCollection,
    usage,
    isInvalid: invalidAfterInjection(view, namespace, parts.rehearse),
  });
  const restarts = createRestarts({
    ...shared,
    usage,
    recorder,
    follow: followCollection,
    refused,
    wake: () => wake(otherKeys.restarts),
    news: (tag) => wake(tagKey(tag)),
  });
  const rollouts = new Rollouts({
    podsOf: isFollowing ? (tag) => usage.podsOf(tag) : undefined,
    followedSince: () => usage.followedSince(),
    isBeingDeleted: (name) => usage.isBeingDeleted(name),
    recent,
    refused,
    configOf: (name) => targets.configs().find(({ metadata }) => metadata.name === name),
    reports,
    clock,
  });
  const tags = new TagReconciler({
    ...shared,
    webhooks,
    rollouts,
    usage: reportedUsage,
    restarts,
  });
  const validator = new ValidatorReconciler(shared);
  const beginPods = (signal: AbortSignal, restart: () => void, isRestart?: boolean): PodStores =>
    followPods({ podEvents, usage, clock }, signal, restart, isRestart);
  return { revisions, tags, targets, validator, servingRole, restarts, keeper, followPods: beginPods };
}
