import { Command } from 'commander';
import { addClusterOptions, withCluster, type ClusterOptions } from '../cluster-options.ts';
import { formatNames, formatPodCounts } from '../report/pod-counts.ts';
import { outputOption, writeReport, type OutputFormat } from '../report/write-report.ts';
import type { Terminal } from '../terminal.ts';
import { readInstallation } from '../usage/read-installation.ts';
import { readUsage } from '../usage/read-usage.ts';
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
      const { reports, notes } = await withCluster(options, async (client) => {
        const installation = await readInstallation(client);
        const usage = await readUsage(client, installation);
        return { reports: tagReports(installation, usage), notes: usage.notes };
      });
      // A column that most clusters would never fill.
      const hasRestarts = reports.some(({ restarts }) => restarts !== undefined);
      writeReport(terminal, options.output, reports, {
        columns: ['TAG', 'REVISION', 'NAMESPACES', 'PODS', ...(hasRestarts ? ['RESTARTS'] : []), 'READY'],
        row: (report) => row(report, hasRestarts),
        empty: 'there is no RevisionTag',
      });
      for (const note of notes) terminal.error(note);
    });
}

function row(report: TagReport, hasRestarts: boolean): string[] {
  const { tag, namespaces, pods } = report;
  const restarts = hasRestarts ? [formatRestarts(report)] : [];
  return [
    tag,
    formatRevision(report),
    formatNames(namespaces),
    formatPodCounts(pods),
    ...restarts,
    formatReadiness(report),
  ];
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
