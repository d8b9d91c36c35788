import { hashedConfigMapName, replicaLeaseName } from '../../api/names.ts';
import { type Finding, no, yes } from '../controller/revision-status.ts';

/** What is known of an InjectorConfig when its own webhook is decided. */
export interface WebhookFacts {
  readonly name: string;
  /** Whether there is a webhook that is ours to write. */
  readonly isLive: boolean;
  /** What was published last, as far as that is known. */
  readonly before: string | undefined;
  /** The configuration that the spec asks for; undefined: it does not compile. */
  readonly compiled: string | undefined;
  /** The owner of webhook configurations that was asked for (`--owner`) does not exist. */
  readonly isOwnerMissing: boolean;
  /** Another operator class has the name of the webhook configuration. */
  readonly otherClass: Finding | undefined;
  /** What is wrong in the spec, or that the host of its url is another's. */
  readonly mistake: Finding | undefined;
  /** A tag stands in for it, and has the webhook. */
  readonly isTagged: boolean;
  /** Another injector takes the same pods, as a sentence. */
  readonly foreign: string | undefined;
  /** The live replicas that could not answer a configuration yet. */
  readonly lacking: (hash: string) => readonly string[];
  /** Whether somebody holds a configuration, so that replicas can still load it. */
  readonly isHeld: (hash: string) => boolean;
  /** For how long replicas have been waited for with a configuration, in milliseconds. */
  readonly waited: (hash: string) => number;
  /** No replica has been live for longer than a restart takes. */
  readonly isSilent: boolean;
}

/** What is done with a webhook: written for `hash`, left as it is but for the caBundle, or not touched. */
export type WebhookDecision = {
  /** Undefined: as it was. */
  readonly finding: Finding | undefined;
  /** Something that comes by itself is waited for, such as replicas that load. */
  readonly isPending: boolean;
} & (
  | { readonly action: 'apply'; readonly hash: string }
  /** `hash`: as the spec says for the configuration that is published, where that leads nowhere untried. */
  | { readonly action: 'keep'; readonly hash?: string | undefined }
  /** `hash`: what is served to those that a tag sends. */
  | { readonly action: 'leave'; readonly hash?: string | undefined }
);

/**
 * What becomes of an InjectorConfig's own webhook. It names a configuration only when every live replica holds it, goes on naming the last good one
 * while a newer one is not there yet or does not compile, and what is live is never withdrawn because something new is refused.
 */
export function decideWebhook(facts: WebhookFacts): WebhookDecision {
  const { before, compiled, isTagged, foreign, lacking } = facts;
  const wanted = compiled ?? before;
  if (!isTagged && facts.otherClass !== undefined)
    return { action: 'leave', finding: facts.otherClass, isPending: false };
  if (facts.isOwnerMissing) return { action: 'keep', finding: ownerMissing, isPending: true };
  if (wanted === undefined) {
    const message = 'no configuration has compiled yet, so there is nothing that the webhook could name';
    return { action: 'keep', finding: no('NothingToPublish', message), isPending: false };
  }
  if (facts.mistake !== undefined) return { action: 'keep', finding: facts.mistake, isPending: false };
  const missing = lacking(wanted);
  // What is published already is kept as it should be; what is not there yet stays away until somebody can answer it.
  if (missing.length > 0)
    return { action: 'keep', hash: before, finding: waitingFinding(facts, wanted, missing), isPending: true };
  if (isTagged) {
    const message = `RevisionTag ${facts.name} stands in for this InjectorConfig, which has no webhook of its own; configuration ${wanted} is served to whom a tag sends here`;
    return { action: 'leave', hash: wanted, finding: yes('Tagged', message), isPending: false };
  }
  if (!facts.isLive && foreign !== undefined) {
    const message = `${foreign}, so nothing is published; remove the other injector or its webhook, give this one its own spec.webhook.keys, or set spec.webhook.takeover`;
    return { action: 'leave', finding: no('ForeignOverlap', message), isPending: false };
  }
  const finding = yes('Published', `the webhook names configuration ${wanted}`);
  return { action: 'apply', hash: wanted, finding, isPending: false };
}

/** Webhooks are to go with an owner that is not there. */
export const ownerMissing: Finding = no(
  'OwnerMissing',
  'the owner of the webhook configurations (--owner) does not exist; nothing is published without it',
);

/** A replica that is live and has not loaded a configuration for so long is named with what to do. Milliseconds. */
const longWaitMs = 300_000;

/** What to say while replicas cannot answer the configuration that is wanted. */
function waitingFinding(facts: WebhookFacts, wanted: string, missing: readonly string[]): Finding | undefined {
  const { name, before, compiled, isHeld, isSilent } = facts;
  if (compiled === undefined && !isHeld(wanted)) {
    const problem = `configuration ${wanted}, which is published, is lost: no ConfigMap ${hashedConfigMapName(name, wanted)} holds it and it is not served by ${missing.join(', ')}; correct the configuration of InjectorConfig ${name} or restore the ConfigMap`;
    return no('ConfigurationLost', problem);
  }
  if (wanted !== before) {
    const message = `configuration ${wanted} is not served yet by ${missing.join(', ')}`;
    const advice = `this has lasted for more than ${longWaitMs / 60_000} minutes: see the log of that pod, or delete the pod, and its Lease (${replicaLeaseName('<pod>')}) holds up nothing after a minute`;
    return no('WaitingForReplicas', facts.waited(wanted) < longWaitMs ? message : `${message}; ${advice}`);
  }
  // After a restart the replica is about to load what is published and held: nothing has changed that a condition should tell.
  if (!isSilent) return undefined;
  const message = `the webhook names configuration ${wanted}, but no replica is running to answer for it: start the webhook's replicas, or set spec.paused to let pods start without this injector`;
  return no('NoReplica', message);
}
