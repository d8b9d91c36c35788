import { Command } from 'commander';
import type { ApiClient } from '../../kube/api-client.ts';
import { exitCodes, type Terminal, UsageError } from '../terminal.ts';
import { certsCreateCommand } from './certs-create.ts';
import { certsRotateCommand } from './certs-rotate.ts';
import { patchCaBundle } from './patch-ca-bundle.ts';
import { readNamedFile, writeNamedFile } from '../files.ts';
import { joinBundle, parseBundle } from '../../certs/read-certificate.ts';
import { caBundlesOf } from '../../operator/webhooks/published-webhook.ts';
import { observeCertificates, readConfigs, readWebhookConfigurations } from './read-certificates.ts';
import { certificateReport, type CertificateReport } from './certificate-report.ts';
import { formatUntil, outputOption, writeReport, type OutputFormat } from '../report/write-report.ts';
import { requireNamespaceIn } from '../usage/installation.ts';
import { healthLines, isAlive, readOperatorHealth } from '../usage/operator-health.ts';
import { clusterCommand, type ClusterOptions, withCluster } from '../cluster-options.ts';

/** `injector certs`: shows and renews certificates, and creates them for `injector serve`. */
export function certsCommand(terminal: Terminal): Command {
  return new Command('certs')
    .description('show, renew, export and create the certificates of webhooks')
    .addCommand(certsStatusCommand(terminal))
    .addCommand(certsRotateCommand(terminal))
    .addCommand(certsExportCommand(terminal))
    .addCommand(certsCreateCommand(terminal))
    .addCommand(certsPatchCommand(terminal));
}

/** `injector certs patch-ca-bundle`: replaces webhook-patch-ca-bundle.sh of Istio 1.x. */
function certsPatchCommand(terminal: Terminal): Command {
  return new Command('patch-ca-bundle')
    .description('write an authority into every webhook of the YAML on standard input, and change nothing else')
    .option('--ca <file>', 'the authority as PEM, as written by certs create', 'ca.crt')
    .action(async ({ ca }: { ca: string }) => {
      if (ca === '-') throw new UsageError('--ca -: standard input contains the webhooks; name a file');
      const caPem = await readNamedFile(terminal, '--ca', ca);
      const { text, webhooks } = patchCaBundle(await terminal.readInput(), caPem);
      terminal.document(text);
      terminal.error(`wrote caBundle into ${webhooks} webhook${webhooks === 1 ? '' : 's'}`);
    });
}

/** `injector certs export-ca`: prints the authorities in the webhook. */
function certsExportCommand(terminal: Terminal): Command {
  return clusterCommand(
    'export-ca',
    'print the authorities that API servers trust for the webhook of an InjectorConfig, as PEM',
  )
    .argument('<name>', 'the InjectorConfig')
    .option('-o, --output <file>', 'the output file (default: standard output)')
    .action(async (name: string, options: ClusterOptions & { readonly output?: string }) => {
      const bundle = await withCluster(options, async (client) => {
        await readConfigs(client, [name]);
        return joinBundle((await readWebhookConfigurations(client, name)).flatMap(caBundlesOf));
      });
      if (parseBundle(bundle).length === 0)
        throw new Error(`InjectorConfig ${name} has no webhook with a caBundle; see \`injector certs status\``);
      writeNamedFile(terminal, '--output', options.output, bundle);
    });
}

interface StatusOptions extends ClusterOptions {
  readonly namespace?: string;
  readonly output: OutputFormat;
}

/** `injector certs status`: exit status 1 when there is a problem. */
function certsStatusCommand(terminal: Terminal): Command {
  return clusterCommand('status', 'show serving certificates and trusted authorities; exit status 1 on problems')
    .argument('[name...]', 'InjectorConfigs (default: all)')
    .option(
      '-n, --namespace <name>',
      "the operator's namespace (default: the namespace of its replicas, or of the webhook's Service)",
    )
    .addOption(outputOption())
    .action(async (names: string[], options: StatusOptions) => {
      const reports = await withCluster(options, (client) => readCertificateReports(client, names, options.namespace));
      writeReport(terminal, options.output, reports, {
        columns: ['NAME', 'PHASE', 'CERTIFICATE', 'EXPIRES', 'RENEWAL', 'AUTHORITY EXPIRES'],
        row: (report) => rowOf(report, Date.now()),
        notes: ({ bundles }) => {
          const trusted = bundles.map(({ configuration, authorities }) => `${configuration}=${authorities.join('+')}`);
          return [`trusted: ${trusted.join(' ') || 'no authority, because there is no webhook'}`];
        },
        empty: 'there is no InjectorConfig',
      });
      const problems = reports.flatMap(({ name, problems }) => problems.map((problem) => `${name}: ${problem}`));
      for (const problem of options.output === 'table' ? problems : []) terminal.error(problem);
      if (problems.length > 0) terminal.setExitCode(exitCodes.failure);
    });
}

/**
 * Reads what `injector certs status` reports.
 * @param names InjectorConfigs; all if empty
 * @param namespace the operator's, if known
 */
export async function readCertificateReports(
  client: Pick<ApiClient, 'listAll' | 'find'>,
  names: readonly string[],
  namespace?: string,
): Promise<CertificateReport[]> {
  await requireNamespaceIn(client, namespace);
  const configs = await readConfigs(client, names);
  const health = await readOperatorHealth(
    client,
    configs.map(({ spec }) => spec?.operatorClass ?? 'default'),
  );
  // Without an operator, valid certificates are not renewed.
  const unattended = isAlive(health) ? [] : healthLines(health);
  return Promise.all(
    configs.map(async (config) => {
      const { operatorClass = 'default' } = config.spec ?? {};
      const replicas = health.replicas.filter((each) => each.operatorClass === operatorClass);
      // Use the newest Lease: a replica of a removed installation may still look live.
      const [live] = replicas
        .filter(({ isLive }) => isLive)
        .sort((one, other) => ((one.last ?? '') < (other.last ?? '') ? 1 : -1));
      const namespaces = { known: namespace ?? live?.namespace, otherwise: replicas[0]?.namespace };
      const report = certificateReport(await observeCertificates(client, config, namespaces, new Date()));
      return { ...report, problems: [...unattended, ...report.problems] };
    }),
  );
}

function rowOf({ name, phase, fingerprint, notAfter, renewAt, caNotAfter }: CertificateReport, now: number): string[] {
  const times = [notAfter, renewAt, caNotAfter].map((time) => formatUntil(time, now));
  return [name, phase, fingerprint?.slice(0, 8) ?? '-', ...times];
}
