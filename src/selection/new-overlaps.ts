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
 * Who would take the same pods as an InjectorConfig that is about to be stored. A change is refused only for what it brings about: the loser of an
 * overlap that is there already may be edited.
 * @param before what is stored now; undefined for a new one
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
    message: `${field}: ${nameOf(other)} takes the same pods${answersTo(other)}; ${
      other.isCustom || isCustom
        ? 'give one of the two its own spec.webhook.keys, or selectors that exclude each other'
        : 'choose another revision, or delete that one first'
    }`,
  }));
}

/**
 * Who would take the same pods as a RevisionTag that is about to be stored.
 * @param before what is stored now; undefined for a new one
 * @param config where it would lead
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
    message: `metadata.name: ${nameOf(other)} takes the same pods${answersTo(other)}; ${
      other.isCustom ? 'let its selectors exclude what follows the tag' : 'give the tag another name'
    }`,
  }));
}

function newOverlaps(claim: PodClaim, before: PodClaim | undefined, others: readonly PodClaim[]): PodClaim[] {
  return others.filter(
    (other) => areOverlapping(claim, other) && (before === undefined || !areOverlapping(before, other)),
  );
}

function answersTo({ isCustom, revision, kind }: PodClaim): string {
  if (isCustom) return ' by selectors of its own';
  return kind === 'RevisionTag' ? `, a tag that answers to revision ${revision}` : `, its revision is ${revision}`;
}
