import type { Command } from 'commander';
import { ApiClient } from '../../kube/api-client.ts';
import { loadKubeConfig } from '../../kube/kube-config.ts';
import type { ClusterOptions } from '../cluster-options.ts';
import { exitCodes, type Terminal } from '../terminal.ts';
import { checkSelection, type SwitchSelection } from './switch-targets.ts';

/** Makes the connection, so that a test can bring its own. */
type ConnectToCluster = (options: ClusterOptions) => ApiClient;

export const connectToCluster: ConnectToCluster = ({ kubeconfig, context }) =>
  new ApiClient(loadKubeConfig({ kubeconfig, context }), { userAgent: 'injector' });

/** What `disable` and `enable` share: whom they mean, which cluster, and whether they only say what they would do. */
export interface SwitchOptions extends SwitchSelection, ClusterOptions {
  readonly dryRun?: true;
}

/** Adds the flags that `disable` and `enable` share. */
export function addSwitchOptions(command: Command): Command {
  return command
    .option('-r, --revision <name...>', 'the revisions that are meant')
    .option('--all', 'every injector of the cluster')
    .option('--dry-run', 'say what would be done, and do nothing')
    .option('--kubeconfig <file>', 'a kubeconfig (default: $KUBECONFIG, ~/.kube/config)')
    .option('--context <name>', 'a context of the kubeconfig');
}

/** Does one of the two, unless nobody is meant; exit status 1 when not everything is done. */
export async function onCluster<Options extends SwitchOptions>(
  connect: ConnectToCluster,
  options: Options,
  terminal: Terminal,
  act: (client: ApiClient, options: Options, terminal: Terminal) => Promise<boolean>,
): Promise<void> {
  checkSelection(options);
  const client = connect(options);
  try {
    const isDone = await act(client, options, terminal);
    if (!isDone) terminal.setExitCode(exitCodes.failure);
  } finally {
    client.close();
  }
}
