import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { cpuSecondsOf } from '../../scripts/test/account.ts';
import { createClusterCertificates, type ClientName } from './certificates.ts';
import {
  auditLogFile,
  choosePorts,
  componentArguments,
  componentNames,
  isNodeComponent,
  loopback,
  nodeComponents,
  probeUrls,
  type ComponentName,
} from './control-plane-commands.ts';
import { answersOk, ManagedProcess } from './managed-process.ts';
import { nodeImages } from './node/images.ts';
import { nodePrograms } from './node/node-programs.ts';
import { openSandbox } from './node/sandbox.ts';
import { paths } from './paths.ts';
import type { RunDirectory } from './run-directory.ts';

const startTimeout = 90_000;

export interface ControlPlaneOptions {
  /** Programs to run instead of all built components. */
  found?: FoundPrograms | undefined;
  /** Whether a real node replaces KWOK. */
  realNode?: boolean | undefined;
}

/** Programs on this machine that suffice for an API server without other components. */
export interface FoundPrograms {
  etcd: string;
  'kube-apiserver': string;
}

/** Finds both programs in KUBEBUILDER_ASSETS or on the PATH, as envtest does. */
export function findPrograms(): FoundPrograms | undefined {
  const { KUBEBUILDER_ASSETS: assets = '', PATH: path = '' } = process.env;
  const folders = [assets, ...path.split(delimiter)].filter((folder) => folder !== '');
  const find = (program: string) => folders.map((folder) => join(folder, program)).find((file) => existsSync(file));
  const [etcd, apiServer] = [find('etcd'), find('kube-apiserver')];
  return etcd === undefined || apiServer === undefined ? undefined : { etcd, 'kube-apiserver': apiServer };
}

/** Calls a method of etcd's KV service through its gRPC gateway, with bytes as base64. */
export type EtcdCall = (method: 'range' | 'txn' | 'compaction', request: unknown) => Promise<unknown>;

/**
 * Starts etcd and the API server, then all other components. Resolves when they are ready (5 s).
 *
 * @throws Error with the end of the failed component's log, after all components are stopped
 */
