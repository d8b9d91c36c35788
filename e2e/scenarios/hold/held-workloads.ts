import type { KubernetesObject } from '../../../src/api/kubernetes/kubernetes.ts';
import { gatePrefix } from '../../../src/api/names.ts';
import { resourceKind } from '../../../src/kube/resource-kinds.ts';
import { objectOf } from '../../harness/apply.ts';
import type { Pod } from '../../harness/pod.ts';
import type { ScenarioContext } from '../../harness/scenario-context.ts';
import { barePod, deployment } from '../../harness/workloads.ts';

/** A workload, and the number of pods that it has when it is complete. */
export interface HeldWorkload {
  readonly object: KubernetesObject;
  readonly pods: number;
}

export const jobs = resourceKind('batch/v1', 'Job');
export const pods = resourceKind('v1', 'Pod');

/** A pod's spec for the template of a workload. */
function template(name: string, spec: Record<string, unknown> = {}, annotations: Record<string, string> = {}) {
  return { metadata: { labels: { app: name }, annotations }, spec: { ...barePod('', name).spec, ...spec } };
}

function set(kind: 'StatefulSet' | 'DaemonSet', namespace: string, name: string, pods: number): HeldWorkload {
  const ofStatefulSet = { replicas: pods, serviceName: name, podManagementPolicy: 'Parallel' };
  const own = kind === 'StatefulSet' ? ofStatefulSet : {};
  const spec = { ...own, selector: { matchLabels: { app: name } }, template: template(name) };
  return { object: { ...objectOf('apps/v1', kind, name, namespace), spec }, pods };
}

/** @param endless whether the pods run until their annotation is removed */
export function job(
  namespace: string,
  name: string,
  completions: number,
  fields: Record<string, unknown>,
  endless = false,
): HeldWorkload {
  const annotations: Record<string, string> = endless ? { 'e2e.sidecar-injector.io/outcome': 'unready' } : {};
  const spec = {
    completions,
    parallelism: completions,
    ...fields,
    template: template(name, { restartPolicy: 'Never' }, annotations),
  };
  return { object: { ...objectOf('batch/v1', 'Job', name, namespace), spec }, pods: completions };
}

/** Returns a CronJob that starts a Job with one pod each minute. */
export function cronJob(namespace: string, name: string): KubernetesObject {
  const jobTemplate = { spec: { backoffLimit: 0, template: template(name, { restartPolicy: 'Never' }) } };
  return { ...objectOf('batch/v1', 'CronJob', name, namespace), spec: { schedule: '* * * * *', jobTemplate } };
}

/** Returns workloads of all kinds with about `total` pods. */
export function workloads(namespace: string, prefix: string, total: number, nodes: number): HeldWorkload[] {
  const share = Math.max(2, Math.ceil((total - nodes) / 6));
  return [
    { object: deployment(namespace, `${prefix}-web`, { replicas: share }), pods: share },
    set('StatefulSet', namespace, `${prefix}-store`, share),
    set('DaemonSet', namespace, `${prefix}-agent`, nodes),
    job(namespace, `${prefix}-once`, share, { backoffLimit: 0 }),
    job(namespace, `${prefix}-retried`, share, { backoffLimit: 6 }),
    job(namespace, `${prefix}-indexed`, share, { backoffLimit: 0, completionMode: 'Indexed' }),
    { object: deployment(namespace, `${prefix}-other`, { replicas: share }), pods: share },
  ];
}

export async function podsIn({ client }: ScenarioContext, namespace: string): Promise<Pod[]> {
  return (await client.listAll<Pod>(pods, { namespace })).items;
}

/** Returns our gates of a pod. */
export function gatesOf(pod: Pod): string[] {
  const { schedulingGates = [] } = pod.spec as { schedulingGates?: { name: string }[] };
  return schedulingGates.map(({ name }) => name).filter((name) => name.startsWith(gatePrefix));
}

/** Reports whether a pod has one of our gates. */
export function isHeld(pod: Pod): boolean {
  return gatesOf(pod).length > 0;
}

export function objectName({ metadata }: Pick<KubernetesObject, 'metadata'>): string {
  return metadata.name ?? '';
}

export function hasSidecar(pod: Pod, name: string): boolean {
  return pod.spec.containers.some((container) => container.name === name);
}

/** Reports whether a Job has a condition `Failed`, or has counted a failed pod. */
export function hasFailed({ status }: KubernetesObject): boolean {
  const { conditions = [], failed = 0 } = (status ?? {}) as {
    conditions?: { type: string; status: string }[];
    failed?: number;
  };
  return failed > 0 || conditions.some((each) => each.type === 'Failed' && each.status === 'True');
}
