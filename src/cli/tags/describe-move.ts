import type { RevisionTag } from '../../api/revision-tag.ts';
import { plural } from '../report/pod-counts.ts';
import { restartLine } from '../rollout/restart-lines.ts';
import { rolloutUnderWay } from '../rollout/rollout-standing.ts';

/** Whether a tag gets to a revision in steps: it has a strategy that says so, and leads somewhere else now. */
export function beginsRollout({ spec, status }: RevisionTag, revision: string): boolean {
  const stable = status?.rollout?.stable.revision ?? status?.stableRevision;
  return spec.strategy?.canary !== undefined && stable !== undefined && stable !== revision;
}

/** What a write of the tag has come to. */
export function describeMove(
  { spec: { revision } }: RevisionTag,
  before: RevisionTag | undefined,
  isRollout: boolean,
): string {
  if (before === undefined) return `created, leads to revision ${revision}`;
  const underWay = rolloutUnderWay(before);
  if (underWay?.canary.revision === revision) return `changed; the rollout to revision ${revision} goes on`;
  const ended = underWay === undefined ? '' : `the rollout to revision ${underWay.canary.revision} ends; `;
  if (!isRollout) return `${ended}moved from revision ${before.spec.revision}, leads to revision ${revision}`;
  const { stableRevision = '?', rollout } = before.status ?? {};
  const steps = plural(before.spec.strategy?.canary?.steps.length ?? 0, 'step');
  return `${ended}a rollout from revision ${rollout?.stable.revision ?? stableRevision} to ${revision} begins, in ${steps} (spec.strategy.canary)`;
}

/** Where a tag stands whose spec says already what was asked for. */
export function describeStanding(tag: RevisionTag): string {
  const { name } = tag.metadata;
  const { revision } = tag.spec;
  if (rolloutUnderWay(tag) !== undefined)
    return `the rollout to revision ${revision} is under way; \`injector tag watch ${name}\` shows it`;
  const rollout = tag.status?.rollout;
  const restarts = restartLine(tag);
  return rollout?.phase === 'RolledBack' && rollout.stable.revision !== revision
    ? `asks for revision ${revision} already, and ${rollout.message}; \`injector tag retry ${name}\` begins again`
    : `leads to revision ${revision} already${restarts === undefined ? '' : `; ${restarts}`}`;
}
