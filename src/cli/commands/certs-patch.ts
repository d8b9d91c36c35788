import { Command } from 'commander';
import { patchCaBundle } from '../certs/patch-ca-bundle.ts';
import { readNamedFile } from '../files.ts';
import type { Terminal } from '../terminal.ts';
import { UsageError } from '../usage-error.ts';

/** `injector certs patch-ca-bundle < in > out`: what webhook-patch-ca-bundle.sh of Istio 1.x did, for any YAML or JSON. */
export function certsPatchCommand(terminal: Terminal): Command {
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
