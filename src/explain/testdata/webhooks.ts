import type { KubernetesObject, LabelSelector, LabelSelectorRequirement } from '../../api/kubernetes/kubernetes.ts';
import { istioKeys } from '../../api/injector-config/webhook-keys.ts';
import { loadInjector, type Injector } from '../../inject/injector.ts';
import type { ExplanationInputs } from '../explain-creation.ts';
import type { PodCreation } from '../pod-creation.ts';
import { podWebhooks, type MutatingWebhook, type WebhookTarget } from '../pod-webhook.ts';

const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], scope: 'Namespaced' }];

/** Returns the webhook of an InjectorConfig or tag for the configuration with hash `00000000`. */
export function ourWebhook(name: string, target: string, webhook: Partial<MutatingWebhook> = {}, tag?: string): MutatingWebhook {
  const path = tag === undefined ? `/revisions/${target}/00000000/inject` : `/tags/${tag}/${target}/00000000/inject`;
  return {
    name: `${name}.sidecar-injector.io`,
    rules,
    clientConfig: { service: { namespace: 'home', name: `sidecar-injector-${target}`, path } },
    failurePolicy: 'Fail',
    ...webhook,
  };
}

export function foreignWebhook(name: string, webhook: Partial<MutatingWebhook> = {}): MutatingWebhook {
  return { name, rules, clientConfig: { url: 'https://example.com/inject' }, failurePolicy: 'Fail', ...webhook };
}

export function configuration(name: string, webhooks: readonly MutatingWebhook[]): KubernetesObject {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name, creationTimestamp: '2026-01-02T00:00:00Z' },
    webhooks: [...webhooks],
  };
}

const open: LabelSelectorRequirement = { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['kube-system', 'closed'] };
const { injection, inject } = istioKeys;

/** Istio's selectors for the default revision. */
export const selectors: Record<'namespace' | 'object', { namespaceSelector: LabelSelector; objectSelector: LabelSelector }> = {
  namespace: {
    namespaceSelector: { matchExpressions: [{ key: injection, operator: 'In', values: ['enabled'] }, open] },
    objectSelector: { matchExpressions: [{ key: inject, operator: 'NotIn', values: ['false'] }] },
  },
  object: {
    namespaceSelector: { matchExpressions: [{ key: injection, operator: 'DoesNotExist' }, open] },
    objectSelector: { matchExpressions: [{ key: inject, operator: 'In', values: ['true'] }] },
  },
};

/** Returns an injector that adds one container and one label. */
export function injectorNamed(name: string, config: Record<string, unknown> = {}, status = istioKeys.status): Injector {
  const template = `metadata:\n  labels:\n    with-${name}: "yes"\nspec:\n  containers:\n  - name: ${name}\n    image: ${name}:1\n`;
  return loadInjector({
    config: JSON.stringify({ policy: 'enabled', templates: { sidecar: template }, ...config }),
    values: '{}',
    mesh: '',
    settings: JSON.stringify({ revision: name, keys: { ...istioKeys, status }, annotationOverrides: { preset: 'Safe' } }),
  });
}

export function surroundings(
  configurations: readonly KubernetesObject[],
  injectors: Readonly<Record<string, Injector>>,
): ExplanationInputs {
  return {
    webhooks: podWebhooks(configurations),
    injectorOf: ({ injectorConfig }: WebhookTarget) => injectors[injectorConfig] ?? { unavailable: 'it was not read' },
    // Every workload has the middle rank.
    getsCanary: ({ threshold }) => '8000000000000000' < threshold,
  };
}

/** Returns the creation of a pod in namespace `shop`. */
export function creation(
  pod: { labels?: Record<string, string>; annotations?: Record<string, string>; spec?: Record<string, unknown> } = {},
  labels: Record<string, string> = {},
  namespace = 'shop',
): PodCreation {
  const { spec, ...metadata } = pod;
  return {
    pod: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web', namespace, ...metadata },
      spec: { containers: [{ name: 'app', image: 'app' }], ...spec },
    },
    namespace: { name: namespace, labels: { ...labels, 'kubernetes.io/metadata.name': namespace } },
  };
}
