import { Command, Option } from 'commander';
import { ApiClient } from '../kube/api-client.ts';
import { loadKubeConfig, type KubeConfig } from '../kube/kube-config.ts';
import { programVersion } from './version.ts';

/** The field manager of the command line. */
export const commandLineManager = 'injector-cli';

/** The flags of every command that connects to a cluster. */
export interface ClusterOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** Returns a command that connects to a cluster. */
export function clusterCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .option(
      '--kubeconfig <file>',
      'the kubeconfig (default: $KUBECONFIG, ~/.kube/config, the ServiceAccount of the pod)',
    )
    .option('--context <name>', 'the context of the kubeconfig (default: its current context)');
}

/** `-A`, as in kubectl, for commands that read all namespaces by default. */
export function allNamespacesOption(): Option {
  return new Option('-A, --all-namespaces', 'all namespaces (the default)').conflicts('namespace');
}

/** Runs `work` with a client. @throws ConfigurationError if there is no such context */
export async function withCluster<Result>(
  { kubeconfig, context }: ClusterOptions,
  work: (client: ApiClient, kubeConfig: KubeConfig) => Promise<Result>,
): Promise<Result> {
  const kubeConfig = loadKubeConfig({ kubeconfig, context });
  const client = new ApiClient(kubeConfig, { userAgent: `injector/${programVersion} (command line)` });
  try {
    return await work(client, kubeConfig);
  } finally {
    client.close();
  }
}
