import type { Command } from 'commander';
import type { ApiClient } from '../../kube/api-client.ts';
import { clusterCommand, type ClusterOptions, withCluster } from '../cluster-options.ts';
import { exitCodes, type Terminal } from '../terminal.ts';
import { checkSelection, type SwitchSelection } from './switch-targets.ts';

/** The options of `disable` and `enable`. */
export interface SwitchOptions extends SwitchSelection, ClusterOptions {
  readonly dryRun?: true;
}

export function switchCommand(name: string, description: string): Command {
  return clusterCommand(name, description)
    .option('-r, --revision <name...>', 'the revisions to select')
    .option('--all', 'all injectors of the cluster')
    .option('--dry-run', 'print the changes without making them');
}

/** Checks the options and runs the command; exit status 1 if a change failed. */
export async function onCluster<Options extends SwitchOptions>(
  options: Options,
  terminal: Terminal,
  act: (client: ApiClient, options: Options, terminal: Terminal) => Promise<boolean>,
): Promise<void> {
  checkSelection(options);
  const isDone = await withCluster(options, (client) => act(client, options, terminal));
  if (!isDone) terminal.setExitCode(exitCodes.failure);
}
