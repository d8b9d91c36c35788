import type { InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import {
  areOverlapping,
  podClaims,
  claimOfTag,
  winningClaim,
  nameOf,
  type PodClaim,
} from '../../selection/pod-claims.ts';
import { foreignOverlap } from '../../selection/foreign-overlap.ts';
import { configOfTag, type Installation } from '../usage/installation.ts';

/** Who else would take pods that the tag would take. */
export interface TagRivals {
  /** An InjectorConfig whose revision has the tag's name: labels could not tell them apart. */
  readonly namesake: PodClaim | undefined;
  /** What a person should know before the tag is set. */
  readonly concerns: readonly string[];
}

/**
 * Looks for overlaps as the operator will.
 * @param tag as it would be; without creationTimestamp when it is new, so that everybody is older
 * @param config where it would lead
 */
export function tagRivals(tag: RevisionTag, config: InjectorConfig, installation: Installation): TagRivals {
  const { creationTimestamp = '9999' } = tag.metadata;
  const mine = claimOfTag({ ...tag, metadata: { ...tag.metadata, creationTimestamp } }, config);
  const tags = [...installation.tags.filter(({ metadata }) => metadata.name !== tag.metadata.name), tag];
  const targetOf = (each: RevisionTag): InjectorConfig | undefined => configOfTag(installation, each);
  const claims = podClaims({ configs: installation.configs, tags, targetOf });
  const rivals = claims.filter((other) => areOverlapping(mine, other));
  const namesake = rivals.find(({ kind, isCustom }) => kind === 'InjectorConfig' && !isCustom);
  const winner = winningClaim(mine, rivals);
  const foreign = foreignConcern(mine, config, installation);
  return { namesake, concerns: [...rivals.map((rival) => concern(rival, winner)), ...foreign] };
}

function concern(rival: PodClaim, winner: PodClaim | undefined): string {
  const loses = winner === undefined ? `${nameOf(rival)} would lose its webhook` : 'the tag would publish nothing';
  return `the tag and ${nameOf(rival)} would take the same pods: ${loses}, since the older one stays (Overlap)`;
}

/** Somebody else's injector. What is in force already is not withdrawn because of it. */
function foreignConcern(mine: PodClaim, { spec }: InjectorConfig, { configurations, tags }: Installation): string[] {
  const isInForce = tags.some(({ metadata, status }) => metadata.name === mine.name && status?.hash !== undefined);
  const foreign = spec.webhook.takeover || isInForce ? undefined : foreignOverlap(mine, configurations);
  if (foreign === undefined) return [];
  return [
    `MutatingWebhookConfiguration ${foreign.configuration} (webhook ${foreign.webhook}) of another injector takes the same pods by the same labels: the tag would publish nothing while it is there, unless spec.webhook.takeover of the InjectorConfig is set (ForeignOverlap)`,
  ];
}
