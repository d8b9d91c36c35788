import type { InjectorConfig } from '../api/injector-config/injector-config.ts';
import type { Mistake } from '../api/mistake.ts';
import type { RevisionTag } from '../api/revision-tag/revision-tag.ts';
import {
  areOverlapping,
  type ClaimingObjects,
  claimOfConfig,
  claimOfTag,
  nameOf,
  type PodClaim,
  podClaims,
  rivalsOf,
} from './pod-claims.ts';

/**
 * Returns the overlaps that a change of an InjectorConfig adds. Does not return overlaps that exist
 * already, so that a user can still edit the object that yields.
 * @param before the stored object; undefined if the change creates the object
 */
export function configOverlaps(
  config: InjectorConfig,
  before: InjectorConfig | undefined,
  claiming: ClaimingObjects,
): Mistake[] {
  const others = rivalsOf(config, claiming);
  const isCustom = config.spec.webhook.selection === 'Custom';
  const field = isCustom ? 'spec.webhook.selection' : 'spec.revision';
  return newOverlaps(claimOfConfig(config), before && claimOfConfig(before), others).map((other) => ({
    field,
    message: `${field}: ${nameOf(other)} selects the same pods${explanation(other)}; ${
      other.isCustom || isCustom
        ? 'give one of the two separate spec.webhook.keys, or selectors that exclude each other'
        : 'choose another revision, or delete the other object first'
    }`,
  }));
}

/**
 * Returns the overlaps that a change of a RevisionTag adds.
 * @param before the stored object; undefined if the change creates the object
 * @param config the target of the tag
 */
export function tagOverlaps(
  tag: RevisionTag,
  before: RevisionTag | undefined,
  config: InjectorConfig,
  claiming: ClaimingObjects,
): Mistake[] {
  const others = claiming.tags.filter(({ metadata }) => metadata.name !== tag.metadata.name);
  const claims = podClaims({ ...claiming, tags: [...others, tag] });
  return newOverlaps(claimOfTag(tag, config), before && claimOfTag(before, config), claims).map((other) => ({
    field: 'metadata.name',
    message: `metadata.name: ${nameOf(other)} selects the same pods${explanation(other)}; ${
      other.isCustom ? 'change its selectors so that they exclude the pods of the tag' : 'give the tag another name'
    }`,
  }));
}

function newOverlaps(claim: PodClaim, before: PodClaim | undefined, others: readonly PodClaim[]): PodClaim[] {
  return others.filter(
    (other) => areOverlapping(claim, other) && (before === undefined || !areOverlapping(before, other)),
  );
}

function explanation({ isCustom, revision, kind }: PodClaim): string {
  if (isCustom) return ' with its own selectors';
  return kind === 'RevisionTag' ? `, its name is the revision ${revision}` : `, its revision is ${revision}`;
}
