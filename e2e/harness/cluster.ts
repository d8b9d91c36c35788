import { join } from 'node:path';
import { account } from '../../scripts/test/account.ts';
import type { Condition } from '../../src/api/kubernetes/kubernetes.ts';
import { ApiClient } from '../../src/kube/api-client.ts';
import { isNotFound } from '../../src/kube/api-error.ts';
import { loadKubeConfig } from '../../src/kube/kube-config.ts';
import { resourceKind } from '../../src/kube/resource-kinds.ts';
import { isTrue } from './apply.ts';
import { buildBinaries } from './build.ts';
import { realNode } from './certificates.ts';
import { startControlPlane, type ControlPlane, type FoundPrograms } from './control-plane.ts';
import { paths } from './paths.ts';
import { createRunDirectory, openStandingDirectory, type RunDirectory } from './run-directory.ts';
import { waitFor } from './wait-for.ts';

export interface Cluster {
  description: string;
  kubeconfig: string | undefined;
  context: string | undefined;
  client: ApiClient;
  /** The control plane whose components can be stopped; undefined for the user's own cluster. */
  controlPlane: ControlPlane | undefined;
  /** Whether KWOK simulates the nodes, so that pods become ready although no program runs. */
  fakeNodes: boolean;
  /** Whether controllers and a scheduler run, so that Deployments get pods on nodes. */
  hasControllers: boolean;
  /** The host under which the cluster's API server reaches processes on this machine. */
  advertiseHost: string;
  /** The directory with logs and kubeconfigs. Command lines of the processes contain its path. */
  run: RunDirectory;
  stop: (failed: boolean) => Promise<void>;
}

export interface ClusterChoice {
  /** A context of the user's kubeconfig. Only this field selects the user's own cluster. */
  context?: string | undefined;
  /** The host under which the user's own cluster reaches this machine. */
  advertiseHost?: string | undefined;
  /** An etcd and a kube-apiserver on this machine, which run without other components. */
  found?: FoundPrograms;
  /** Whether a kubelet runs the pods of the embedded control plane, instead of KWOK. */
  realNode?: boolean;
}

/** Reports whether the user chose their own cluster. KUBECONFIG alone does not choose it. */
export function namesOwnCluster(choice: ClusterChoice): boolean {
  return choice.context !== undefined;
}

/** Prevents a process without a --kubeconfig flag from using the user's kubeconfig. */
export function hideUsersClusters(): void {
  process.env['KUBECONFIG'] = join(paths.runs, 'no-kubeconfig');
}

/**
 * Opens the user's own cluster if it was chosen, or else an embedded control plane with two nodes.
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
  const { run, controlPlane } = await startAnywhere(standing, choice);
  const hasControllers = choice.found === undefined;
  try {
    const client = administrator(controlPlane.kubeconfig);
    const version = await versionOf(client);
    if (choice.realNode === true) await waitForNode(client, realNode);
    else if (hasControllers) await createNodes(client, ['node-a', 'node-b']);
    report(`the control plane is ready after ${((Date.now() - started) / 1000).toFixed(1)} s, logs in ${run.path}`);
    return {
      description: `an embedded control plane at ${client.server}, Kubernetes ${version}`,
      kubeconfig: controlPlane.kubeconfig,
      context: undefined,
      client,
      controlPlane,
      fakeNodes: choice.realNode !== true,
      hasControllers,
      advertiseHost: 'localhost',
      run,
      stop: async (failed) => {
        client.close();
        const seconds = (Date.now() - started) / 1000;
        account({ kind: 'control plane', name: 'control plane', seconds, cpuSeconds: controlPlane.cpuSeconds() });
        await controlPlane.stop();
        run.remove(failed);
      },
    };
  } catch (error) {
    run.remove(true);
    throw error;
  }
}

/** Starts a control plane. Retries with other ports if another process took one of the ports. */
async function startAnywhere(
  standing: boolean,
  choice: ClusterChoice,
): Promise<{ run: RunDirectory; controlPlane: ControlPlane }> {
  for (let left = 2; ; left--) {
    const run = standing ? openStandingDirectory() : createRunDirectory();
    try {
      return { run, controlPlane: await startControlPlane(run, choice) };
    } catch (error) {
      run.remove(true);
      if (left === 0 || !String(error).includes('address already in use')) throw error;
    }
  }
}

async function openOwnCluster(choice: ClusterChoice): Promise<Cluster> {
  const { context, advertiseHost } = choice;
  if (advertiseHost === undefined) {
    throw new Error('your own cluster must reach the operator on this machine: name this host with --advertise HOST');
  }
  const config = loadKubeConfig({ context });
  const client = new ApiClient(config, { userAgent: 'e2e-harness' });
  const kind = resourceKind('sidecar-injector.io/v1alpha1', 'InjectorConfig');
  const present = await client.listAll(kind).catch((error: unknown) => {
    // Usually, the CRD does not exist.
    if (isNotFound(error)) return { items: [] };
    throw error;
  });
  if (present.items.length > 0) {
    const names = present.items.map(({ metadata }) => metadata.name).join(', ');
    throw new Error(
      `the cluster at ${client.server} has InjectorConfigs (${names}) that the run would remove; choose another cluster`,
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

/** Returns the API server's version. @throws Error if it differs from KUBERNETES_EMULATED */
async function versionOf(client: ApiClient): Promise<string> {
  const { KUBERNETES_EMULATED: wanted } = process.env;
  const { gitVersion = '', ...answer } = (await client.request('GET', '/version')) as Record<string, string>;
  const acts = `${answer['emulationMajor'] ?? ''}.${answer['emulationMinor'] ?? ''}`;
  if (wanted === undefined) return gitVersion;
  if (acts !== wanted) throw new Error(`the API server is ${gitVersion} and emulates ${acts}, not ${wanted}`);
  return `${gitVersion} emulating ${acts}`;
}

/** Creates a client with the rights of the kubeconfig's user and the User-Agent `e2e-harness`. */
export function administrator(kubeconfig: string): ApiClient {
  return new ApiClient(loadKubeConfig({ kubeconfig }), { userAgent: 'e2e-harness' });
}

interface Node {
  spec?: { taints?: unknown[] };
  status?: { conditions?: Pick<Condition, 'type' | 'status'>[] };
}

/** The kubelet version of the fake nodes, on which support for native sidecars depends. */
const kubeletVersion = 'v1.36.3';

/** Creates fake nodes and waits until pods can be scheduled on them. */
export async function createNodes(client: ApiClient, names: readonly string[], version = kubeletVersion) {
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
        nodeInfo: { kubeletVersion: version, architecture: 'amd64', operatingSystem: 'linux' },
      },
    });
  }
  for (const name of names) await waitForNode(client, name);
}

async function waitForNode(client: ApiClient, name: string): Promise<void> {
  await waitFor(`node ${name} to be ready`, async () => {
    const node = await client.get<Node>(resourceKind('v1', 'Node'), name);
    return isTrue(node, 'Ready') && (node.spec?.taints ?? []).length === 0;
  });
}
