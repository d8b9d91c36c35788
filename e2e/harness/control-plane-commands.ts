import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClientName, createClusterCertificates } from './certificates.ts';
import { freePort } from './free-port.ts';

export const componentNames = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kwok'] as const;
type ControlPlaneComponent = (typeof componentNames)[number];
/** The programs of a real node, which replace KWOK. */
export const nodeComponents = ['containerd', 'kubelet', 'kube-proxy'] as const;
export type NodeComponent = (typeof nodeComponents)[number];
export type ComponentName = ControlPlaneComponent | NodeComponent;

export function isNodeComponent(name: ComponentName): name is NodeComponent {
  return (nodeComponents as readonly string[]).includes(name);
}

/** The addresses of a control plane without a real node. */
export const loopback = { machine: '127.0.0.1', services: '10.96.0.0/16', apiService: '10.96.0.1' };

/** Whether the operator gets only v1beta1 of MutatingAdmissionPolicies; see e2e/README.md. */
export const isBetaOfPolicies = process.env['KUBERNETES_POLICIES'] === 'v1beta1';

export async function choosePorts() {
  return {
    etcd: await freePort(),
    etcdPeer: await freePort(),
    apiServer: await freePort(),
    controllerManager: await freePort(),
    scheduler: await freePort(),
    kwok: await freePort(),
  };
}

type Ports = Awaited<ReturnType<typeof choosePorts>>;

/** Returns the URL of each component's health probe. */
export function probeUrls(ports: Ports, machine: string): Record<ControlPlaneComponent, string> {
  return {
    etcd: `http://127.0.0.1:${ports.etcd}/health`,
    'kube-apiserver': `https://${machine}:${ports.apiServer}/readyz`,
    'kube-controller-manager': `https://127.0.0.1:${ports.controllerManager}/healthz`,
    'kube-scheduler': `https://127.0.0.1:${ports.scheduler}/readyz`,
    kwok: `http://127.0.0.1:${ports.kwok}/healthz`,
  };
}

/** Returns the path of the audit log in a control plane's directory. */
export function auditLogFile(directory: string): string {
  return join(directory, 'audit.log');
}

/**
 * Returns the arguments that follow each component's name. Admission plugins, authorization and
 * feature gates are those of kubeadm. Client rate limits are raised so that no test waits for them.
 *
 * @param kubeconfigFor writes the kubeconfig for a client of the API server and returns its path
 * @param addresses where the API server listens, and the addresses of Services
 */
