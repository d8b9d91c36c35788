import { Command } from 'commander';
import { addClusterOptions, type ClusterOptions } from '../cluster-options.ts';
import { formatNames, formatPodCounts, outputOption, writeReport } from '../report/write-report.ts';
import type { OutputFormat } from '../report/write-report.ts';
import type { Terminal } from '../terminal.ts';
import { readClusterUsage } from '../usage/read-usage.ts';
import { formatReadiness } from '../usage/readiness.ts';
import { formatRestarts, tagReports, type TagReport } from '../usage/tag-report.ts';

interface ListOptions extends ClusterOptions {
  readonly output: OutputFormat;
}

/** `injector tag list`: where each tag leads, and what follows it. */
export function tagListCommand(terminal: Terminal): Command {
  return addClusterOptions(new Command('list').description('tags, where they lead, and what follows them'))
    .addOption(outputOption())
    .action(async (options: ListOptions) => {
      const { installation, usage } = await readClusterUsage(options);
      const reports = tagReports(installation, usage);
      // A column that most clusters would never fill.
      const hasRestarts = reports.some(({ restarts }) => restarts !== undefined);
      writeReport(terminal, options.output, reports, {
        columns: ['TAG', 'REVISION', 'NAMESPACES', 'PODS', ...(hasRestarts ? ['RESTARTS'] : []), 'READY'],
        row: (report) => [
          report.tag,
          formatRevision(report),
          formatNames(report.namespaces),
          formatPodCounts(report.pods),
          ...(hasRestarts ? [formatRestarts(report)] : []),
          formatReadiness(report),
        ],
        empty: 'there is no RevisionTag',
      });
      for (const note of usage.notes) terminal.error(note);
    });
}

/** `1-25`, `1-25 (still 1-24)`, `1-25 (Progressing 25 %, else 1-24)`. */
function formatRevision({ revision, stableRevision, rollout }: TagReport): string {
  if (rollout !== undefined) {
    const share = rollout.shadow ? '' : ` ${rollout.weight} %`;
    return `${rollout.canaryRevision} (${rollout.phase}${share}, else ${stableRevision ?? '-'})`;
  }
  return stableRevision === undefined || stableRevision === revision
    ? revision
    : `${revision} (still ${stableRevision})`;
}
