import { group } from '../api/injector-config/injector-config.ts';
import { timeoutSecondsOf } from '../api/injector-config/webhook-timeout.ts';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { tagProbeSubject, pathProbeKeys, pathProbeName } from '../api/names.ts';
import { namespaceNameLabel } from '../api/kubernetes/system-namespaces.ts';
import type { SelectorPair } from '../selection/selecting-webhook.ts';
import type { ManifestContext } from './manifest-context.ts';
import { podCreations } from './replaceable-pods.ts';
import {
  type WebhookConfiguration,
  webhookClient,
  type WebhookInput,
  webhookMetadata,
} from './webhook-configuration.ts';

/** The name of the webhook in a probe configuration, which the API server shows in its errors. */
export const probeWebhookName = `probe.${group}`;

/** The maximum timeout in seconds. A slower webhook would delay every pod and the pass. */
const longestTimeout = 5;

/** Returns the key of a reachability check, from which the name of the probe webhook is derived. */
export function probeSubject({ config, tag }: Pick<WebhookInput, 'config' | 'tag'>): string {
  return tag === undefined ? config.metadata.name : tagProbeSubject(tag.metadata.name);
}

/**
 * Returns the probe webhook of a webhook. It calls the same endpoint with the same CA bundle, but
 * selects only the dry-run creation of one ConfigMap in the operator's namespace.
 */
export function probeConfiguration(input: WebhookInput, context: ManifestContext): WebhookConfiguration {
  const probe = pathProbeName(probeSubject(input));
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: webhookMetadata(probe, input, context),
    webhooks: [
      {
        admissionReviewVersions: ['v1', 'v1beta1'],
        clientConfig: webhookClient({ ...input, rollout: undefined }, context),
        failurePolicy: 'Fail',
        matchConditions: [
          {
            name: 'probe',
            // Guard each field with has(): with failurePolicy Fail, an error would refuse other
            // ConfigMaps.
            expression:
              'has(request.dryRun) && request.dryRun == true' +
              ` && has(object.metadata.name) && object.metadata.name == '${probe}'`,
          },
        ],
        matchPolicy: 'Equivalent',
        name: probeWebhookName,
        ...probedNamespace(context),
        reinvocationPolicy: 'Never',
        rules: [probeRule],
        sideEffects: 'None',
        timeoutSeconds: Math.min(timeoutSecondsOf(input.config.spec.webhook), longestTimeout),
      },
    ],
  };
}

/** The rule of probe webhooks and probe policies. */
export const probeRule = { ...podCreations, resources: ['configmaps'] };

/** Returns the selectors of probe webhooks and probe policies: all of the operator's namespace. */
export function probedNamespace({ namespace }: ManifestContext): Required<SelectorPair> {
  const named = { key: namespaceNameLabel, operator: 'In' as const, values: [namespace] };
  return { namespaceSelector: { matchExpressions: [named] }, objectSelector: {} };
}

/** Returns the ConfigMap for a reachability check. Create it only in a dry run. */
export function probeConfigMap(subject: string, nonce: string, namespace: string): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: pathProbeName(subject), namespace },
    data: { [pathProbeKeys.nonce]: nonce },
  };
}
