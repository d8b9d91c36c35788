import { Command } from 'commander';
import { stringify } from 'yaml';
import { customResourceDefinitions } from '../../api/crd.ts';
import type { Terminal } from '../terminal.ts';

/** `injector crd`: the CustomResourceDefinitions this version works with, for `kubectl apply --server-side -f -`. */
export function crdCommand(terminal: Terminal): Command {
  return new Command('crd')
    .description('print the CustomResourceDefinitions')
    .option('-o, --output <format>', 'yaml or json', 'yaml')
    .action((options: { output: string }) => {
      const definitions = customResourceDefinitions();
      const list = { apiVersion: 'v1', kind: 'List', items: definitions };
      terminal.out(
        options.output === 'json'
          ? `${JSON.stringify(list, null, 2)}\n`
          : definitions
              .map((definition) => stringify(definition, { lineWidth: 0, aliasDuplicateObjects: false }))
              .join('---\n'),
      );
    });
}
