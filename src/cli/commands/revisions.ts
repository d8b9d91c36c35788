import type { Command } from 'commander';
import { clusterCommand, type ClusterOptions } from '../cluster-options.ts';
import {
  formatNames,
  formatPodCounts,
  formatUntil,
  type OutputFormat,
  outputOption,
  writeReport,
} from '../report/write-report.ts';
import { tellHealth } from '../report/tell-health.ts';
import type { Terminal } from '../terminal.ts';
import { readClusterUsage } from '../usage/read-usage.ts';
import { formatReadiness } from '../usage/readiness.ts';
import { revisionReports, type RevisionReport } from '../usage/revision-report.ts';

/** `injector revisions`: lists all injectors of the cluster and their users. */
export function revisionsCommand(terminal: Terminal): Command {
  return clusterCommand('revisions', 'list the injectors of the cluster and their tags, namespaces and pods')
    .addOption(outputOption())
    .action(async (options: ClusterOptions & { readonly output: OutputFormat }) => {
      const { installation, usage } = await readClusterUsage(options);
      tellHealth(terminal, options.output, installation.health);
      writeReport(terminal, options.output, revisionReports(installation, usage), {
        columns: ['REVISION', 'NAME', 'READY', 'HASH', 'TAGS', 'NAMESPACES', 'PODS', 'CERT'],
        row: (report) => rowOf(report, Date.now()),
        notes: ({ name, foreign, ready, reason = '', message = '', unknownSince }) => {
          if (foreign) return [`MutatingWebhookConfiguration ${name} of another injector`];
          return ready === true || unknownSince !== undefined ? [] : [`${reason}: ${message}`];
        },
        empty: 'there is no InjectorConfig and no other injector',
      });
      for (const note of usage.notes) terminal.error(note);
    });
}

/** Formats a row; CERT is the time until the certificate expires. */
function rowOf(report: RevisionReport, now: number): string[] {
  const { revision, name, foreign, ready, hash, tags, namespaces, pods } = report;
  return [
    revision,
    foreign ? '(not ours)' : name,
    ready === undefined ? '-' : formatReadiness({ ...report, ready, reason: '' }),
    hash ?? '-',
    formatNames(tags),
    formatNames(namespaces),
    pods === undefined ? '-' : formatPodCounts(pods),
    formatUntil(report.certificateExpires, now),
  ];
}