export function componentArguments(
  directory: string,
  ports: Ports,
  certificates: Awaited<ReturnType<typeof createClusterCertificates>>,
  kubeconfigFor: (client: ClientName) => string,
  addresses: typeof loopback,
): Record<ControlPlaneComponent, string[]> {
  const serving = [
    `--tls-cert-file=${certificates.serving.certificate}`,
    `--tls-private-key-file=${certificates.serving.key}`,
  ];
  const { KUBERNETES_EMULATED: emulated } = process.env;
  const emulation = emulated === undefined ? [] : [`--emulated-version=${emulated}`];
  // As in 1.34 and 1.35 when an administrator enables the API. The plugin of 1.36 itself reads v1.
  const beta = [
    '--runtime-config=admissionregistration.k8s.io/v1beta1=true',
    '--feature-gates=MutatingAdmissionPolicy=true',
    '--emulation-forward-compatible=true',
  ];
  const etcdUrl = `http://127.0.0.1:${ports.etcd}`;
  const etcdPeerUrl = `http://127.0.0.1:${ports.etcdPeer}`;
  return {
    etcd: [
      `--data-dir=${join(directory, 'etcd')}`,
      `--listen-client-urls=${etcdUrl}`,
      `--advertise-client-urls=${etcdUrl}`,
      `--listen-peer-urls=${etcdPeerUrl}`,
      `--initial-advertise-peer-urls=${etcdPeerUrl}`,
      `--initial-cluster=default=${etcdPeerUrl}`,
      '--log-level=warn',
      // The data is temporary, and the page cache keeps the writes of a killed process.
      '--unsafe-no-fsync=true',
      // For 100,000 pods and their last versions; by default 2 GiB.
      `--quota-backend-bytes=${8 * 2 ** 30}`,
    ],
    'kube-apiserver': [
      ...emulation,
      ...(isBetaOfPolicies ? beta : []),
      `--etcd-servers=${etcdUrl}`,
      `--bind-address=${addresses.machine}`,
      `--advertise-address=${addresses.machine}`,
      // 127.0.0.1 is not a valid endpoint of the Service `kubernetes`, which fake pods do not use.
      `--endpoint-reconciler-type=${addresses === loopback ? 'none' : 'lease'}`,
      // For the logs of real pods.
      '--kubelet-preferred-address-types=InternalIP',
      `--kubelet-client-certificate=${certificates.clients.admin.certificate}`,
      `--kubelet-client-key=${certificates.clients.admin.key}`,
      `--secure-port=${ports.apiServer}`,
      ...serving,
      `--client-ca-file=${certificates.authority.certificate}`,
      '--authorization-mode=Node,RBAC',
      '--enable-admission-plugins=NodeRestriction',
      '--allow-privileged=true',
      '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
      `--service-account-key-file=${certificates.serviceAccountKey.certificate}`,
      `--service-account-signing-key-file=${certificates.serviceAccountKey.key}`,
      `--service-cluster-ip-range=${addresses.services}`,
      // The API server must call webhooks at the address or external name of their Service.
      '--enable-aggregator-routing=false',
      `--audit-policy-file=${join(import.meta.dirname, 'audit-policy.yaml')}`,
      `--audit-log-path=${auditLogFile(directory)}`,
      // Write each record before the response is sent, so that the client finds the record.
      '--audit-log-mode=blocking-strict',
      // Prevent rotation (by default after 100 MB), because readers follow a single file.
      '--audit-log-maxsize=100000',
    ],
    'kube-controller-manager': [
      ...emulation,
      `--kubeconfig=${kubeconfigFor('controller-manager')}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${ports.controllerManager}`,
      ...serving,
      '--leader-elect=false',
      // Fake nodes have no heartbeat: KWOK holds no Leases.
      ...(addresses === loopback ? ['--node-monitor-grace-period=24h'] : []),
      // Each controller uses its own ServiceAccount, as in a real cluster. The audit log shows it.
      '--use-service-account-credentials=true',
      `--service-account-private-key-file=${certificates.serviceAccountKey.key}`,
      `--root-ca-file=${certificates.authority.certificate}`,
      `--cluster-signing-cert-file=${certificates.authority.certificate}`,
      `--cluster-signing-key-file=${certificates.authority.key}`,
      '--kube-api-qps=1000',
      '--kube-api-burst=2000',
      '--concurrent-deployment-syncs=20',
      '--concurrent-replicaset-syncs=20',
      '--concurrent-namespace-syncs=20',
      '--horizontal-pod-autoscaler-sync-period=1s',
    ],
    'kube-scheduler': [
      ...emulation,
      `--config=${writeSchedulerConfiguration(directory, kubeconfigFor('scheduler'))}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${ports.scheduler}`,
      ...serving,
    ],
    kwok: [
      `--kubeconfig=${kubeconfigFor('kwok')}`,
      `--config=${join(import.meta.dirname, 'kwok-stages.yaml')}`,
      '--manage-all-nodes=true',
      // With Leases, a restarted KWOK waits for those of the previous one, and then overlooks pods
      // that were bound meanwhile: it lists them before its cache knows that it holds the Lease.
      '--node-lease-duration-seconds=0',
      '--cidr=10.244.0.0/16',
      '--node-ip=10.0.0.1',
      `--server-address=127.0.0.1:${ports.kwok}`,
    ],
  };
}

/** Writes a file, because the scheduler has no flags for the rate limits of its client. */
function writeSchedulerConfiguration(directory: string, kubeconfig: string): string {
  const file = join(directory, 'scheduler.json');
  const configuration = {
    apiVersion: 'kubescheduler.config.k8s.io/v1',
    kind: 'KubeSchedulerConfiguration',
    clientConnection: { kubeconfig, qps: 1000, burst: 2000 },
    leaderElection: { leaderElect: false },
  };
  writeFileSync(file, JSON.stringify(configuration, undefined, 2));
  return file;
}
