import type { InjectorConfig } from '../api/injector-config.ts';
import type { KubernetesObject } from '../api/kubernetes.ts';
import { injectPath, objectNames } from '../api/names.ts';
import { excludedNamespaces } from './excluded-namespaces.ts';
import type { ManifestContext } from './manifest-context.ts';
import { podWebhooks } from './pod-webhooks.ts';
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
  const { name } = config.metadata;
  const selectors = webhookSelectors(config, excludedNamespaces(config, context.namespace));
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: {
      name: objectNames(name).webhookConfiguration,
      labels: revisionLabels(config),
      ...(context.owner === undefined ? {} : { ownerReferences: [context.owner] }),
    },
    webhooks: podWebhooks({ config, caBundlePem, path: injectPath(name, hash), selectors }, context),
  };
}
