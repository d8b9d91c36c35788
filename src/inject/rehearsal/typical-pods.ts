import type { JsonObject } from '../patch/json-value.ts';

/** A kind of typical pod, as its differences from the pod of a Deployment. */
interface Kind {
  /** The description for messages, e.g. `a pod with init containers`. */
  readonly name: string;
  /** The controller that creates the pod; `none` if no controller does. */
  readonly owner: 'ReplicaSet' | 'StatefulSet' | 'DaemonSet' | 'Job' | 'CronJob' | 'none';
  readonly labels?: Readonly<Record<string, string>>;
  readonly container?: JsonObject;
  readonly spec?: JsonObject;
}

const always = 'Always';
const second = { name: 'helper', image: 'registry.example.com/helper:1.0' };
const kinds: readonly Kind[] = [
  { name: 'a pod of a Deployment', owner: 'ReplicaSet' },
  { name: 'a pod with two containers', owner: 'ReplicaSet', spec: { securityContext: { fsGroup: 1000 } } },
  { name: 'a pod of a Job', owner: 'Job', spec: { restartPolicy: 'Never' } },
  { name: 'a minimal pod', owner: 'none' },
  { name: 'a pod of a StatefulSet', owner: 'StatefulSet', spec: { subdomain: 'trial', hostname: 'trial-0' } },
  { name: 'a pod of a DaemonSet', owner: 'DaemonSet', spec: { nodeName: 'node-1' } },
  { name: 'a pod of a CronJob', owner: 'CronJob', spec: { restartPolicy: 'OnFailure' } },
  {
    name: 'a pod with probes of all kinds',
    owner: 'ReplicaSet',
    container: {
      livenessProbe: { exec: { command: ['cat', '/tmp/healthy'] } },
      readinessProbe: { grpc: { port: 9090 } },
      startupProbe: { tcpSocket: { port: 'http' }, failureThreshold: 30 },
    },
  },
  { name: 'a pod with init containers', owner: 'ReplicaSet', spec: { initContainers: [{ ...second, name: 'init' }] } },
  {
    name: 'a pod with a native sidecar',
    owner: 'ReplicaSet',
    spec: { initContainers: [{ ...second, name: 'native', restartPolicy: always }] },
  },
  {
    name: 'a pod with odd labels',
    owner: 'ReplicaSet',
    labels: {
      empty: '',
      'example.com/long': 'a'.repeat(63),
      number: '1e3',
      bool: 'true',
      'dots.and-dashes_x': '0.1_x-y',
    },
  },
];

/** A pod as the API server sends it, with a description. */
export interface TypicalPod {
  readonly kind: string;
  readonly namespace?: string;
  readonly pod: JsonObject;
}

/** A pod after injection. */
export interface InjectedPod extends TypicalPod {
  /** The pod without the changes of the templates. */
  readonly original: JsonObject;
}

/** Returns a typical pod of each kind. @param injectKey the label that requests injection */
export function typicalPods(injectKey: string): TypicalPod[] {
  return kinds.map((_, index) => typicalPod(injectKey, index));
}

/** Returns a pod whose own resources have room for an ordinary sidecar, such as Istio's. */
export function roomyPod(injectKey: string): TypicalPod {
  const { pod } = typicalPod(injectKey, 0);
  const resources = { requests: { cpu: '1', memory: '1Gi' }, limits: { cpu: '2', memory: '2Gi' } };
  const kind = 'a pod that requests 1 CPU and 1Gi itself (spec.resources)';
  return { kind, pod: { ...pod, spec: { ...(pod.spec as JsonObject), resources } } };
}

/**
 * Returns a typical pod. The index determines the kind, and names and numbers in the pod. At odd
 * indexes, most pods also have a second container, a TCP readiness probe and a security context.
 * @param injectKey the label that requests injection under any policy
 */
export function typicalPod(injectKey: string, index: number): TypicalPod {
  const kind = kinds[index % kinds.length] as Kind;
  const isOdd = index % 2 === 1;
  const name = `trial-${index % 7}`;
  const hash = (0x6d4f5b7c + index).toString(16);
  const inject = { [injectKey]: 'true' };
  const bare = { name, image: `registry.example.com/${name}:1.${index}` };
  const head = { apiVersion: 'v1', kind: 'Pod' };
  if (kind.owner === 'none')
    return { kind: kind.name, pod: { ...head, metadata: { name, labels: inject }, spec: { containers: [bare] } } };
  const probe = { httpGet: { path: '/healthz', port: 8080, scheme: 'HTTP' }, periodSeconds: 10, timeoutSeconds: 1 };
  const container = {
    ...bare,
    args: ['--verbose', `--instance=${index}`],
    ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
    env: [
      { name: 'INSTANCE', value: String(index) },
      { name: 'POD_NAME', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
    ],
    resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
    volumeMounts: [
      { name: 'scratch', mountPath: '/tmp' },
      { name: 'kube-api-access-x7k2p', readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' },
    ],
    livenessProbe: probe,
    readinessProbe: isOdd ? { tcpSocket: { port: 'http' } } : probe,
    imagePullPolicy: 'IfNotPresent',
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    ...kind.container,
  };
  // The API server's ServiceAccount plugin adds this token before webhooks are called.
  const token = { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } };
  const owner = ownerOf(kind, name, hash);
  const labels = kind.labels ?? { app: name, 'app.kubernetes.io/version': `1.${index}`, 'pod-template-hash': hash };
  return {
    kind: kind.name,
    pod: {
      ...head,
      metadata: {
        generateName: `${owner.name}-`,
        labels: { ...labels, ...inject },
        annotations: { 'example.com/checksum': hash, 'prometheus.io/scrape': String(!isOdd) },
        ownerReferences: [{ ...owner, uid: '2c2c2c60-1111-4a5b-9a44-0d8b6b0e2f11', controller: true }],
      },
      spec: {
        volumes: [
          { name: 'kube-api-access-x7k2p', projected: { sources: [token], defaultMode: 420 } },
          { name: 'scratch', emptyDir: {} },
        ],
        containers: isOdd ? [container, second] : [container],
        restartPolicy: always,
        terminationGracePeriodSeconds: 30,
        dnsPolicy: 'ClusterFirst',
        serviceAccountName: 'default',
        securityContext: isOdd ? { runAsNonRoot: true, fsGroup: 1000 } : {},
        tolerations: [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' }],
        ...kind.spec,
      },
    },
  };
}

function ownerOf({ owner }: Kind, name: string, hash: string): { apiVersion: string; kind: string; name: string } {
  if (owner === 'ReplicaSet') return { apiVersion: 'apps/v1', kind: owner, name: `${name}-${hash}` };
  if (owner === 'Job') return { apiVersion: 'batch/v1', kind: owner, name };
  // A CronJob names its Jobs by minutes since 1970.
  return owner === 'CronJob'
    ? { apiVersion: 'batch/v1', kind: 'Job', name: `${name}-29394720` }
    : { apiVersion: 'apps/v1', kind: owner, name };
}
