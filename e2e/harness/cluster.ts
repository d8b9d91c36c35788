import { join } from 'node:path';
import type { Condition } from '../../src/api/kubernetes/kubernetes.ts';
import { ApiClient } from '../../src/kube/api-client.ts';
import { isNotFound } from '../../src/kube/api-error.ts';
import { loadKubeConfig } from '../../src/kube/kube-config.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { isTrue } from './apply.ts';
import { buildBinaries } from './build.ts';
import { startControlPlane, type ControlPlane, type FoundPrograms } from './control-plane.ts';
import { paths } from './paths.ts';
import { createRunDirectory, openStandingDirectory, type RunDirectory } from './run-directory.ts';
import { waitFor } from './wait-for.ts';

export interface Cluster {
  description: string;
  kubeconfig: string | undefined;
  context: string | undefined;
  client: ApiClient;
  /** The control plane whose components can be stopped; undefined for a user's own cluster. */
  controlPlane: ControlPlane | undefined;
  /** Whether its nodes are KWOK's: pods become ready and no program runs in them. */
  fakeNodes: boolean;
  /** Whether anybody makes pods of Deployments and puts them on nodes. */
  hasControllers: boolean;
  /** The host under which the cluster's API server reaches processes on this machine. */
  advertiseHost: string;
  /** Logs and kubeconfigs of the processes that act on this cluster; each of them has this path in its command line. */
  run: RunDirectory;
  stop: (failed: boolean) => Promise<void>;
}

export interface ClusterChoice {
  /** A context of the user's kubeconfig: only this names the user's own cluster. */
  context?: string | undefined;
  /** For the user's own cluster: where its API server reaches this machine. */
  advertiseHost?: string | undefined;
  /** An API server alone, by programs of this machine. */
  found?: FoundPrograms;
}

/** Whether the user has named a cluster of their own. An exported KUBECONFIG names none: many people have one. */
export function namesOwnCluster(choice: ClusterChoice): boolean {
  return choice.context !== undefined;
}

/** A process of ours that is told no kubeconfig must not find the user's. */
export function hideUsersClusters(): void {
  process.env['KUBECONFIG'] = join(paths.runs, 'no-kubeconfig');
}

/**
 * The user's own cluster if one is named, else an embedded control plane with two nodes.
 *
 * @param standing true for the cluster that outlives this process (`make up`)
 */
export async function openCluster(
  choice: ClusterChoice,
  report: (line: string) => void,
  standing = false,
): Promise<Cluster> {
  const own = namesOwnCluster(choice);
  await buildBinaries(report, !own && choice.found === undefined);
  if (own) return await openOwnCluster(choice);
  hideUsersClusters();
  const started = Date.now();
  const { run, controlPlane } = await startAnywhere(standing, choice.found);
  const hasControllers = choice.found === undefined;
  try {
    const client = administrator(controlPlane.kubeconfig);
    const version = await versionOf(client);
    if (hasControllers) await createNodes(client, ['node-a', 'node-b']);
    report(`the control plane is ready after ${((Date.now() - started) / 1000).toFixed(1)} s, logs in ${run.path}`);
    return {
      description: `an embedded control plane at ${client.server}, Kubernetes ${version}`,
      kubeconfig: controlPlane.kubeconfig,
      context: undefined,
      client,
      controlPlane,
      fakeNodes: true,
      hasControllers,
      advertiseHost: 'localhost',
      run,
      stop: async (failed) => {
        client.close();
        await controlPlane.stop();
        run.remove(failed);
      },
    };
  } catch (error) {
    run.remove(true);
    throw error;
  }
}

/** Another process may take a chosen port before a component listens on it. The start is then repeated with other ports. */
async function startAnywhere(
  standing: boolean,
  found: FoundPrograms | undefined,
): Promise<{ run: RunDirectory; controlPlane: ControlPlane }> {
  for (let left = 2; ; left--) {
    const run = standing ? openStandingDirectory() : createRunDirectory();
    try {
      return { run, controlPlane: await startControlPlane(run, found) };
    } catch (error) {
      run.remove(true);
      if (left === 0 || !String(error).includes('address already in use')) throw error;
    }
  }
}

async function openOwnCluster(choice: ClusterChoice): Promise<Cluster> {
  const { context, advertiseHost } = choice;
  if (advertiseHost === undefined) {
    throw new Error('a cluster of your own must reach the operator on this machine: say where with --advertise HOST');
  }
  const config = loadKubeConfig({ context });
  const client = new ApiClient(config, { userAgent: 'e2e-harness' });
  const kind = resourceKind('sidecar-injector.io/v1alpha1', 'InjectorConfig');
  const present = await client.listAll(kind).catch((error: unknown) => {
    // The usual case: the CRD is not there.
    if (isNotFound(error)) return { items: [] };
    throw error;
  });
  if (present.items.length > 0) {
    const names = present.items.map(({ metadata }) => metadata.name).join(', ');
    throw new Error(
      `the cluster at ${client.server} has InjectorConfigs in use (${names}), which we would remove; name another cluster`,
    );
  }
  const run = createRunDirectory();
  return {
    description: `your own cluster at ${client.server} (context ${config.getCurrentContext()})`,
    kubeconfig: undefined,
    context,
    client,
    controlPlane: undefined,
    fakeNodes: false,
    hasControllers: true,
    advertiseHost,
    run,
    stop: (failed) => {
      client.close();
      run.remove(failed);
      return Promise.resolve();
    },
  };
}

/** What an API server says that it is. @throws Error when that is not what KUBERNETES_EMULATED asks for */
async function versionOf(client: ApiClient): Promise<string> {
  const { KUBERNETES_EMULATED: wanted } = process.env;
  const { gitVersion = '', ...answer } = (await client.request('GET', '/version')) as Record<string, string>;
  const acts = `${answer['emulationMajor'] ?? ''}.${answer['emulationMinor'] ?? ''}`;
  if (wanted === undefined) return gitVersion;
  if (acts !== wanted) throw new Error(`the API server is ${gitVersion} and acts as ${acts}, not as ${wanted}`);
  return `${gitVersion} that acts as ${acts}`;
}

/** A client with the rights of the kubeconfig's user, recognisable in the audit log. */
export function administrator(kubeconfig: string): ApiClient {
  return new ApiClient(loadKubeConfig({ kubeconfig }), { userAgent: 'e2e-harness' });
}

interface Node {
  spec?: { taints?: unknown[] };
  status?: { conditions?: Pick<Condition, 'type' | 'status'>[] };
}

/** What the fake nodes report: native sidecars are decided by it. */
const kubeletVersion = 'v1.36.3';

/** Creates fake nodes and waits until pods can be scheduled on them. */
async function createNodes(client: ApiClient, names: string[]): Promise<void> {
  for (const [index, name] of names.entries()) {
    const resources = { cpu: '64', memory: '256Gi', 'ephemeral-storage': '1Ti', pods: '10000' };
    await client.create({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {
        name,
        labels: { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' },
      },
      status: {
        addresses: [
          { type: 'InternalIP', address: `10.0.0.${index + 1}` },
          { type: 'Hostname', address: name },
        ],
        capacity: resources,
        allocatable: resources,
        nodeInfo: { kubeletVersion, architecture: 'amd64', operatingSystem: 'linux' },
      },
    });
  }
  for (const name of names) {
    await waitFor(`node ${name} to be ready`, async () => {
      const node = await client.get<Node>(resourceKind('v1', 'Node'), name);
      return isTrue(node, 'Ready') && (node.spec?.taints ?? []).length === 0;
    });
  }
}
