import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { administrator, hideUsersClusters, openCluster, type Cluster } from './cluster.ts';
import { onInterrupt } from './interrupt.ts';
import { paths } from './paths.ts';
import { endListedProcesses, openStandingDirectory } from './run-directory.ts';

/** Starts the cluster that outlives its starter, after ending what is left of an earlier one. */
export async function openStandingCluster(report: (line: string) => void): Promise<Cluster> {
  stopStandingCluster();
  // Nothing guards these processes: whoever gives up in the middle wants nothing left behind.
  const stopInterrupting = onInterrupt(() => Promise.resolve(stopStandingCluster()));
  try {
    const cluster = await openCluster({}, report, true);
    cluster.controlPlane?.release();
    return cluster;
  } finally {
    stopInterrupting();
  }
}

/** The standing cluster if its API server answers. Its components belong to another process and cannot be stopped singly. */
export async function standingCluster(): Promise<Cluster | undefined> {
  const kubeconfig = join(paths.standing, 'kubeconfig');
  if (!existsSync(kubeconfig)) return undefined;
  hideUsersClusters();
  const client = administrator(kubeconfig);
  try {
    await client.request('GET', '/readyz', { timeoutMs: 2000 });
  } catch {
    client.close();
    return undefined;
  }
  return {
    description: `the control plane that goes on until \`make down\`, at ${client.server}`,
    kubeconfig,
    context: undefined,
    client,
    controlPlane: undefined,
    fakeNodes: true,
    hasControllers: true,
    advertiseHost: 'localhost',
    run: openStandingDirectory(),
    stop: () => {
      client.close();
      stopStandingCluster();
      return Promise.resolve();
    },
  };
}

/** Ends all that runs in the standing cluster's directory and removes it; returns the names of what ran. */
export function stopStandingCluster(): string[] {
  const ended = endListedProcesses(paths.standing);
  rmSync(paths.standing, { recursive: true, force: true });
  return ended;
}

/** Ends the operators on the standing cluster, whoever started them; the control plane goes on. */
export function endStandingOperators(): string[] {
  return endListedProcesses(paths.standing, (name) => name.startsWith('operator-'));
}
