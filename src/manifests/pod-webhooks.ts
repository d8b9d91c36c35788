import { group, type InjectorConfig } from '../api/injector-config.ts';
import { objectNames } from '../api/names.ts';
import { clientConfig } from './client-config.ts';
import type { ManifestContext } from './manifest-context.ts';
import { generatedMatchConditions } from './match-conditions.ts';
import type { WebhookSelectors } from './webhook-selectors.ts';

export interface PodWebhooksInput {
  /** Whose Service, conditions, policy and times they have. */
  readonly config: InjectorConfig;
  readonly caBundlePem: string;
  /** Where on the Service, or behind the url, pods are sent. */
  readonly path: string;
  readonly selectors: readonly WebhookSelectors[];
}

/** The webhooks (admissionregistration.k8s.io/v1) of one configuration: they differ in what they select, and in nothing else. */
export function podWebhooks(
  { config, caBundlePem, path, selectors }: PodWebhooksInput,
  context: ManifestContext,
): Record<string, unknown>[] {
  const { webhook } = config.spec;
  const shared = {
    admissionReviewVersions: ['v1', 'v1beta1'],
    clientConfig: clientConfig(
      {
        service: objectNames(config.metadata.name).service,
        path,
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
  return selectors.map(({ name: short, namespaceSelector, objectSelector }) => ({
    ...shared,
    // The API server wants names of three parts at least; ours never end in Istio's suffix, which istiod would rewrite.
    name: `${short}.${group}`,
    namespaceSelector,
    objectSelector,
  }));
}
