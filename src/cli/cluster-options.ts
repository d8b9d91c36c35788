import { Command } from 'commander';
import { ApiClient } from '../kube/api-client.ts';
import { loadKubeConfig, type KubeConfig } from '../kube/kube-config.ts';
import { version } from './version.ts';

/** Under which name the API server records what the command line has set. */
export const commandLineManager = 'injector-cli';

/** Flags of every command that talks to a cluster. */
export interface ClusterOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** A command that talks to a cluster. */
export function clusterCommand(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .option('--kubeconfig <file>', 'a kubeconfig (default: $KUBECONFIG, ~/.kube/config, the ServiceAccount of the pod)')
    .option('--context <name>', 'a context of the kubeconfig instead of its current one');
}

/**
 * Runs `work` with a client of the chosen cluster, and lets go of its connections.
 * @throws ConfigurationError when there is no kubeconfig or it lacks the context.
 */
export async function withCluster<Result>(
  { kubeconfig, context }: ClusterOptions,
  work: (client: ApiClient, kubeConfig: KubeConfig) => Promise<Result>,
): Promise<Result> {
  const kubeConfig = loadKubeConfig({ kubeconfig, context });
  const client = new ApiClient(kubeConfig, { userAgent: `injector/${version} (command line)` });
  try {
    return await work(client, kubeConfig);
  } finally {
    client.close();
  }
}
