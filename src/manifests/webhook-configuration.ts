import { group, type InjectorConfig } from '../api/injector-config.ts';
import type { KubernetesObject } from '../api/kubernetes.ts';
import { injectPath, objectNames } from '../api/names.ts';
import { systemNamespaces } from '../api/system-namespaces.ts';
import { clientConfig } from './client-config.ts';
import type { ManifestContext } from './manifest-context.ts';
import { generatedMatchConditions } from './match-conditions.ts';
import { revisionLabels } from './revision-labels.ts';
import { webhookSelectors } from './webhook-selectors.ts';

export interface WebhookInput {
  readonly config: InjectorConfig;
  /** The configuration that is published: every replica must have it before this object is applied. */
  readonly hash: string;
  readonly caBundlePem: string;
}

/** The MutatingWebhookConfiguration of an InjectorConfig: the last object to apply and the first to remove. */
export function webhookConfiguration(input: WebhookInput, context: ManifestContext): KubernetesObject {
  const { config, hash, caBundlePem } = input;
  const { webhook } = config.spec;
  const { name } = config.metadata;
  const names = objectNames(name);
  const excluded = [...new Set([...systemNamespaces, context.namespace, ...webhook.excludedNamespaces])].sort();
  const shared = {
    admissionReviewVersions: ['v1', 'v1beta1'],
    clientConfig: clientConfig(
      {
        service: names.service,
        path: injectPath(name, hash),
        caBundlePem,
        ...(webhook.url === undefined ? {} : { url: webhook.url }),
      },
      context,
    ),
    failurePolicy: webhook.failurePolicy,
    matchConditions: [...generatedMatchConditions(webhook.keys), ...webhook.matchConditions],
    matchPolicy: webhook.matchPolicy,
    reinvocationPolicy: webhook.reinvocationPolicy,
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'], scope: 'Namespaced' }],
    sideEffects: 'None',
    timeoutSeconds: webhook.timeoutSeconds,
  };
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: {
      name: names.webhookConfiguration,
      labels: revisionLabels(config),
      ...(context.owner === undefined ? {} : { ownerReferences: [context.owner] }),
    },
    webhooks: webhookSelectors(config, excluded).map(({ name: short, namespaceSelector, objectSelector }) => ({
      ...shared,
      // The API server wants names of three parts at least; ours never end in Istio's suffix, which istiod would rewrite.
      name: `${short}.${group}`,
      namespaceSelector,
      objectSelector,
    })),
  };
}
