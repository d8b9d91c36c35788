import type { JsonObject } from '../../inject/patch/json-value.ts';

/** After so many, trial pods differ in names and numbers only. */
export const trialPodKinds = 6;

/**
 * Pods as most are: what a new configuration is tried with before anybody's pod meets it. None asks for anything special, and each differs from the others where pods of one
 * workload, and workloads, do.
 * @param injectKey the label that asks for injection whatever the policy is
 */
export function trialPod(injectKey: string, index: number): JsonObject {
  const name = `trial-${index % 7}`;
  const revision = (0x6d4f5b7c + index).toString(16);
  const owner = index % 3 === 2 ? job(name) : replicaSet(`${name}-${revision}`);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: `${owner.name}-`,
      labels: {
        app: name,
        'app.kubernetes.io/version': `1.${index}`,
        'pod-template-hash': revision,
        [injectKey]: 'true',
      },
      annotations: {
        'example.com/checksum': revision,
        'prometheus.io/scrape': index % 2 === 0 ? 'true' : 'false',
      },
      ownerReferences: [{ ...owner, uid: '2c2c2c60-1111-4a5b-9a44-0d8b6b0e2f11', controller: true }],
    },
    spec: {
      volumes: [serviceAccountToken, { name: 'scratch', emptyDir: {} }],
      containers: [
        container(name, index),
        ...(index % 2 === 0 ? [] : [{ name: 'helper', image: `registry.example.com/helper:${index}` }]),
      ],
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      serviceAccountName: 'default',
      serviceAccount: 'default',
      securityContext: index % 2 === 0 ? {} : { runAsNonRoot: true, fsGroup: 1000 },
      schedulerName: 'default-scheduler',
      tolerations: [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' }],
      enableServiceLinks: true,
      preemptionPolicy: 'PreemptLowerPriority',
    },
  };
}

interface Owner extends JsonObject {
  readonly name: string;
}

function replicaSet(name: string): Owner {
  return { apiVersion: 'apps/v1', kind: 'ReplicaSet', name };
}

function job(name: string): Owner {
  return { apiVersion: 'batch/v1', kind: 'Job', name };
}

function container(name: string, index: number): JsonObject {
  const probe = { httpGet: { path: '/healthz', port: 8080, scheme: 'HTTP' }, periodSeconds: 10, timeoutSeconds: 1 };
  return {
    name,
    image: `registry.example.com/${name}:1.${index}`,
    args: ['--verbose', `--instance=${index}`],
    ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
    env: [
      { name: 'INSTANCE', value: String(index) },
      { name: 'POD_NAME', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
    ],
    resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
    volumeMounts: [
      { name: 'scratch', mountPath: '/tmp' },
      {
        name: serviceAccountToken.name,
        readOnly: true,
        mountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
      },
    ],
    livenessProbe: probe,
    readinessProbe: index % 2 === 0 ? probe : { tcpSocket: { port: 'http' } },
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: 'IfNotPresent',
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  };
}

/** As the API server's ServiceAccount admission adds it, before it asks webhooks. */
const serviceAccountToken = {
  name: 'kube-api-access-x7k2p',
  projected: {
    sources: [
      { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    ],
    defaultMode: 420,
  },
};
