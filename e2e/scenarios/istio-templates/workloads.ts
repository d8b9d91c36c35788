import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import type { ApiClient } from '../../../src/kube/api-client.ts';
import type { Pod } from '../../harness/pod.ts';
import { podsOf } from '../../harness/workloads.ts';

export const workloadKinds = ['Deployment', 'StatefulSet', 'DaemonSet', 'Job', 'CronJob'] as const;
export type WorkloadKind = (typeof workloadKinds)[number];

/** Creates a workload; its controllers create the pods. A CronJob believes that it has last run two minutes ago, and so need not be waited for. */
export async function createWorkload(client: ApiClient, kind: WorkloadKind, namespace: string): Promise<void> {
  const object = workload(kind, namespace);
  await client.create(object);
  if (kind !== 'CronJob') return;
  const lastScheduleTime = `${new Date(Date.now() - 120_000).toISOString().slice(0, 19)}Z`;
  await client.patch(object, 'merge', { status: { lastScheduleTime } }, { subresource: 'status' });
}

/** A workload of one container with ports, probes and a life cycle, which templates of a proxy look at. */
function workload(kind: WorkloadKind, namespace: string): KubernetesObject {
  const app = appOf(kind);
  const selector = { matchLabels: { app } };
  const isJob = kind === 'Job' || kind === 'CronJob';
  const template = {
    metadata: { labels: { app, version: 'v1' }, annotations: { 'e2e.sidecar-injector.io/kind': kind } },
    spec: { containers: [container], terminationGracePeriodSeconds: 5, ...(isJob ? { restartPolicy: 'Never' } : {}) },
  };
  const [apiVersion, spec] = {
    Deployment: ['apps/v1', { replicas: 2, selector, template }],
    StatefulSet: ['apps/v1', { replicas: 2, selector, template, serviceName: app }],
    DaemonSet: ['apps/v1', { selector, template }],
    Job: ['batch/v1', { template }],
    CronJob: ['batch/v1', { schedule: '* * * * *', jobTemplate: { spec: { template } } }],
  }[kind] as [string, object];
  return { apiVersion, kind, metadata: { name: app, namespace }, spec };
}

const container = {
  name: 'app',
  image: 'registry.example.com/app:1',
  ports: [{ name: 'http', containerPort: 8080 }, { containerPort: 9090 }],
  readinessProbe: { httpGet: { path: '/ready', port: 'http' } },
  livenessProbe: { tcpSocket: { port: 9090 }, periodSeconds: 5 },
  resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { memory: '0.5Gi' } },
};

/** The pods of a workload in two namespaces, each with its twin; undefined while there are fewer than `least`. */
export async function twins(
  client: ApiClient,
  kind: WorkloadKind,
  [plain, injected]: readonly [string, string],
  least: number,
): Promise<{ twin: Pod; pod: Pod }[] | undefined> {
  const [some, others] = await Promise.all([podsOf(client, plain, appOf(kind)), podsOf(client, injected, appOf(kind))]);
  const pairs = some.flatMap((twin) => {
    const pod = others.find((each) => placeOf(kind, each) === placeOf(kind, twin));
    // Of pods that are all alike any is the twin of any; each serves once.
    if (pod === undefined) return [];
    others.splice(others.indexOf(pod), 1);
    return [{ twin, pod }];
  });
  return pairs.length < least ? undefined : pairs;
}

/** What tells pods of one workload apart: their node, their number, or their Job, which is named after the minute. */
function placeOf(kind: WorkloadKind, { metadata, spec }: Pod): string {
  if (kind === 'DaemonSet') return JSON.stringify(spec.affinity);
  if (kind === 'StatefulSet') return metadata.name ?? '';
  return kind === 'CronJob' ? (metadata.ownerReferences?.[0]?.name ?? '') : '';
}

function appOf(kind: WorkloadKind): string {
  return `shop-${kind.toLowerCase()}`;
}
