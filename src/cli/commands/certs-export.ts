import { Command } from 'commander';
import { joinBundle, parseBundle } from '../../certs/bundle.ts';
import { readConfigs, readConfigurations } from '../certs/read-certificates.ts';
import { webhooksOf } from '../certs/webhooks-of.ts';
import { addClusterOptions, withCluster, type ClusterOptions } from '../cluster-options.ts';
import { writeNamedFile } from '../files.ts';
import type { Terminal } from '../terminal.ts';

interface ExportOptions extends ClusterOptions {
  readonly output?: string;
}

/** `injector certs export-ca`: what API servers trust now, read back from the webhook. */
export function certsExportCommand(terminal: Terminal): Command {
  return addClusterOptions(
    new Command('export-ca')
      .description("the authorities that API servers trust for an InjectorConfig's webhook now, as PEM")
      .argument('<name>', 'the InjectorConfig'),
  )
    .option('-o, --output <file>', 'where to write (default: standard output)')
    .action(async (name: string, options: ExportOptions) => {
      const bundle = await withCluster(options, async (client) => {
        await readConfigs(client, [name]);
        const webhooks = (await readConfigurations(client, name)).flatMap(webhooksOf);
        const pems = webhooks.map(({ clientConfig }) => Buffer.from(clientConfig?.caBundle ?? '', 'base64').toString());
        return joinBundle(pems);
      });
      if (parseBundle(bundle).length === 0) {
        throw new Error(`InjectorConfig ${name} has no webhook with a caBundle yet; injector certs status says why`);
      }
      writeNamedFile(terminal, '--output', options.output, bundle);
    });
}