export async function startControlPlane(run: RunDirectory, { found, realNode = false }: ControlPlaneOptions = {}) {
  if (found === undefined && !existsSync(paths.controlPlane))
    throw new Error(`${paths.controlPlane} is missing: build it first (e2e/harness/build.ts)`);
  const { path: directory } = run;
  const images = realNode ? await nodeImages(console.log) : [];
  const sandbox = realNode ? await openSandbox(run) : undefined;
  const addresses = sandbox?.plan ?? loopback;
  const [certificates, ports] = await Promise.all([
    createClusterCertificates(join(directory, 'certificates'), [
      ...new Set(['127.0.0.1', addresses.machine, addresses.apiService]),
    ]),
    choosePorts(),
  ]);
  const embed = (path: string) => readFileSync(path).toString('base64');
  const server = `https://${addresses.machine}:${ports.apiServer}`;
  const cluster = { server, 'certificate-authority-data': embed(certificates.authority.certificate) };
  const kubeconfigFor = (client: ClientName) => {
    const file = join(directory, client === 'admin' ? 'kubeconfig' : `${client}.kubeconfig`);
    const { certificate, key } = certificates.clients[client];
    const credentials = { 'client-certificate-data': embed(certificate), 'client-key-data': embed(key) };
    return writeKubeconfig(file, { cluster, user: client, credentials });
  };
  const kubeconfig = kubeconfigFor('admin');
  const commands = componentArguments(directory, ports, certificates, kubeconfigFor, addresses);
  // Without controllers, the ServiceAccounts that the ServiceAccount plugin requires are missing.
  if (found !== undefined) commands['kube-apiserver'].push('--disable-admission-plugins=ServiceAccount');
  const first = componentNames.slice(0, 2);
  const rest = found === undefined ? componentNames.slice(2).filter((name) => name !== 'kwok' || !realNode) : [];
  const processes = Object.fromEntries(
    [...first, ...rest].map((name) => [
      name,
      new ManagedProcess({
        name,
        command: (found as Partial<Record<ComponentName, string>> | undefined)?.[name] ?? paths.controlPlane,
        arguments: found === undefined ? [name, ...commands[name]] : commands[name],
        run,
        // Collect garbage less often: a tenth less CPU time, for more memory. Without the limit,
        // the API server takes 6.4 GB with 30,000 pods.
        environment: { GOGC: '400', GOMEMLIMIT: '6GiB' },
      }),
    ]),
  ) as Record<ComponentName, ManagedProcess>;
  const node = sandbox && nodePrograms(sandbox, certificates.authority.certificate, kubeconfigFor);
  for (const name of nodeComponents) if (node !== undefined) processes[name] = node[name].process;
  const component = (name: ComponentName) => processes[name];
  const probes = probeUrls(ports, addresses.machine);
  const authority = readFileSync(certificates.authority.certificate, 'utf8');
  const answers = (name: ComponentName) =>
    isNodeComponent(name) ? (node?.[name].isReady() ?? Promise.resolve(false)) : answersOk(probes[name], authority);
  const starts: { from: number; until: number }[] = [];
  const restart = async (name: ComponentName) => {
    const from = Date.now();
    component(name).start();
    await component(name).waitUntilReady(() => answers(name), startTimeout);
    if (name === 'kube-apiserver') starts.push({ from, until: Date.now() });
  };
  const everything = [...Object.values(processes), ...(sandbox === undefined ? [] : [sandbox.process])];
  const stop = () => Promise.all(everything.map((each) => each.kill()));
  const importImages = async () => {
    if (sandbox === undefined) return;
    await restart('containerd');
    for (const image of images) await sandbox.execute('ctr', '--namespace', 'k8s.io', 'images', 'import', ...image);
  };
  const etcd: EtcdCall = async (method, request) => {
    const url = `http://127.0.0.1:${ports.etcd}/v3/kv/${method}`;
    const answer = await fetch(url, { method: 'POST', body: JSON.stringify(request) });
    if (!answer.ok) throw new Error(`etcd failed at ${method}: ${answer.status} ${await answer.text()}`);
    return await answer.json();
  };
  try {
    await Promise.all([...first.map(restart), importImages()]);
    await Promise.all([...rest, ...(realNode ? (['kubelet', 'kube-proxy'] as const) : [])].map(restart));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    kubeconfig,
    auditLog: auditLogFile(directory),
    component,
    restart,
    /** The API server's starts (ms since 1970), during which RBAC denies requests. */
    starts,
    /** The CPU seconds of the running components; undefined where the system has no /proc. */
    cpuSeconds: () => {
      const used = Object.values(processes).map(({ pid = 0 }) => cpuSecondsOf(pid));
      return used.reduce<number | undefined>(
        (sum, each) => (each === undefined ? sum : (sum ?? 0) + each.own),
        undefined,
      );
    },
    etcd,
    /** Compacts etcd: discards all older revisions. */
    compact: async (revision: number) => {
      // etcd's gRPC gateway represents 64-bit numbers as strings.
      await etcd('compaction', { revision: String(revision), physical: true });
    },
    /** Kills all processes. A graceful stop is not needed, because their data is deleted. */
    stop,
    /** Lets the calling process end while the control plane keeps running. */
    release: () => {
      for (const each of everything) each.release();
    },
    /** The namespaces of the real node. */
    sandbox,
  };
}

export type ControlPlane = Awaited<ReturnType<typeof startControlPlane>>;

/** The variable parts of a kubeconfig: cluster (server, CA), user and credentials. */
interface KubeconfigParts {
  cluster: { server: string; [field: string]: unknown };
  user: string;
  credentials: Record<string, string>;
  namespace?: string;
}

/** Writes a kubeconfig that only its owner can read, as JSON (valid YAML). */
export function writeKubeconfig(file: string, { cluster, user, credentials, namespace }: KubeconfigParts): string {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'cluster', cluster }],
    users: [{ name: user, user: credentials }],
    contexts: [{ name: 'cluster', context: { cluster: 'cluster', user, namespace } }],
    'current-context': 'cluster',
  };
  writeFileSync(file, JSON.stringify(config, undefined, 2), { mode: 0o600 });
  return file;
}
