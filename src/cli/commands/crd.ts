import { Command } from 'commander';
import { stringify } from 'yaml';
import { injectorConfigCustomResourceDefinition } from '../../api/crd.ts';
import type { Terminal } from '../terminal.ts';

/** `injector crd`: the CustomResourceDefinitions this version works with, for `kubectl apply --server-side -f -`. */
export function crdCommand(terminal: Terminal): Command {
  return new Command('crd')
    .description('print the CustomResourceDefinitions')
    .option('-o, --output <format>', 'yaml or json', 'yaml')
    .action((options: { output: string }) => {
      const definition = injectorConfigCustomResourceDefinition();
      terminal.out(
        options.output === 'json'
          ? `${JSON.stringify(definition, null, 2)}\n`
          : stringify(definition, { lineWidth: 0, aliasDuplicateObjects: false }),
      );
    });
}
