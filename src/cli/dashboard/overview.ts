import type { DashboardReplica, DashboardTag, OverviewReport } from '../../api/dashboard-reports.ts';
import type { RevisionTag } from '../../api/revision-tag/revision-tag.ts';
import { revisionReports } from '../commands/revisions.ts';
import { newsOf, phaseOf, restartsOf, stepMarks } from '../rollout/rollout-lines.ts';
import { afterRollback } from '../rollout/rollout-standing.ts';
import type { Installation } from '../usage/installation.ts';
import { lastGoodNotes } from '../usage/last-good.ts';
import { healthLines, isAlive, type OperatorHealth } from '../usage/operator-health.ts';
import type { ReadUsage } from '../usage/read-usage.ts';
import { tagReports } from '../usage/tag-report.ts';
import { possibleActions } from './actions.ts';

/** Returns what `revisions`, `tag list` and `tag watch` report. */
export function overviewReport(installation: Installation, usage: ReadUsage): Omit<OverviewReport, 'server'> {
  const { configs, tags, health } = installation;
  const byName = new Map(tags.map((tag) => [tag.metadata.name, tag]));
  return {
    replicas: replicasOf(health),
    // The times of live processes are omitted, because they would change the report every second.
    outages: isAlive(health) ? [] : healthLines(health),
    revisions: revisionReports(installation, usage),
    tags: tagReports(installation, usage).map((report) => {
      const tag = byName.get(report.tag);
      return { ...report, ...(tag === undefined ? noRollout : rolloutOf(tag)) };
    }),
    notes: [...configs.flatMap(lastGoodNotes), ...usage.notes],
  };
}

type RolloutFields = Pick<DashboardTag, 'phase' | 'news' | 'advice' | 'actions' | 'steps' | 'state' | 'restartState'>;
const noRollout: RolloutFields = { phase: 'Waiting', news: '', actions: [], steps: [] };

function rolloutOf(tag: RevisionTag): RolloutFields {
  const marks = stepMarks(tag);
  const advice = afterRollback(tag);
  const { rollout } = tag.status ?? {};
  const restarts = restartsOf(tag);
  return {
    phase: phaseOf(tag),
    news: newsOf(tag),
    ...(advice !== undefined && { advice }),
    actions: possibleActions(tag),
    steps: (tag.spec.strategy?.canary?.steps ?? []).map((step, index) => ({ ...step, mark: marks[index] ?? 'coming' })),
    ...(rollout !== undefined && { state: rollout }),
    ...(restarts !== undefined && { restartState: restarts }),
  };
}

function replicasOf({ replicas, leaders }: OperatorHealth): DashboardReplica[] {
  const leads = (operatorClass: string, name: string): boolean =>
    leaders.some((each) => each.isLive && each.operatorClass === operatorClass && each.name === name);
  return replicas.map(({ operatorClass, name, version, isLive }) => {
    return {
      operatorClass,
      name,
      ...(version !== undefined && { version }),
      isLive,
      isLeader: leads(operatorClass, name),
    };
  });
}
