import { isDeepStrictEqual } from 'node:util';
import { commandLine } from '../../api/command-line.ts';
import { ConfigurationError } from '../../api/errors.ts';
import { apiVersion, revisionOf, type InjectorConfig } from '../../api/injector-config/injector-config.ts';
import { parseRevisionTag } from '../../api/revision-tag/parse-revision-tag.ts';
import { validateRevisionTag } from '../../api/revision-tag/revision-tag-rules.ts';
import { defaultRevision, type RevisionTag, revisionTagKind } from '../../api/revision-tag/revision-tag.ts';
import { namesThere } from '../../explain/nearest-name.ts';
import { foreignOverlap } from '../../selection/foreign-overlap.ts';
import { areOverlapping, claimOfTag, isTagged, nameOf, podClaims, winningClaim } from '../../selection/pod-claims.ts';
import type { PodClaim } from '../../selection/pod-claims.ts';
import { configOfRevision, configOfTag, type Installation } from '../usage/installation.ts';
import { readinessOf } from '../usage/operator-health.ts';
import { formatStanding, standingOf } from '../usage/tag-report.ts';
import { afterRollback } from '../rollout/rollout-standing.ts';
import { UsageError } from '../terminal.ts';

/** A request to create or move a tag. */
export interface TagRequest {
  readonly name: string;
  readonly revision: string;
  /** Undefined keeps the value of an existing tag, and means false for a new tag. */
  readonly autoInjectNamespaces: boolean | undefined;
}

/** The result of planning `tag set`, before any change. */
export type TagSetPlan =
  | { readonly action: 'refuse'; readonly message: string }
  | { readonly action: 'nothing'; readonly tag: RevisionTag }
  | {
      readonly action: 'create' | 'move';
      readonly tag: RevisionTag;
      readonly config: InjectorConfig;
      /** The existing tag; undefined for a new tag. */
      readonly before: RevisionTag | undefined;
      /** Consequences that the user must confirm. */
      readonly concerns: readonly string[];
    };

/** Plans a request, with the refusals of istioctl. @throws UsageError for an unknown revision */
export function planTagSet(request: TagRequest, overwrite: boolean, installation: Installation): TagSetPlan {
  const { name, revision } = request;
  const before = installation.tags.find(({ metadata }) => metadata.name === name);
  const config = configOfRevision(installation, revision, before);
  if (config === undefined) throw new UsageError(unknownRevision(revision, installation));
  const tag = tagManifest(request, config.spec.operatorClass, before);
  const written = before === undefined ? tag : { ...tag, metadata: before.metadata };
  const { namesake, concerns } = tagRivals(written, config, installation);
  if (name !== defaultRevision && namesake !== undefined) {
    const problem = `tag ${name}: ${nameOf(namesake)} has the revision ${name}, so labels with this value would be ambiguous; choose another name for the tag`;
    return refuse(problem);
  }
  if (before !== undefined && isSame(before, tag)) {
    const next = afterRollback(before);
    if (next === undefined) return { action: 'nothing', tag: before };
    return refuse(`tag ${name} already names revision ${revision}: ${before.status?.rollout?.message ?? ''}; ${next}`);
  }
  if (before !== undefined && !overwrite) {
    const problem = `tag ${name} exists and points to revision ${formatStanding(standingOf(before))}; use --overwrite to move it`;
    return refuse(problem);
  }
  if (before !== undefined && before.spec.operatorClass !== config.spec.operatorClass) {
    const problem = `tag ${name} belongs to operator class ${before.spec.operatorClass}, but InjectorConfig ${config.metadata.name} belongs to ${config.spec.operatorClass}: remove the tag and set it again`;
    return refuse(problem);
  }
  const incompatible = whyIncompatible(config, before && configOfTag(installation, before));
  if (incompatible !== undefined) return refuse(`--revision ${revision}: ${incompatible}`);
  const unready = whyUnready(config);
  if (unready !== undefined) return refuse(`--revision ${revision}: ${unready}`);
  return { action: before === undefined ? 'create' : 'move', tag, config, before, concerns };
}

function refuse(message: string): TagSetPlan {
  return { action: 'refuse', message };
}

function unknownRevision(revision: string, { configs, tags }: Installation): string {
  const tag = tags.find(({ metadata }) => metadata.name === revision);
  if (tag !== undefined)
    return `--revision ${revision}: this is a tag, not a revision; it points to revision ${formatStanding(standingOf(tag))}; name a revision`;
  return `--revision ${revision}: no InjectorConfig has this revision; ${namesThere(revision, configs.map(revisionOf))}`;
}

function isSame(before: RevisionTag, { spec }: RevisionTag): boolean {
  const { revision, enableNamespacesByDefault } = before.spec;
  return revision === spec.revision && enableNamespacesByDefault === spec.enableNamespacesByDefault;
}

/** Returns why the operator would not publish the tag. @param now the current target of the tag */
function whyIncompatible(config: InjectorConfig, now: InjectorConfig | undefined): string | undefined {
  const { name } = config.metadata;
  const { selection, keys } = config.spec.webhook;
  if (selection === 'Custom')
    return `InjectorConfig ${name} has custom selectors (selection: Custom), so a tag cannot point to it; name another revision`;
  if (now === undefined || isDeepStrictEqual(now.spec.webhook.keys, keys)) return undefined;
  return `InjectorConfig ${name} uses other labels (spec.webhook.keys) than InjectorConfig ${now.metadata.name}: remove the tag and set it again`;
}

