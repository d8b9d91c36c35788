import { isDeepStrictEqual } from 'node:util';
import { revisionOf, type InjectorConfig } from '../../api/injector-config/injector-config.ts';
import { defaultRevision, type RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import { nameOf } from '../../selection/pod-claims.ts';
import { configOfRevision, configOfTag, type Installation } from '../usage/installation.ts';
import { readinessOf } from '../usage/readiness.ts';
import { tagManifest, type TagRequest } from './tag-manifest.ts';
import { tagRivals } from './tag-rivals.ts';

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
  const { namesake, concerns } = tagRivals(
    before === undefined ? tag : { ...tag, metadata: before.metadata },
    config,
    installation,
  );
  if (name !== defaultRevision && namesake !== undefined) {
    return refuse(
      `tag ${name}: ${nameOf(namesake)} has the revision ${name}: what follows ${name} could mean either; name the tag otherwise`,
    );
  }
  if (before !== undefined && isSame(before, tag)) return { action: 'nothing', tag: before };
  if (before !== undefined && !overwrite) {
    return refuse(`tag ${name} exists and leads to revision ${before.spec.revision}; --overwrite moves it`);
  }
  if (before !== undefined && before.spec.operatorClass !== config.spec.operatorClass) {
    return refuse(
      `tag ${name} is looked after by operator class ${before.spec.operatorClass}, InjectorConfig ${config.metadata.name} by ${config.spec.operatorClass}: remove the tag and set it again`,
    );
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
  if (tag !== undefined) {
    return `--revision ${revision}: this is a tag, not a revision; it leads to revision ${tag.spec.revision}`;
  }
  const known = configs.map(revisionOf).sort();
  const there = known.length === 0 ? 'there is no InjectorConfig' : `there are ${known.join(', ')}`;
  return `--revision ${revision}: no InjectorConfig has this revision; ${there}`;
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
    return `InjectorConfig ${name} has selectors of its own (selection: Custom), which no tag changes`;
  const now = before && configOfTag(installation, before);
  if (now === undefined || isDeepStrictEqual(now.spec.webhook.keys, keys)) return undefined;
  return `InjectorConfig ${name} goes by other labels (spec.webhook.keys) than ${now.metadata.name}: remove the tag and set it again`;
}

function whyUnready(config: InjectorConfig): string | undefined {
  const named = `InjectorConfig ${config.metadata.name}`;
  if (config.spec.paused) return `${named} is paused (spec.paused); \`injector enable\` resumes it`;
  const { ready, reason, message } = readinessOf(config);
  return ready ? undefined : `${named} is not ready: ${reason}: ${message}`;
}
