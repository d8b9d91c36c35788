import { gunzipSync } from 'node:zlib';
import { group } from '../../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';
import { labelNames } from '../../api/names.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import { resourceKind } from '../../kube/resource-kinds.ts';
import { secrets } from '../../operator/cluster-view.ts';
import { listWhereKnown } from '../usage/installation.ts';

export const chartName = 'injector-operator';
/** The managed-by label of objects that `injector install` applies; helm writes `Helm`. */
export const installer = 'injector';
/** The annotations that `injector install` writes: the release (NAMESPACE/NAME) and the version. */
export const releaseAnnotations = { release: `${group}/release`, version: `${group}/version` } as const;

/** A label of every object of the chart. */
export const chartLabel = 'helm.sh/chart';
const instanceLabel = 'app.kubernetes.io/instance';

/** An installation of the chart: by helm, by `injector install`, or from applied manifests. */
export interface InstalledRelease {
  readonly name: string;
  readonly namespace: string;
  readonly isHelmRelease: boolean;
  /** Undefined if the release has no Deployments. */
  readonly operatorClass: string | undefined;
  /** The objects, including the Secrets in which helm stores the release. */
  readonly objects: readonly KubernetesObject[];
}

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

/** Finds all releases of our chart from the labels of objects and from helm's Secrets. */
export async function findReleases(client: Pick<ApiClient, 'listAll'>): Promise<InstalledRelease[]> {
  const lists = await Promise.all(chartKinds.map((kind) => listWhereKnown(client, kind, chartLabel)));
  const isOurs = ({ kind, metadata: { labels = {}, deletionTimestamp } }: KubernetesObject): boolean =>
    labels[chartLabel]?.startsWith(`${chartName}-`) === true &&
    (kind !== 'Namespace' || deletionTimestamp === undefined);
  // A small page, because each Secret contains a whole chart.
  const { items } = await client.listAll(secrets, { fieldSelector: 'type=helm.sh/release.v1', limit: 25 });
  const objects = [...lists.flat().filter(isOurs), ...items.filter((record) => chartOfRecord(record) === chartName)];
  return [...new Set(objects.flatMap((object) => keyOf(object) ?? []))].sort().map((key) => {
    const [namespace = '', name = ''] = key.split('/');
    // In applied manifests, a cluster-wide object states the release namespace only in its name.
    const isNamedAsRelease = ({ metadata }: KubernetesObject): boolean =>
      metadata.labels?.[instanceLabel] === name &&
      `${metadata.namespace ?? ''} ${metadata.name ?? ''}`.includes(namespace);
    const own = objects.filter((each) => (keyOf(each) ?? (isNamedAsRelease(each) ? key : '')) === key);
    const isHelmRelease = own.some((each) => each.kind === 'Secret' || releaseOfHelm(each) !== undefined);
    return { name, namespace, isHelmRelease, operatorClass: operatorClassOf(own), objects: own };
  });
}

/** Returns the operator class of the Deployments among `objects`. */
export function operatorClassOf(objects: readonly KubernetesObject[]): string | undefined {
  type PodTemplate = { spec: { containers: { args?: string[] }[] } };
  return objects
    .filter(({ kind }) => kind === 'Deployment')
    .flatMap(({ spec }) => (spec as { template: PodTemplate }).template.spec.containers)
    .flatMap(({ args = [] }) => args)
    .find((arg) => arg.startsWith('--operator-class='))
    ?.split('=')[1];
}

/** Returns NAMESPACE/NAME of the release that an object names. */
function keyOf(object: KubernetesObject): string | undefined {
  const { labels = {}, annotations = {}, namespace = '' } = object.metadata;
  if (object.kind === 'Secret') return `${namespace}/${labels['name'] ?? ''}`;
  const own = releaseOfHelm(object) ?? annotations[releaseAnnotations.release];
  return own ?? (object.kind === 'Deployment' ? `${namespace}/${labels[instanceLabel] ?? ''}` : undefined);
}

/** Returns the helm release of an object, unless `injector install` manages the object. */
function releaseOfHelm({ metadata: { labels = {}, annotations = {} } }: KubernetesObject): string | undefined {
  const { 'meta.helm.sh/release-name': name, 'meta.helm.sh/release-namespace': namespace = '' } = annotations;
  return name === undefined || labels[labelNames.managedBy] === installer ? undefined : `${namespace}/${name}`;
}

/** Returns the chart name from a helm release Secret: gzipped JSON, encoded in base64 twice. */
function chartOfRecord({ data }: KubernetesObject): string | undefined {
  const once = Buffer.from((data as { release?: string } | undefined)?.release ?? '', 'base64').toString();
  const release = JSON.parse(gunzipSync(Buffer.from(once, 'base64')).toString()) as Record<string, unknown>;
  return (release['chart'] as { metadata?: { name?: string } } | undefined)?.metadata?.name;
}

/** Formats `Kind namespace/name`. */
export function releaseName({ kind, metadata: { namespace, name = '' } }: KubernetesObject): string {
  return `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
}
