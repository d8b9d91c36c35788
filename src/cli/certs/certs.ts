import { Command } from 'commander';
import { exitCodes, type Terminal, UsageError } from '../terminal.ts';
import { certsCreateCommand } from './certs-create.ts';
import { certsRotateCommand } from './certs-rotate.ts';
import { patchCaBundle } from './patch-ca-bundle.ts';
import { readNamedFile, writeNamedFile } from '../files.ts';
import { joinBundle, parseBundle } from '../../certs/read-certificate.ts';
import { caBundlesOf } from '../../operator/webhooks/published-webhook.ts';
import { observeCertificates, readConfigs, readConfigurations } from './read-certificates.ts';
import { certificateReport, type CertificateReport } from './certificate-report.ts';
import { formatUntil, outputOption, writeReport, type OutputFormat } from '../report/write-report.ts';
import { healthLines, isAlive, readOperatorHealth } from '../usage/operator-health.ts';
import { clusterCommand, type ClusterOptions, withCluster } from '../cluster-options.ts';

/** `injector certs`: what is served and trusted, a renewal by hand, and certificates for `injector serve`. */
export function certsCommand(terminal: Terminal): Command {
  return new Command('certs')
    .description('the certificates of webhooks: look, renew, export, make')
    .addCommand(certsStatusCommand(terminal))
    .addCommand(certsRotateCommand(terminal))
    .addCommand(certsExportCommand(terminal))
    .addCommand(certsCreateCommand(terminal))
    .addCommand(certsPatchCommand(terminal));
}

/** `injector certs patch-ca-bundle < in > out`: what webhook-patch-ca-bundle.sh of Istio 1.x did, for any YAML or JSON. */
function certsPatchCommand(terminal: Terminal): Command {
  return new Command('patch-ca-bundle')
    .description('write an authority into every webhook of the YAML on standard input; the rest stays as it is written')
    .option('--ca <file>', 'the authority as PEM, as certs create writes it', 'ca.crt')
    .action(async ({ ca }: { ca: string }) => {
      if (ca === '-') throw new UsageError('--ca -: standard input holds the webhooks; name a file');
      const caPem = await readNamedFile(terminal, '--ca', ca);
      const { text, webhooks } = patchCaBundle(await terminal.readInput(), caPem);
      terminal.out(text);
      terminal.error(`caBundle written into ${webhooks} webhook${webhooks === 1 ? '' : 's'}`);
    });
}

/** `injector certs export-ca`: what API servers trust now, read back from the webhook. */
function certsExportCommand(terminal: Terminal): Command {
  return clusterCommand(
    'export-ca',
    "the authorities that API servers trust for an InjectorConfig's webhook now, as PEM",
  )
    .argument('<name>', 'the InjectorConfig')
    .option('-o, --output <file>', 'where to write (default: standard output)')
    .action(async (name: string, options: ClusterOptions & { readonly output?: string }) => {
      const bundle = await withCluster(options, async (client) => {
        await readConfigs(client, [name]);
        return joinBundle((await readConfigurations(client, name)).flatMap(caBundlesOf));
      });
      if (parseBundle(bundle).length === 0)
        throw new Error(`InjectorConfig ${name} has no webhook with a caBundle yet; injector certs status says why`);
      writeNamedFile(terminal, '--output', options.output, bundle);
    });
}

interface StatusOptions extends ClusterOptions {
  readonly namespace?: string;
  readonly output: OutputFormat;
}

/** `injector certs status`: exit status 1 when there is a problem. */
function certsStatusCommand(terminal: Terminal): Command {
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
            const replicas = health.replicas.filter((each) => each.operatorClass === operatorClass);
            // Heard of last: another installation may have died a moment ago.
            const [live] = replicas
              .filter(({ isLive }) => isLive)
              .sort((one, other) => ((one.last ?? '') < (other.last ?? '') ? 1 : -1));
            const namespaces = { known: options.namespace ?? live?.namespace, otherwise: replicas[0]?.namespace };
            const report = certificateReport(await observeCertificates(client, config, namespaces, new Date()));
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
