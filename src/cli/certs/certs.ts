import { Command } from 'commander';
import { type Terminal, UsageError } from '../terminal.ts';
import { certsCreateCommand } from './certs-create.ts';
import { certsRotateCommand } from './certs-rotate.ts';
import { certsStatusCommand } from './certs-status.ts';
import { patchCaBundle } from './patch-ca-bundle.ts';
import { readNamedFile, writeNamedFile } from '../files.ts';
import { joinBundle, parseBundle } from '../../certs/read-certificate.ts';
import { caBundlesOf } from '../../operator/webhooks/published-webhook.ts';
import { readConfigs, readConfigurations } from './read-certificates.ts';
import { clusterCommand, type ClusterOptions, withCluster } from '../cluster-options.ts';

/** `injector certs`: what is served and trusted, a renewal by hand, and certificates for `injector serve`. */
export function certsCommand(terminal: Terminal): Command {
  const certs = new Command('certs').description('the certificates of webhooks: look, renew, export, make');
  for (const command of [
    certsStatusCommand(terminal),
    certsRotateCommand(terminal),
    certsExportCommand(terminal),
    certsCreateCommand(terminal),
    certsPatchCommand(terminal),
  ]) {
    certs.addCommand(command);
  }
  return certs;
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

interface ExportOptions extends ClusterOptions {
  readonly output?: string;
}

/** `injector certs export-ca`: what API servers trust now, read back from the webhook. */
function certsExportCommand(terminal: Terminal): Command {
  return clusterCommand(
    'export-ca',
    "the authorities that API servers trust for an InjectorConfig's webhook now, as PEM",
  )
    .argument('<name>', 'the InjectorConfig')
    .option('-o, --output <file>', 'where to write (default: standard output)')
    .action(async (name: string, options: ExportOptions) => {
      const bundle = await withCluster(options, async (client) => {
        await readConfigs(client, [name]);
        return joinBundle((await readConfigurations(client, name)).flatMap(caBundlesOf));
      });
      if (parseBundle(bundle).length === 0) {
        throw new Error(`InjectorConfig ${name} has no webhook with a caBundle yet; injector certs status says why`);
      }
      writeNamedFile(terminal, '--output', options.output, bundle);
    });
}
