import type { JsonObject } from '../../inject/patch/json-value.ts';

/** After so many, trial pods differ in names and numbers only. */
export const trialPodKinds = 6;

/**
 * Pods as most are: what a new configuration is tried with before anybody's pod meets it. None asks for anything special, and each differs from the others where pods of one
 * workload, and workloads, do.
 * @param injectKey the label that asks for injection whatever the policy is
 */
export function trialPod(injectKey: string, index: number): JsonObject {
  const isEven = index % 2 === 0;
  const name = `trial-${index % 7}`;
  const revision = (0x6d4f5b7c + index).toString(16);
  const owner =
    index % 3 === 2
      ? { apiVersion: 'batch/v1', kind: 'Job', name }
      : { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `${name}-${revision}` };
  const probe = { httpGet: { path: '/healthz', port: 8080, scheme: 'HTTP' }, periodSeconds: 10, timeoutSeconds: 1 };
  const tokenPath = '/var/run/secrets/kubernetes.io/serviceaccount';
  const container = {
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
      { name: 'kube-api-access-x7k2p', readOnly: true, mountPath: tokenPath },
    ],
    livenessProbe: probe,
    readinessProbe: isEven ? probe : { tcpSocket: { port: 'http' } },
    imagePullPolicy: 'IfNotPresent',
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  };
  const helper = { name: 'helper', image: `registry.example.com/helper:${index}` };
  // As the API server's ServiceAccount admission adds it, before it asks webhooks.
  const token = { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } };
  const labels = { app: name, 'app.kubernetes.io/version': `1.${index}`, 'pod-template-hash': revision };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: `${owner.name}-`,
      labels: { ...labels, [injectKey]: 'true' },
      annotations: { 'example.com/checksum': revision, 'prometheus.io/scrape': String(isEven) },
      ownerReferences: [{ ...owner, uid: '2c2c2c60-1111-4a5b-9a44-0d8b6b0e2f11', controller: true }],
    },
    spec: {
      volumes: [
        { name: 'kube-api-access-x7k2p', projected: { sources: [token], defaultMode: 420 } },
        { name: 'scratch', emptyDir: {} },
      ],
      containers: isEven ? [container] : [container, helper],
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      serviceAccountName: 'default',
      securityContext: isEven ? {} : { runAsNonRoot: true, fsGroup: 1000 },
      tolerations: [{ key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' }],
    },
  };
}
