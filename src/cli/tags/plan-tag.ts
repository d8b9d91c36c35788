import { isDeepStrictEqual } from 'node:util';
import { revisionOf, type InjectorConfig } from '../../api/injector-config/injector-config.ts';
import { defaultRevision, type RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import { namesThere } from '../../explain/nearest-name.ts';
import { foreignOverlap } from '../../selection/foreign-overlap.ts';
import { areOverlapping, claimOfTag, nameOf, podClaims, winningClaim } from '../../selection/pod-claims.ts';
import type { PodClaim } from '../../selection/pod-claims.ts';
import { configOfRevision, configOfTag, type Installation } from '../usage/installation.ts';
import { readinessOf } from '../usage/readiness.ts';
import { formatStanding, standingOf } from '../usage/tag-report.ts';
import { afterRollback } from '../rollout/rollout-standing.ts';
import { tagManifest, type TagRequest } from './tag-manifest.ts';

/** What `tag set` would do, told before anything is touched. */
export type TagPlan =
  | { readonly action: 'refuse'; readonly message: string }
  | { readonly action: 'nothing'; readonly tag: RevisionTag }
  | {
      readonly action: 'create' | 'move';
      readonly tag: RevisionTag;
      readonly config: InjectorConfig;
      /** Where it leads before; undefined for a new tag. */
      readonly before: RevisionTag | undefined;
      /** What a person should know and agree to first. */
      readonly concerns: readonly string[];
    };

/** Decides what a request comes to, with Istio's refusals, from what is on the cluster. */
export function planTag(request: TagRequest, overwrite: boolean, installation: Installation): TagPlan {
  const { name, revision } = request;
  const before = installation.tags.find(({ metadata }) => metadata.name === name);
  const config = configOfRevision(installation, revision, before);
  if (config === undefined) return refuse(unknownRevision(revision, installation));
  const tag = tagManifest(request, config.spec.operatorClass, before);
  const written = before === undefined ? tag : { ...tag, metadata: before.metadata };
  const { namesake, concerns } = tagRivals(written, config, installation);
  if (name !== defaultRevision && namesake !== undefined) {
    const problem = `tag ${name}: ${nameOf(namesake)} has the revision ${name}: what follows ${name} could mean either; name the tag otherwise`;
    return refuse(problem);
  }
  if (before !== undefined && isSame(before, tag)) {
    const next = afterRollback(before);
    if (next === undefined) return { action: 'nothing', tag: before };
    return refuse(`tag ${name} asks for ${revision} already: ${before.status?.rollout?.message ?? ''}; ${next}`);
  }
  if (before !== undefined && !overwrite) {
    const problem = `tag ${name} exists and leads to revision ${formatStanding(standingOf(before))}; --overwrite moves it`;
    return refuse(problem);
  }
  if (before !== undefined && before.spec.operatorClass !== config.spec.operatorClass) {
    const problem = `tag ${name} is looked after by operator class ${before.spec.operatorClass}, InjectorConfig ${config.metadata.name} by ${config.spec.operatorClass}: remove the tag and set it again`;
    return refuse(problem);
  }
  const stranger = whyOfOtherKind(config, before, installation);
  if (stranger !== undefined) return refuse(`--revision ${revision}: ${stranger}`);
  const unready = whyUnready(config);
  if (unready !== undefined) return refuse(`--revision ${revision}: ${unready}`);
  return { action: before === undefined ? 'create' : 'move', tag, config, before, concerns };
}

function refuse(message: string): TagPlan {
  return { action: 'refuse', message };
}

function unknownRevision(revision: string, { configs, tags }: Installation): string {
  const tag = tags.find(({ metadata }) => metadata.name === revision);
  if (tag !== undefined)
    return `--revision ${revision}: this is a tag, not a revision; it leads to revision ${formatStanding(standingOf(tag))}; name a revision`;
  return `--revision ${revision}: no InjectorConfig has this revision; ${namesThere(revision, configs.map(revisionOf))}`;
}

function isSame(before: RevisionTag, { spec }: RevisionTag): boolean {
  const { revision, enableNamespacesByDefault } = before.spec;
  return revision === spec.revision && enableNamespacesByDefault === spec.enableNamespacesByDefault;
}

/** What the operator would not publish either. */
function whyOfOtherKind(
  config: InjectorConfig,
  before: RevisionTag | undefined,
  installation: Installation,
): string | undefined {
  const { name } = config.metadata;
  const { selection, keys } = config.spec.webhook;
  if (selection === 'Custom')
    return `InjectorConfig ${name} has selectors of its own (selection: Custom), which no tag changes; name another revision`;
  const now = before && configOfTag(installation, before);
  if (now === undefined || isDeepStrictEqual(now.spec.webhook.keys, keys)) return undefined;
  return `InjectorConfig ${name} goes by other labels (spec.webhook.keys) than ${now.metadata.name}: remove the tag and set it again`;
}

function whyUnready(config: InjectorConfig): string | undefined {
  const named = `InjectorConfig ${config.metadata.name}`;
  if (config.spec.paused) return `${named} is paused (spec.paused); \`injector enable\` resumes it`;
  const { ready, reason, message } = readinessOf(config);
  return ready ? undefined : `${named} is not ready: ${reason}: ${message}; set the tag when it is`;
}

/**
 * Who else would take pods that the tag would take, as the operator will find.
 * @param tag as it would be; without creationTimestamp when it is new, so that everybody is older
 * @param config where it would lead
 * @returns an InjectorConfig whose revision has the tag's name, so that labels could not tell them apart; and what a person should know before
 */
function tagRivals(
  tag: RevisionTag,
  config: InjectorConfig,
  installation: Installation,
): { namesake: PodClaim | undefined; concerns: string[] } {
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
