export interface ResourceKind {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** The last segment of the path: `configmaps`. */
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** Makes the entries for kinds of one group, version and scope. */
function kinds(group: string, version: string, namespaced: boolean, ...names: string[]): ResourceKind[] {
  return names.map((kind) => {
    const plural = `${kind.toLowerCase().replace(/y$/, 'ie')}s`;
    return { group, version, plural, kind, namespaced };
  });
}

const admission = 'admissionregistration.k8s.io';

/** The kinds that the operator reads or writes, and the kinds in the chart. */
const known: readonly ResourceKind[] = [
  ...kinds('', 'v1', true, 'ConfigMap', 'Event', 'LimitRange', 'Pod', 'Secret', 'Service', 'ServiceAccount'),
  ...kinds('', 'v1', true, 'PodTemplate', 'ReplicationController'),
  ...kinds('', 'v1', false, 'Namespace', 'Node'),
  ...kinds('apps', 'v1', true, 'DaemonSet', 'Deployment', 'ReplicaSet', 'StatefulSet'),
  ...kinds('autoscaling', 'v2', true, 'HorizontalPodAutoscaler'),
  ...kinds('batch', 'v1', true, 'CronJob', 'Job'),
  ...kinds('coordination.k8s.io', 'v1', true, 'Lease'),
  ...kinds('events.k8s.io', 'v1', true, 'Event'),
  ...kinds(admission, 'v1', false, 'MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'),
  ...kinds(admission, 'v1', false, 'ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'),
  ...kinds(admission, 'v1', false, 'MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding'),
  ...kinds(admission, 'v1beta1', false, 'MutatingAdmissionPolicy', 'MutatingAdmissionPolicyBinding'),
  ...kinds('apiextensions.k8s.io', 'v1', false, 'CustomResourceDefinition'),
  ...kinds('cert-manager.io', 'v1', true, 'Certificate', 'Issuer'),
  ...kinds('certificates.k8s.io', 'v1', false, 'CertificateSigningRequest'),
  ...kinds('monitoring.coreos.com', 'v1', true, 'PrometheusRule', 'ServiceMonitor'),
  ...kinds('networking.istio.io', 'v1beta1', true, 'ProxyConfig'),
  ...kinds('networking.k8s.io', 'v1', true, 'NetworkPolicy'),
  ...kinds('rbac.authorization.k8s.io', 'v1', true, 'Role', 'RoleBinding'),
  ...kinds('rbac.authorization.k8s.io', 'v1', false, 'ClusterRole', 'ClusterRoleBinding'),
  ...kinds('policy', 'v1', true, 'PodDisruptionBudget'),
  ...kinds('sidecar-injector.io', 'v1alpha1', false, 'InjectorConfig', 'RevisionTag'),
];

const byKind = new Map(known.map((resource) => [`${apiVersionOf(resource)}/${resource.kind}`, resource]));

/** Returns `v1` or `group/version`, as in metav1.TypeMeta. */
export function apiVersionOf(resource: { group: string; version: string }): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}

/** Returns the kind from the table, undefined when the table lacks it. */
export function knownKind(apiVersion: string, kind: string): ResourceKind | undefined {
  return byKind.get(`${apiVersion}/${kind}`);
}

/** Returns the kind from the table. @throws Error when the table lacks it */
export function resourceKind(apiVersion: string, kind: string): ResourceKind {
  const resource = knownKind(apiVersion, kind);
  if (resource === undefined) throw new Error(`${apiVersion} ${kind} is not in the table of known kinds`);
  return resource;
}

/** Returns the kind served under a path, undefined when the table lacks it. */
export function kindServedAs(group: string, version: string, plural: string): ResourceKind | undefined {
  return known.find((each) => each.group === group && each.version === version && each.plural === plural);
}

/**
 * Returns the URL path of a collection (without `name`), an object or a subresource. If `namespace`
 * is absent, the collection of a namespaced kind covers all namespaces.
 */
export function resourcePath(
  resource: Pick<ResourceKind, 'group' | 'version' | 'plural'>,
  target: { namespace?: string | undefined; name?: string | undefined; subresource?: string | undefined } = {},
): string {
  const segments = resource.group === '' ? ['api', resource.version] : ['apis', resource.group, resource.version];
  if (target.namespace !== undefined) segments.push('namespaces', target.namespace);
  segments.push(resource.plural);
  if (target.name !== undefined) segments.push(target.name);
  if (target.subresource !== undefined) segments.push(target.subresource);
  return `/${segments.map(encodeURIComponent).join('/')}`;
}
