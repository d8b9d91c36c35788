import { isDeepStrictEqual } from 'node:util';
import { revisionOf, type InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import { namesThere } from '../../explain/nearest-name.ts';
import type { RolloutRoute } from '../../routing/route.ts';
import type { RolloutPass } from '../../rollout/rollout.ts';
import { type Finding, no, yes } from '../controller/revision-status.ts';
import type { PublishedRevision } from '../webhooks/revision-facts.ts';
import type { TagTargets } from './tag-targets.ts';

/** The inputs to `planTag`. */
export interface TagSituation {
  readonly tag: RevisionTag;
  /** The InjectorConfig of the revision that the spec names. */
  readonly desired: InjectorConfig | undefined;
  /** The InjectorConfig to which the tag points now. */
  readonly current: InjectorConfig | undefined;
  /** Returns what webhooks to an InjectorConfig need; see `KnownRevisions.published`. */
  readonly published: (name: string) => PublishedRevision | undefined;
  /** Returns the live replicas that do not serve a configuration yet. */
  readonly lacking: (name: string, hash: string) => readonly string[];
  /** The existing revisions, for messages. */
  readonly revisions: readonly string[];
}

/** The target of a tag, and whether the tag can point to the revision of its spec. */
export interface TagPlan {
  /** The content of the webhook; undefined means that the live webhook stays unchanged. */
  readonly target:
    | {
        readonly config: InjectorConfig;
        readonly published: PublishedRevision;
        /** The rollout; if absent, all workloads use `published`. */
        readonly rollout?: RolloutRoute | undefined;
      }
    | undefined;
  /** The condition `RevisionReady`; undefined means that the condition stays unchanged. */
  readonly revisionReady: Finding | undefined;
  /** The next state of the rollout, which is written before the matching path. */
  readonly rollout?: RolloutPass;
}

/**
 * Plans the target of a tag without a canary strategy. The tag moves only to a ready revision. Its
 * current revision may become unready: pods then get the last good configuration.
 */
export function planTag(situation: TagSituation): TagPlan {
  const { tag, desired, current, published } = situation;
  const isCurrent = desired !== undefined && current?.metadata.name === desired.metadata.name;
  const obstacle = obstacleOf(situation);
  const staying = current === undefined || current.spec.paused ? undefined : published(current.metadata.name);
  const stay = staying === undefined || current === undefined ? undefined : { config: current, published: staying };
  if (obstacle !== undefined) return { target: stay, revisionReady: obstacle };
  if (desired === undefined) return { target: stay, revisionReady: undefined };
  const served = published(desired.metadata.name);
  const notReady = whyNotReady(desired);
  if (isCurrent) return { target: stay, revisionReady: served === undefined ? notReady : (notReady ?? ready(tag)) };
  if (notReady !== undefined) return { target: stay, revisionReady: notReady };
  // The status says Ready, but this process has not reconciled the InjectorConfig yet.
  if (served === undefined) return { target: stay, revisionReady: undefined };
  const lacking = situation.lacking(desired.metadata.name, served.hash);
  if (lacking.length > 0) {
    const message = `configuration ${served.hash} of InjectorConfig ${desired.metadata.name} is not served yet by ${lacking.join(', ')}`;
    return { target: stay, revisionReady: no('RevisionNotReady', message) };
  }
  return { target: { config: desired, published: served }, revisionReady: ready(tag) };
}

/** Returns what a user must change before the tag can point to the revision of its spec. */
export function obstacleOf({
  tag,
  desired,
  current,
  revisions,
}: Pick<TagSituation, 'tag' | 'desired' | 'current' | 'revisions'>): Finding | undefined {
  const { revision } = tag.spec;
  const field = `spec.revision ${revision}`;
  if (desired === undefined) {
    const existing = namesThere(revision, revisions);
    const message = `${field}: no InjectorConfig of operator class ${tag.spec.operatorClass} has this revision (${existing}); create it, or name another one`;
    return no('UnknownRevision', message);
  }
  const named = `InjectorConfig ${desired.metadata.name}`;
  if (desired.spec.webhook.selection === 'Custom') {
    const message = `${field}: ${named} has spec.webhook.selection Custom, so neither a label nor a tag can select it; name another revision`;
    return no('CustomSelection', message);
  }
  if (current !== undefined && !isDeepStrictEqual(current.spec.webhook.keys, desired.spec.webhook.keys)) {
    const message = `${field}: ${named} has other spec.webhook.keys than InjectorConfig ${current.metadata.name}, to which the tag points now, so the labels of namespaces and pods that follow the tag would have no effect; use another tag`;
    return no('OtherFamily', message);
  }
  if (desired.spec.paused)
    return no('RevisionPaused', `${field}: ${named} is paused (spec.paused); unset it, or name another revision`);
  return undefined;
}

/** Returns why an InjectorConfig's condition `Ready` is not True; undefined if it is True. */
export function whyNotReady({ metadata, status }: InjectorConfig): Finding | undefined {
  const condition = status?.conditions?.find(({ type }) => type === 'Ready');
  if (condition?.status === 'True') return undefined;
  const why = condition === undefined ? 'it has no status yet' : `${condition.reason}: ${condition.message}`;
  return no('RevisionNotReady', `InjectorConfig ${metadata.name} is not ready (${why})`);
}

/** Reports whether a tag that points to nothing waits for its first revision to be Ready. */
export function isWaiting(name: string, targets: TagTargets): boolean {
  const tag = targets.tags().find(({ metadata }) => metadata.name === name);
  const desired = tag && targets.desired(tag);
  return targets.current(name) === undefined && (desired === undefined || whyNotReady(desired) !== undefined);
}

function ready({ spec }: RevisionTag): Finding {
  return yes('RevisionReady', `revision ${spec.revision} is ready`);
}

/** Returns the sorted revisions of the InjectorConfigs that are not being deleted. */
export function revisionsOf(configs: readonly InjectorConfig[]): string[] {
  const staying = configs.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return [...new Set(staying.map(revisionOf))].sort();
}
