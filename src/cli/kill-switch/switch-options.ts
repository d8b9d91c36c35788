import type { Command } from 'commander';
import type { ApiClient } from '../../kube/api-client.ts';
import { clusterCommand, type ClusterOptions, withCluster } from '../cluster-options.ts';
import { exitCodes, type Terminal } from '../terminal.ts';
import { checkSelection, type SwitchSelection } from './switch-targets.ts';

/** What `disable` and `enable` share: whom they mean, which cluster, and whether they only say what they would do. */
export interface SwitchOptions extends SwitchSelection, ClusterOptions {
  readonly dryRun?: true;
}

/** A command with the flags that `disable` and `enable` share. */
export function switchCommand(name: string, description: string): Command {
  return clusterCommand(name, description)
    .option('-r, --revision <name...>', 'the revisions that are meant')
    .option('--all', 'every injector of the cluster')
    .option('--dry-run', 'say what would be done, and do nothing');
}

/** Does one of the two, unless nobody is meant; exit status 1 when not everything is done. */
export async function onCluster<Options extends SwitchOptions>(
  options: Options,
  terminal: Terminal,
  act: (client: ApiClient, options: Options, terminal: Terminal) => Promise<boolean>,
): Promise<void> {
  checkSelection(options);
  const isDone = await withCluster(options, (client) => act(client, options, terminal));
  if (!isDone) terminal.setExitCode(exitCodes.failure);
}
