import type { RevisionTag } from '../../api/revision-tag.ts';
import type { RolloutVerb } from '../../api/rollout-action.ts';
import { isObserved, rolloutUnderWay } from './rollout-standing.ts';

/**
 * Why nothing would come of a request, by the status as it was read; undefined when something may. While the operator has not looked at the spec as
 * it is now, only it can tell.
 */
export function whyNotNow(tag: RevisionTag, verb: RolloutVerb): string | undefined {
  const { name } = tag.metadata;
  if (tag.spec.strategy?.canary === undefined) {
    return `tag ${name} moves at once, since it has no canary strategy (spec.strategy.canary): there is nothing to ${verb}`;
  }
  if (!isObserved(tag)) return undefined;
  const rollout = tag.status?.rollout;
  const underWay = rolloutUnderWay(tag);
  if (verb === 'retry') {
    if (rollout?.phase === 'RolledBack') return undefined;
    return underWay === undefined
      ? `tag ${name}: nothing was rolled back; a rollout begins when spec.revision changes (\`injector tag set\`)`
      : `tag ${name}: the rollout to revision ${underWay.canary.revision} is under way, nothing was rolled back; \`injector tag watch ${name}\` shows it`;
  }
  if (underWay === undefined) {
    const end =
      rollout?.phase === 'RolledBack' ? `: ${rollout.message}; \`injector tag retry ${name}\` begins again` : '';
    return `tag ${name}: no rollout is under way${end}`;
  }
  if (verb !== 'resume') return undefined;
  const step = `step ${underWay.step + 1}`;
  if (underWay.pausedAt === undefined) return `tag ${name}: ${step} is not paused: ${underWay.message}`;
  return underWay.resumed === true
    ? `tag ${name}: the pause of ${step} was ended already: ${underWay.message}`
    : undefined;
}
