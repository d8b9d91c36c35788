import type { Command } from 'commander';
import { ApiClient } from '../../kube/api-client.ts';
import { loadKubeConfig } from '../../kube/kube-config.ts';

/** The flags that say which cluster. */
export interface ConnectionOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** Makes the connection, so that a test can bring its own. */
export type ConnectToCluster = (options: ConnectionOptions) => ApiClient;

export const connectToCluster: ConnectToCluster = ({ kubeconfig, context }) =>
  new ApiClient(loadKubeConfig({ kubeconfig, context }), { userAgent: 'injector' });

/** Under which name the API server records what the command line has set. */
export const commandLineManager = 'injector-cli';

/** Adds the flags that `disable` and `enable` share. */
export function addSwitchOptions(command: Command): Command {
  return command
    .option('-r, --revision <name...>', 'the revisions that are meant')
    .option('--all', 'every injector of the cluster')
    .option('--dry-run', 'say what would be done, and do nothing')
    .option('--kubeconfig <file>', 'a kubeconfig (default: $KUBECONFIG, ~/.kube/config)')
    .option('--context <name>', 'a context of the kubeconfig');
}
