import type { Command } from 'commander';
import { certificateReport, type CertificateReport } from './certificate-report.ts';
import { observeCertificates, readConfigs } from './read-certificates.ts';
import { clusterCommand, withCluster, type ClusterOptions } from '../cluster-options.ts';
import { exitCodes, type Terminal } from '../terminal.ts';
import { formatUntil, outputOption, writeReport, type OutputFormat } from '../report/write-report.ts';
import { healthLines, isAlive, readOperatorHealth } from '../usage/operator-health.ts';

interface StatusOptions extends ClusterOptions {
  readonly namespace?: string;
  readonly output: OutputFormat;
}

/** `injector certs status`: exit status 1 when there is a problem. */
export function certsStatusCommand(terminal: Terminal): Command {
  return clusterCommand('status', 'what is served and what API servers trust; exit status 1 when something is wrong')
    .argument('[name...]', 'InjectorConfigs (default: all)')
    .option(
      '-n, --namespace <name>',
      "the operator's namespace (default: that of its replicas, or of the webhook's Service)",
    )
    .addOption(outputOption())
    .action(async (names: string[], options: StatusOptions) => {
      const reports = await withCluster(options, async (client) => {
        const configs = await readConfigs(client, names);
        const health = await readOperatorHealth(
          client,
          configs.map(({ spec }) => spec?.operatorClass ?? 'default'),
        );
        // Of a certificate that nobody keeps valid all else may be right.
        const unattended = isAlive(health) ? [] : healthLines(health);
        return Promise.all(
          configs.map(async (config) => {
            const { operatorClass = 'default' } = config.spec ?? {};
            const replica = health.replicas.find((each) => each.operatorClass === operatorClass);
            const namespace = options.namespace ?? replica?.namespace;
            const report = certificateReport(await observeCertificates(client, config, namespace, new Date()));
            return { ...report, problems: [...unattended, ...report.problems] };
          }),
        );
      });
      writeReport(terminal, options.output, reports, {
        columns: ['NAME', 'PHASE', 'CERTIFICATE', 'EXPIRES', 'RENEWAL', 'AUTHORITY EXPIRES'],
        row: (report) => rowOf(report, Date.now()),
        notes: ({ bundles }) => {
          const trusted = bundles.map(({ configuration, authorities }) => `${configuration}=${authorities.join('+')}`);
          return [`trusted: ${trusted.join(' ') || 'by no webhook'}`];
        },
        empty: 'there is no InjectorConfig',
      });
      const problems = reports.flatMap(({ name, problems }) => problems.map((problem) => `${name}: ${problem}`));
      for (const problem of options.output === 'table' ? problems : []) terminal.error(problem);
      if (problems.length > 0) terminal.setExitCode(exitCodes.failure);
    });
}

function rowOf({ name, phase, fingerprint, notAfter, renewAt, caNotAfter }: CertificateReport, now: number): string[] {
  const times = [notAfter, renewAt, caNotAfter].map((time) => formatUntil(time, now));
  return [name, phase, fingerprint?.slice(0, 8) ?? '-', ...times];
}
