import type { KubernetesObject } from '../../api/kubernetes/kubernetes.ts';

export const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }];

/** Returns the webhook configuration that Istio installs for its default revision. */
export function istio(fields: Record<string, unknown> = {}, metadata: Record<string, unknown> = {}): KubernetesObject {
  const namespaceSelector = { matchExpressions: [{ key: 'istio-injection', operator: 'In', values: ['enabled'] }] };
  const webhook = {
    name: 'namespace.sidecar-injector.istio.io',
    namespaceSelector,
    objectSelector: { matchExpressions: [{ key: 'sidecar.istio.io/inject', operator: 'NotIn', values: ['false'] }] },
    rules,
    clientConfig: { service: { namespace: 'istio-system', name: 'istiod', path: '/inject' } },
    ...fields,
  };
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'istio-sidecar-injector', labels: { 'istio.io/rev': 'default' }, ...metadata },
    webhooks: [webhook],
  };
}

export const revision = (value: string) => ({
  matchExpressions: [{ key: 'istio.io/rev', operator: 'In', values: [value] }],
});

