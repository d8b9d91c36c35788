import { isDeepStrictEqual } from 'node:util';
import { ConfigurationError } from '../../api/errors.ts';
import type { InjectorConfig } from '../../api/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes.ts';
import type { Mistake } from '../../api/mistake.ts';
import { parseInjectorConfig } from '../../api/parse-injector-config.ts';
import { parseRevisionTag } from '../../api/parse-revision-tag.ts';
import type { RevisionTag } from '../../api/revision-tag.ts';
import {
  areOverlapping,
  claimantOfConfig,
  claimantOfTag,
  claimants,
  isTagged,
  nameOf,
  type Claimant,
} from '../../manifests/claims.ts';
import { haveOneCertificate, hostTaken, webhookHost } from '../../manifests/webhook-host.ts';
import { obstacleOf, readinessOf, revisionsOf } from '../../operator/tags/tag-plan.ts';
import type { TagTargets } from '../../operator/tags/tag-targets.ts';

/**
 * Who would take the same pods as an InjectorConfig that is about to be stored. A change is refused only for what it brings about: who is the loser of
 * an overlap already may be edited.
 */
export function configOverlaps(config: InjectorConfig, old: unknown, targets: TagTargets): Mistake[] {
  const { configs, tags, leadsTo } = targets.claims();
  // One that tag `default` stands in for does not compete with it.
  const rivals = isTagged(config, tags) ? tags.filter(({ metadata }) => metadata.name !== config.metadata.name) : tags;
  const others = claimants(configs, rivals, leadsTo);
  const before = readOrNothing(() => parseInjectorConfig(old));
  const field = config.spec.webhook.selection === 'Custom' ? 'spec.webhook.selection' : 'spec.revision';
  return newOverlaps(claimantOfConfig(config), before && claimantOfConfig(before), others).map((other) => ({
    field,
    message: `${field}: ${nameOf(other)} takes the same pods${answersTo(other)}; ${
      other.isCustom || config.spec.webhook.selection === 'Custom'
        ? 'give one of the two its own spec.webhook.keys, or selectors that exclude each other'
        : 'choose another revision, or delete that one first'
    }`,
  }));
}

/**
 * Who has the host of `spec.webhook.url` already, with a certificate of another authority; see `operator/host-claims.ts`. A change is refused only for what
 * it brings about.
 */
export function hostMistakes(config: InjectorConfig, old: unknown, targets: TagTargets): Mistake[] {
  const before = readOrNothing(() => parseInjectorConfig(old));
  const host = webhookHost(config);
  if (host === undefined || (before !== undefined && isServedAsBefore(config, before))) return [];
  return targets
    .configs()
    .filter(({ metadata }) => metadata.name !== config.metadata.name && metadata.deletionTimestamp === undefined)
    .filter((other) => webhookHost(other) === host && !haveOneCertificate(other, config))
    .map((other) => ({ field: 'spec.webhook.url', message: hostTaken(host, other) }));
}

/** The same host by the same certificate. */
function isServedAsBefore(config: InjectorConfig, before: InjectorConfig): boolean {
  const secretOf = ({ spec: { certificate } }: InjectorConfig): string | undefined => certificate.secretRef?.name;
  return webhookHost(config) === webhookHost(before) && secretOf(config) === secretOf(before);
}

/**
 * What keeps a RevisionTag that is about to be stored from leading where its spec says: an unknown revision, one that is not ready, and who would take the
 * same pods. A tag whose spec does not change is not asked again.
 */
export function tagMistakes(tag: RevisionTag, old: unknown, targets: TagTargets): Mistake[] {
  const before = readOrNothing(() => parseRevisionTag(old));
  if (before !== undefined && isDeepStrictEqual(before.spec, tag.spec)) return [];
  const wanted = targets.wanted(tag);
  const current = targets.current(tag.metadata.name);
  const isMoved = before?.spec.revision !== tag.spec.revision;
  const obstacle = isMoved
    ? obstacleOf({ tag, wanted, current, revisions: revisionsOf(targets.configs()) })
    : undefined;
  const field = 'spec.revision';
  if (obstacle !== undefined) return [{ field, message: obstacle.message }];
  const unready = isMoved && wanted !== undefined && !isBeingEdited(wanted) ? readinessOf(wanted) : undefined;
  if (unready !== undefined) {
    const advice = 'wait until it is (its conditions say what is missing), or name another revision';
    return [{ field, message: `${field} ${tag.spec.revision}: ${unready.message}; ${advice}` }];
  }
  const { configs, tags, leadsTo } = targets.claims();
  const config = wanted ?? current;
  if (config === undefined) return [];
  const everybody = claimants(
    configs,
    [...tags.filter(({ metadata }) => metadata.name !== tag.metadata.name), tag],
    leadsTo,
  );
  const wasClaim = before && claimantOfTag(before, config);
  return newOverlaps(claimantOfTag(tag, config), wasClaim, everybody).map((other) => ({
    field: 'metadata.name',
    message: `metadata.name: ${nameOf(other)} takes the same pods${answersTo(other)}; ${
      other.isCustom ? 'let its selectors exclude what follows the tag' : 'give the tag another name'
    }`,
  }));
}

/** For the moment in which replicas load an edit, what was published before is served: a tag may be moved there, and waits with it. */
function isBeingEdited({ status }: InjectorConfig): boolean {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.reason === 'WaitingForReplicas' && status?.config?.hash !== undefined;
}

function newOverlaps(claimant: Claimant, before: Claimant | undefined, others: readonly Claimant[]): Claimant[] {
  return others.filter(
    (other) => areOverlapping(claimant, other) && (before === undefined || !areOverlapping(before, other)),
  );
}

function answersTo({ isCustom, revision, kind }: Claimant): string {
  if (isCustom) return ' by selectors of its own';
  return kind === 'RevisionTag' ? `, a tag that answers to revision ${revision}` : `, its revision is ${revision}`;
}

function readOrNothing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof ConfigurationError) return undefined;
    throw error;
  }
}

/** The RevisionTags that lead to an InjectorConfig, or are to: it is in use by them. */
export function tagsLeadingTo(object: KubernetesObject, targets: TagTargets): string[] {
  return object.kind === 'InjectorConfig' ? targets.tagsOf(object) : [];
}
