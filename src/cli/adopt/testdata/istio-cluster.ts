import { istioKeys } from '../../../api/injector-config/webhook-keys.ts';
import type { KubernetesObject } from '../../../api/kubernetes/kubernetes.ts';
import { systemNamespaces } from '../../../api/kubernetes/system-namespaces.ts';
import { selectorsOf } from '../../../selection/webhook-selectors.ts';
import type { IstioFacts } from '../plan-adoption.ts';

/** What differs from the chart's defaults. */
export interface IstioOptions {
  readonly revision?: string;
  readonly values?: object;
  readonly config?: string;
  readonly env?: readonly object[];
  readonly image?: string;
  readonly availableReplicas?: number;
  readonly byDefault?: boolean;
  /** Fields of each webhook. */
  readonly webhook?: object;
  readonly path?: string;
}

const template = 'spec:\n  containers:\n  - name: istio-proxy\n    image: {{ .ProxyImage }}\n';

/** Returns a webhook configuration as Istio's chart writes it, for a revision or a tag. */
export function istioWebhook(
  { revision = 'default', byDefault = false, webhook = {}, path = '/inject' }: IstioOptions = {},
  tag?: string,
): KubernetesObject {
  const end = revision === 'default' ? '' : `-${revision}`;
  const terms = { revision: tag ?? revision, keys: istioKeys, enableNamespacesByDefault: byDefault };
  const service = { name: `istiod${end}`, namespace: 'istio-system', path, port: 443 };
  const webhooks = selectorsOf(terms, []).map(({ name, namespaceSelector, objectSelector }) => {
    const expressions = (namespaceSelector.matchExpressions ?? []).slice(0, -1);
    const others = { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: [...systemNamespaces] };
    return {
      name: `${name}.sidecar-injector.istio.io`,
      namespaceSelector: { matchExpressions: name === 'auto' ? [...expressions, others] : expressions },
      objectSelector,
      clientConfig: { service, caBundle: 'Y2E=' },
      rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
      failurePolicy: 'Fail',
      ...webhook,
    };
  });
  const labels = { 'istio.io/rev': revision, ...(tag !== undefined && { 'istio.io/tag': tag }) };
  const name = tag === undefined ? `istio-sidecar-injector${end}` : `istio-revision-tag-${tag}`;
  const kind = 'MutatingWebhookConfiguration';
  return { apiVersion: 'admissionregistration.k8s.io/v1', kind, metadata: { name, labels }, webhooks };
}

/** Returns the objects of one revision of Istio. */
export function istioRevision(options: IstioOptions = {}): IstioFacts {
  const { revision = 'default', values = {}, env = [], availableReplicas = 1 } = options;
  const { image = 'registry.example/pilot:1.31.0', config = JSON.stringify({ policy: 'enabled', templates: { sidecar: template } }) } = options;
  const end = revision === 'default' ? '' : `-${revision}`;
  const namespace = 'istio-system';
  const configMap = (name: string, data: object): KubernetesObject => {
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data };
  };
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: `istiod${end}`, namespace, labels: { app: 'istiod', 'istio.io/rev': revision } },
    spec: { template: { spec: { containers: [{ name: 'discovery', image, env }] } } },
    status: { availableReplicas },
  };
  return {
    namespace,
    configurations: [istioWebhook(options)],
    configMaps: [
      configMap(`istio-sidecar-injector${end}`, { config, values: JSON.stringify(values) }),
      configMap(`istio${end}`, { mesh: 'rootNamespace: istio-system\n' }),
    ],
    deployments: [deployment],
  };
}

/** Joins the objects of several revisions. */
export function joined(...facts: readonly IstioFacts[]): IstioFacts {
  return {
    namespace: 'istio-system',
    configurations: facts.flatMap((each) => each.configurations),
    configMaps: facts.flatMap((each) => each.configMaps),
    deployments: facts.flatMap((each) => each.deployments),
  };
}
