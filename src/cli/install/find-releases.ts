import { gunzipSync } from 'node:zlib';
import { group } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { labelNames } from '../../api/names.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { resourceKind } from '../../kube/resource-kinds.ts';
import { secrets } from '../../operator/cluster-view.ts';
import { listWhereKnown } from '../usage/installation.ts';

export const chartName = 'injector-operator';
/** Who manages the objects of `injector install`: the value of their label, where helm writes `Helm`. */
export const installer = 'injector';
/** Objects of `injector install` say in annotations to which release they belong, as NAMESPACE/NAME, and of which version it is. */
export const releaseAnnotations = { release: `${group}/release`, version: `${group}/version` } as const;

/** A label that every object of the chart has, whoever applied it. */
export const chartLabel = 'helm.sh/chart';
const instanceLabel = 'app.kubernetes.io/instance';

/** The chart on a cluster: helm's release, ours, or manifests that somebody else has applied. */
export interface InstalledRelease {
  readonly name: string;
  readonly namespace: string;
  readonly isHelms: boolean;
  /** Undefined when its Deployments are gone. */
  readonly operatorClass: string | undefined;
  /** With the Secrets in which helm keeps the release. */
  readonly objects: readonly KubernetesObject[];
}

/** The kinds of the chart's objects. */
export const chartKinds = [
  ['v1', 'Namespace', 'ConfigMap', 'Service', 'ServiceAccount'],
  ['apps/v1', 'Deployment'],
  ['rbac.authorization.k8s.io/v1', 'ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
  ['policy/v1', 'PodDisruptionBudget'],
  ['autoscaling/v2', 'HorizontalPodAutoscaler'],
  ['networking.k8s.io/v1', 'NetworkPolicy'],
  ['monitoring.coreos.com/v1', 'PrometheusRule'],
  ['monitoring.coreos.com/v1', 'ServiceMonitor'],
  ['admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration'],
  ['admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'],
].flatMap(([apiVersion = '', ...kinds]) => kinds.map((kind) => resourceKind(apiVersion, kind)));

/** Finds every release of our chart by the labels of its objects, and by helm's records. */
export async function findReleases(client: Pick<ApiClient, 'listAll'>): Promise<InstalledRelease[]> {
  const lists = await Promise.all(chartKinds.map((kind) => listWhereKnown(client, kind, chartLabel)));
  const isOurs = ({ kind, metadata: { labels = {}, deletionTimestamp } }: KubernetesObject): boolean =>
    labels[chartLabel]?.startsWith(`${chartName}-`) === true &&
    (kind !== 'Namespace' || deletionTimestamp === undefined);
  // Each holds a whole chart.
  const { items } = await client.listAll(secrets, { fieldSelector: 'type=helm.sh/release.v1', limit: 25 });
  const objects = [...lists.flat().filter(isOurs), ...items.filter((record) => chartOfRecord(record) === chartName)];
  return [...new Set(objects.flatMap((object) => keyOf(object) ?? []))].sort().map((key) => {
    const [namespace = '', name = ''] = key.split('/');
    // Manifests that were merely applied do not say to which release an object of the whole cluster belongs, but their names do.
    const isNamedSo = ({ metadata }: KubernetesObject): boolean =>
      metadata.labels?.[instanceLabel] === name &&
      `${metadata.namespace ?? ''} ${metadata.name ?? ''}`.includes(namespace);
    const own = objects.filter((each) => (keyOf(each) ?? (isNamedSo(each) ? key : '')) === key);
    const isHelms = own.some((each) => each.kind === 'Secret' || releaseOfHelm(each) !== undefined);
    return { name, namespace, isHelms, operatorClass: operatorClassOf(own), objects: own };
  });
}

/** The operator class of the Deployments among some objects. */
export function operatorClassOf(objects: readonly KubernetesObject[]): string | undefined {
  type PodTemplate = { spec: { containers: { args?: string[] }[] } };
  return objects
    .filter(({ kind }) => kind === 'Deployment')
    .flatMap(({ spec }) => (spec as { template: PodTemplate }).template.spec.containers)
    .flatMap(({ args = [] }) => args)
    .find((arg) => arg.startsWith('--operator-class='))
    ?.split('=')[1];
}

/** NAMESPACE/NAME of the release to which an object belongs, as far as it says. */
function keyOf(object: KubernetesObject): string | undefined {
  const { labels = {}, annotations = {}, namespace = '' } = object.metadata;
  if (object.kind === 'Secret') return `${namespace}/${labels['name'] ?? ''}`;
  const own = releaseOfHelm(object) ?? annotations[releaseAnnotations.release];
  return own ?? (object.kind === 'Deployment' ? `${namespace}/${labels[instanceLabel] ?? ''}` : undefined);
}

/** Of what was moved from one to the other the label says who manages it now. */
function releaseOfHelm({ metadata: { labels = {}, annotations = {} } }: KubernetesObject): string | undefined {
  const { 'meta.helm.sh/release-name': name, 'meta.helm.sh/release-namespace': namespace = '' } = annotations;
  return name === undefined || labels[labelNames.managedBy] === installer ? undefined : `${namespace}/${name}`;
}

/** The chart of helm's record of a release: gzipped JSON, which is in base64 twice. */
function chartOfRecord({ data }: KubernetesObject): string | undefined {
  const once = Buffer.from((data as { release?: string } | undefined)?.release ?? '', 'base64').toString();
  const release = JSON.parse(gunzipSync(Buffer.from(once, 'base64')).toString()) as Record<string, unknown>;
  return (release['chart'] as { metadata?: { name?: string } } | undefined)?.metadata?.name;
}

/** `Kind namespace/name`. */
export function nameOf({ kind, metadata: { namespace, name = '' } }: KubernetesObject): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}
