import { isDeepStrictEqual } from 'node:util';
import { revisionOf, type InjectorConfig } from '../../api/injector-config/injector-config.ts';
import type { RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import { namesThere } from '../../explain/nearest-name.ts';
import type { RolloutRoute } from '../../routing/route.ts';
import type { RolloutPass } from '../../rollout/rollout.ts';
import { type Finding, no, yes } from '../controller/revision-status.ts';
import type { PublishedRevision } from '../webhooks/revision-facts.ts';

/** What is known when a tag is looked at. */
export interface TagSituation {
  readonly tag: RevisionTag;
  /** The InjectorConfig of the revision that the spec names. */
  readonly wanted: InjectorConfig | undefined;
  /** Where the tag leads now. */
  readonly current: InjectorConfig | undefined;
  /** What an InjectorConfig serves; undefined while it serves nothing, or has not been looked at. */
  readonly published: (name: string) => PublishedRevision | undefined;
  /** Replicas that could not answer a configuration yet. */
  readonly lacking: (name: string, hash: string) => readonly string[];
  /** The revisions that there are, for messages. */
  readonly revisions: readonly string[];
}

/** Where a tag should lead, and why not where its spec says. */
export interface TagPlan {
  /** Undefined: nowhere that could be written now; what is in force stays. */
  readonly target:
    | {
        readonly config: InjectorConfig;
        readonly published: PublishedRevision;
        /** Absent: everybody is led there. */
        readonly rollout?: RolloutRoute | undefined;
      }
    | undefined;
  /** Whether the revision of the spec can be led to; undefined: it is not known yet, so nothing is to be said. */
  readonly revisionReady: Finding | undefined;
  /** How the rollout goes on; its state is written before the path that it stands for. */
  readonly rollout?: RolloutPass;
}

/**
 * Where a tag should lead. A move is made only to what is ready to take it; until then the tag stays where it is, and follows what is published there.
 * Where it leads already it stays, ready or not: pods get the last good configuration.
 */
export function planTag(situation: TagSituation): TagPlan {
  const { tag, wanted, current, published } = situation;
  const isThere = wanted !== undefined && current?.metadata.name === wanted.metadata.name;
  const obstacle = obstacleOf(situation);
  const staying = current === undefined || current.spec.paused ? undefined : published(current.metadata.name);
  const stay = staying === undefined || current === undefined ? undefined : { config: current, published: staying };
  if (obstacle !== undefined) return { target: stay, revisionReady: obstacle };
  if (wanted === undefined) return { target: stay, revisionReady: undefined };
  const there = published(wanted.metadata.name);
  const notReady = readinessOf(wanted);
  if (isThere) return { target: stay, revisionReady: there === undefined ? notReady : (notReady ?? ready(tag)) };
  if (notReady !== undefined) return { target: stay, revisionReady: notReady };
  // Its status says that it is ready, but this process has not looked at it yet: that comes in a moment.
  if (there === undefined) return { target: stay, revisionReady: undefined };
  const lacking = situation.lacking(wanted.metadata.name, there.hash);
  if (lacking.length > 0) {
    const message = `configuration ${there.hash} of InjectorConfig ${wanted.metadata.name} is not served yet by ${lacking.join(', ')}`;
    return { target: stay, revisionReady: no('RevisionNotReady', message) };
  }
  return { target: { config: wanted, published: there }, revisionReady: ready(tag) };
}

/** What has to be changed by somebody before the tag can lead where its spec says. */
export function obstacleOf({
  tag,
  wanted,
  current,
  revisions,
}: Pick<TagSituation, 'tag' | 'wanted' | 'current' | 'revisions'>): Finding | undefined {
  const { revision } = tag.spec;
  const field = `spec.revision ${revision}`;
  if (wanted === undefined) {
    const there = namesThere(revision, revisions);
    const message = `${field}: no InjectorConfig of operator class ${tag.spec.operatorClass} has this revision (${there}); create it, or name another one`;
    return no('UnknownRevision', message);
  }
  const named = `InjectorConfig ${wanted.metadata.name}`;
  if (wanted.spec.paused)
    return no('RevisionPaused', `${field}: ${named} is paused (spec.paused); unset it, or name another revision`);
  if (wanted.spec.webhook.selection === 'Custom') {
    const message = `${field}: ${named} has spec.webhook.selection Custom, so no label leads to it and a tag cannot either; name another revision`;
    return no('CustomSelection', message);
  }
  if (current !== undefined && !isDeepStrictEqual(current.spec.webhook.keys, wanted.spec.webhook.keys)) {
    const message = `${field}: ${named} has other spec.webhook.keys than InjectorConfig ${current.metadata.name}, where the tag leads now: the labels of those who follow it would mean nothing; use another tag`;
    return no('OtherFamily', message);
  }
  return undefined;
}

/** Why an InjectorConfig is not ready, by its own condition; undefined when it is. */
export function readinessOf({ metadata, status }: InjectorConfig): Finding | undefined {
  const condition = status?.conditions?.find(({ type }) => type === 'Ready');
  if (condition?.status === 'True') return undefined;
  const why = condition === undefined ? 'it has no status yet' : `${condition.reason}: ${condition.message}`;
  return no('RevisionNotReady', `InjectorConfig ${metadata.name} is not ready (${why})`);
}

function ready({ spec }: RevisionTag): Finding {
  return yes('RevisionReady', `revision ${spec.revision} is ready`);
}

/** The revisions among InjectorConfigs to which a tag could lead, in order: not of those that are on their way out. */
export function revisionsOf(configs: readonly InjectorConfig[]): string[] {
  const staying = configs.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return [...new Set(staying.map(revisionOf))].sort();
}
