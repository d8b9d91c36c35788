import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { realNode } from '../certificates.ts';
import type { NodeComponent } from '../control-plane-commands.ts';
import { answersOk, type ManagedProcess } from '../managed-process.ts';
import { paths } from '../paths.ts';
import { agentImage } from './images.ts';
import { pluginFolder } from './node-lacks.ts';
import type { Sandbox } from './sandbox.ts';

const socket = '/run/containerd/containerd.sock';

/** A program of the node, and whether it answers. */
interface NodeProgram {
  process: ManagedProcess;
  isReady: () => Promise<boolean>;
}

/**
 * Returns the programs of a node in the order of their start, after it has written their files.
 *
 * @param authority the file with the CA of the API server's client certificate
 */
export function nodePrograms(
  sandbox: Sandbox,
  authority: string,
  kubeconfigFor: (client: NodeComponent & ('kubelet' | 'kube-proxy')) => string,
): Record<NodeComponent, NodeProgram> {
  const { plan, folder, execute, program } = sandbox;
  const write = (name: string, content: string | object): string => {
    const file = join(folder, name);
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content, undefined, 2));
    return file;
  };
  const network = {
    cniVersion: '1.0.0',
    name: 'pods',
    plugins: [
      {
        // Routes all traffic of a pod, so that Services work without the kernel's bridge filter.
        type: 'ptp',
        ipam: { type: 'host-local', ranges: [[{ subnet: plan.pods }]], routes: [{ dst: '0.0.0.0/0' }] },
      },
    ],
  };
  const plugins = join(folder, 'cni');
  mkdirSync(plugins);
  write('cni/pods.conflist', network);
  const containerd = write(
    'containerd.toml',
    `version = 2
[grpc]
  address = "${socket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${agentImage}"
  disable_apparmor = true
  # Root of a virtual machine may lack the right to lower the score.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${pluginFolder() ?? ''}"
    conf_dir = "${plugins}"
`,
  );
  const kubelet = write('kubelet.json', {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: plan.node,
    healthzBindAddress: plan.node,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: authority },
    },
    authorization: { mode: 'Webhook' },
    containerRuntimeEndpoint: `unix://${socket}`,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${plan.cgroup}/pods`,
    failCgroupV1: false,
    failSwapOn: false,
    localStorageCapacityIsolation: false,
    resolvConf: write('resolv.conf', ''),
    volumePluginDir: join(folder, 'volume-plugins'),
    // A developer's disk may be nearly full.
    evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '1%', 'imagefs.available': '1%' },
    imageGCHighThresholdPercent: 100,
    serializeImagePulls: false,
    syncFrequency: '10s',
    nodeStatusUpdateFrequency: '4s',
  });
  const proxy = write('kube-proxy.json', {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    clientConnection: { kubeconfig: kubeconfigFor('kube-proxy') },
    mode: 'nftables',
    clusterCIDR: plan.pods,
    hostnameOverride: realNode,
    healthzBindAddress: `${plan.node}:10256`,
    // Keep the kernel's limits.
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
  });
  const flags = [`--config=${kubelet}`, `--kubeconfig=${kubeconfigFor('kubelet')}`, `--hostname-override=${realNode}`];
  return {
    containerd: {
      process: program('containerd', ['containerd', '--config', containerd]),
      isReady: () =>
        execute('ctr', 'version').then(
          () => true,
          () => false,
        ),
    },
    kubelet: {
      process: program('kubelet', [paths.controlPlane, 'kubelet', ...flags, `--node-ip=${plan.node}`]),
      isReady: () => answersOk(`http://${plan.node}:10248/healthz`),
    },
    'kube-proxy': {
      process: program('kube-proxy', [paths.controlPlane, 'kube-proxy', `--config=${proxy}`]),
      isReady: () => answersOk(`http://${plan.node}:10256/healthz`),
    },
  };
}
