import type { InjectorConfig } from '../api/injector-config.ts';
import type { RevisionTag } from '../api/revision-tag.ts';
import { claimants, claimantOfConfig, claimWinner, isTagged, type Claimant } from '../manifests/claims.ts';

/** Everybody who wants pods, as far as it can be read. */
export interface ClaimingObjects {
  readonly configs: readonly InjectorConfig[];
  readonly tags: readonly RevisionTag[];
  /** The InjectorConfig that a tag leads to, or is to lead to. */
  readonly leadsTo: (tag: RevisionTag) => InjectorConfig | undefined;
}

/** To whom an InjectorConfig must yield, if anybody: of those that would take the same pods the oldest stays. */
export function configWinner(
  config: InjectorConfig,
  { configs, tags, leadsTo }: ClaimingObjects,
): Claimant | undefined {
  // One that a tag stands in for yields to whomever it would yield to without the tag, and never to the tag itself.
  const others = isTagged(config, tags) ? tags.filter(({ metadata }) => metadata.name !== config.metadata.name) : tags;
  return claimWinner(claimantOfConfig(config), claimants(configs, others, leadsTo));
}

/** To whom a tag must yield, if anybody; nobody while it leads nowhere. */
export function tagWinner(tag: RevisionTag, { configs, tags, leadsTo }: ClaimingObjects): Claimant | undefined {
  const everybody = claimants(configs, tags, leadsTo);
  const own = everybody.find(({ kind, name }) => kind === 'RevisionTag' && name === tag.metadata.name);
  return own && claimWinner(own, everybody);
}
