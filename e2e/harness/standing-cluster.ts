import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { administrator, hideUsersClusters, openCluster, type Cluster } from './cluster.ts';
import { onInterrupt } from './interrupt.ts';
import { paths } from './paths.ts';
import { endListedProcesses, endRun, openStandingDirectory } from './run-directory.ts';

/** Stops the earlier standing cluster, and starts a cluster that outlives this process. */
export async function openStandingCluster(realNode: boolean, report: (line: string) => void): Promise<Cluster> {
  stopStandingCluster();
  // These processes have no guard, so stop the cluster when the user interrupts the start.
  const stopInterrupting = onInterrupt(() => Promise.resolve(stopStandingCluster()));
  try {
    const cluster = await openCluster({ realNode }, report, true);
    cluster.controlPlane?.release();
    return cluster;
  } finally {
    stopInterrupting();
  }
}

/** Returns the standing cluster if its API server answers. Components cannot be controlled. */
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
    description: `the control plane at ${client.server}, which runs until \`make down\``,
    kubeconfig,
    context: undefined,
    client,
    controlPlane: undefined,
    fakeNodes: !existsSync(join(paths.standing, 'node')),
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

/** Kills the standing cluster's processes and removes its directory. Returns the names. */
export function stopStandingCluster(): string[] {
  const ended = endRun(paths.standing);
  rmSync(paths.standing, { recursive: true, force: true });
  return ended;
}

/** Kills all operators on the standing cluster. The control plane keeps running. */
export function endStandingOperators(): string[] {
  return endListedProcesses(paths.standing, (name) => name.startsWith('operator-'));
}