function whyUnready(config: InjectorConfig): string | undefined {
  const named = `InjectorConfig ${config.metadata.name}`;
  if (config.spec.paused)
    return `${named} is paused (spec.paused); \`${commandLine`injector enable ${revisionOf(config)}`}\` resumes it`;
  const { ready, reason, message } = readinessOf(config);
  return ready ? undefined : `${named} is not ready: ${reason}: ${message}; set the tag when it is ready`;
}

/**
 * Finds the objects that overlap with the tag.
 * @param tag the desired tag; a new tag has no creationTimestamp, so that it is younger than all
 *   others
 * @param config the InjectorConfig that the tag points to
 * @returns an InjectorConfig whose revision has the name of the tag, and the consequences to
 *   confirm
 */
function tagRivals(tag: RevisionTag, config: InjectorConfig, installation: Installation) {
  const { creationTimestamp = '9999' } = tag.metadata;
  const mine = claimOfTag({ ...tag, metadata: { ...tag.metadata, creationTimestamp } }, config);
  const tags = [...installation.tags.filter(({ metadata }) => metadata.name !== tag.metadata.name), tag];
  const targetOf = (each: RevisionTag): InjectorConfig | undefined => configOfTag(installation, each);
  const claims = podClaims({ configs: installation.configs, tags, targetOf });
  const rivals = claims.filter((other) => areOverlapping(mine, other));
  const namesake = rivals.find(({ kind, isCustom }) => kind === 'InjectorConfig' && !isCustom);
  const winner = winningClaim(mine, rivals);
  const foreign = foreignConcern(mine, config, installation);
  const replaced = replacedConcern(tag, config, installation);
  return { namesake, concerns: [...replaced, ...rivals.map((rival) => concern(rival, winner)), ...foreign] };
}

/** Says that tag `default` replaces another InjectorConfig, unless the tag is published. */
function replacedConcern(tag: RevisionTag, target: InjectorConfig, { configs, tags }: Installation): string[] {
  const isPublished = tags.some(({ metadata, status }) => metadata.name === tag.metadata.name && status?.hash);
  const replaced = configs.find((config) => isTagged(config, [tag]));
  if (isPublished || replaced === undefined || replaced === target) return [];
  return [
    `the tag takes over the webhook of InjectorConfig ${replaced.metadata.name}: new pods that get its sidecar now get revision ${tag.spec.revision} instead, until \`${commandLine`injector tag remove ${tag.metadata.name}`}\``,
  ];
}

function concern(rival: PodClaim, winner: PodClaim | undefined): string {
  const loses = winner === undefined ? `${nameOf(rival)} would lose its webhook` : 'the tag would publish nothing';
  return `the tag and ${nameOf(rival)} would select the same pods: ${loses}, since the older object keeps its webhook (Overlap)`;
}

/** Returns the overlap with another product's webhook, unless the tag is already published. */
function foreignConcern(mine: PodClaim, { spec }: InjectorConfig, { configurations, tags }: Installation): string[] {
  const isPublished = tags.some(({ metadata, status }) => metadata.name === mine.name && status?.hash !== undefined);
  const foreign = spec.webhook.takeover || isPublished ? undefined : foreignOverlap(mine, configurations);
  if (foreign === undefined) return [];
  return [
    `MutatingWebhookConfiguration ${foreign.configuration} (webhook ${foreign.webhook}) of another injector selects the same pods by the same labels: the tag would publish nothing while it exists; to take over its pods, set spec.webhook.takeover of the InjectorConfig, and remove the other webhook after the tag is published (ForeignOverlap)`,
  ];
}

/**
 * Returns the RevisionTag for a request.
 * @param before the existing tag, whose other fields are kept
 * @throws ConfigurationError for an invalid name, or a field that is not allowed for this tag
 */
export function tagManifest(
  { name, revision, autoInjectNamespaces }: TagRequest,
  operatorClass?: string,
  before?: RevisionTag,
): RevisionTag {
  const enableNamespacesByDefault = autoInjectNamespaces ?? before?.spec.enableNamespacesByDefault ?? false;
  const spec = { revision, enableNamespacesByDefault, ...(operatorClass === undefined ? {} : { operatorClass }) };
  const tag = parseRevisionTag({ apiVersion, kind: revisionTagKind, metadata: { name }, spec });
  const [mistake] = validateRevisionTag(tag);
  if (mistake !== undefined) throw new ConfigurationError(mistake.field, `RevisionTag ${name}: ${mistake.message}`);
  return tag;
}

/** Returns the manifest without default values. */
export function briefTagManifest({ metadata: { name }, spec }: RevisionTag): object {
  const { revision, operatorClass, enableNamespacesByDefault } = spec;
  return {
    apiVersion,
    kind: revisionTagKind,
    metadata: { name },
    spec: {
      revision,
      ...(operatorClass === 'default' ? {} : { operatorClass }),
      ...(enableNamespacesByDefault ? { enableNamespacesByDefault } : {}),
    },
  };
}
