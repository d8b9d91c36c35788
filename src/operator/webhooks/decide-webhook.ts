import { hashedConfigMapName, replicaLeaseName } from '../../api/names.ts';
import { type Finding, no, yes } from '../controller/revision-status.ts';
import { safeTakeover } from './foreign-finding.ts';

/** The inputs to `decideWebhook`. */
export interface WebhookFacts {
  readonly name: string;
  /** Whether the InjectorConfig has a webhook of our operator class. */
  readonly isLive: boolean;
  /** The hash of the configuration that was published last, if known. */
  readonly before: string | undefined;
  /** The hash of the spec's configuration; undefined if it does not compile. */
  readonly compiled: string | undefined;
  /** Whether the owner of webhook configurations (`--owner`) does not exist. */
  readonly isOwnerMissing: boolean;
  /** Set if another operator class uses the name of the webhook configuration. */
  readonly otherClass: Finding | undefined;
  /** Set if the spec is invalid, or if another InjectorConfig uses the host of spec.webhook.url. */
  readonly mistake: Finding | undefined;
  /** Whether RevisionTag `default` owns the webhook. */
  readonly isTagged: boolean;
  /** A clause that names another product's injector that selects the same pods. */
  readonly foreign: string | undefined;
  /** Returns the live replicas that do not serve a configuration yet. */
  readonly lacking: (hash: string) => readonly string[];
  /** Reports whether a configuration is still stored, so that replicas can load it. */
  readonly isStored: (hash: string) => boolean;
  /** Returns how long the leader has waited for replicas to load a configuration. */
  readonly waitedMs: (hash: string) => number;
  /** Whether there has been no live replica for longer than a restart takes. */
  readonly hasNoReplica: boolean;
}

/** The decision: `apply` the webhook for `hash`, `keep` it (update its caBundle), or `leave` it. */
export type WebhookDecision = {
  /** The condition `WebhookReady`; undefined means that it stays unchanged. */
  readonly finding: Finding | undefined;
  /** Whether the decision may change without an edit, for example when replicas report. */
  readonly isPending: boolean;
} & (
  | { readonly action: 'apply'; readonly hash: string }
  /** `hash`: the published configuration; the webhook may still get other fields of the spec. */
  | { readonly action: 'keep'; readonly hash?: string | undefined }
  /** `hash`: the configuration to which tags can point. */
  | { readonly action: 'leave'; readonly hash?: string | undefined }
);

/**
 * Decides about the webhook of an InjectorConfig. The webhook names the last good configuration
 * until every live replica serves the new configuration. A rejected change keeps the webhook.
 */
export function decideWebhook(facts: WebhookFacts): WebhookDecision {
  const { before, compiled, isTagged, foreign, lacking } = facts;
  const desired = compiled ?? before;
  if (!isTagged && facts.otherClass !== undefined)
    return { action: 'leave', finding: facts.otherClass, isPending: false };
  if (facts.isOwnerMissing) return { action: 'keep', finding: ownerMissing, isPending: true };
  if (desired === undefined) {
    const message = 'no configuration has compiled yet, so there is nothing to publish';
    return { action: 'keep', finding: no('NothingToPublish', message), isPending: false };
  }
  if (facts.mistake !== undefined) return { action: 'keep', finding: facts.mistake, isPending: false };
  const missing = lacking(desired);
  // Keep a live webhook. Create no webhook before the replicas can serve it.
  if (missing.length > 0)
    return { action: 'keep', hash: before, finding: waitingFinding(facts, desired, missing), isPending: true };
  if (isTagged) {
    const message = `RevisionTag ${facts.name} replaces the webhook of this InjectorConfig; configuration ${desired} is served to pods that follow a tag to this revision`;
    return { action: 'leave', hash: desired, finding: yes('Tagged', message), isPending: false };
  }
  if (!facts.isLive && foreign !== undefined) {
    const message = `${foreign}, so nothing is published; ${safeTakeover('spec.webhook.takeover')}, or give this one its own spec.webhook.keys`;
    return { action: 'leave', finding: no('ForeignOverlap', message), isPending: false };
  }
  const finding = yes('Published', `the webhook names configuration ${desired}`);
  return { action: 'apply', hash: desired, finding, isPending: false };
}

/** The condition while the owner of webhook configurations does not exist. */
export const ownerMissing: Finding = no(
  'OwnerMissing',
  'the owner of the webhook configurations (--owner) does not exist; nothing is published without it',
);

/** How long to wait for a replica before the message says how to end the wait, in milliseconds. */
const longWaitMs = 300_000;

/** Returns the condition while replicas do not serve the desired configuration. */
function waitingFinding(facts: WebhookFacts, desired: string, missing: readonly string[]): Finding | undefined {
  const { name, before, compiled, isStored, hasNoReplica } = facts;
  if (compiled === undefined && !isStored(desired)) {
    const problem = `the published configuration ${desired} is lost: ConfigMap ${hashedConfigMapName(name, desired)} does not exist, and the configuration is not served by ${missing.join(', ')}; correct the configuration of InjectorConfig ${name}, or restore the ConfigMap`;
    return no('ConfigurationLost', problem);
  }
  if (desired !== before) {
    const message = `configuration ${desired} is not served yet by ${missing.join(', ')}`;
    const advice = `this has lasted for more than ${longWaitMs / 60_000} minutes: see the log of that pod, or delete the pod; the operator ignores its Lease (${replicaLeaseName('<pod>')}) after a minute`;
    return no('WaitingForReplicas', facts.waitedMs(desired) < longWaitMs ? message : `${message}; ${advice}`);
  }
  // A restarted replica is loading the published configuration: the condition stays unchanged.
  if (!hasNoReplica) return undefined;
  const message = `the webhook names configuration ${desired}, but no replica is running to serve it: start the webhook's replicas, or set spec.paused to let pods start without this injector`;
  return no('NoReplica', message);
}
