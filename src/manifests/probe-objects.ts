import { group } from '../api/injector-config/injector-config.ts';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import { tagProbeSubject, pathProbeKeys, pathProbeName } from '../api/names.ts';
import { namespaceNameLabel } from '../api/kubernetes/system-namespaces.ts';
import type { ManifestContext } from './manifest-context.ts';
import {
  type WebhookConfiguration,
  webhookClient,
  type WebhookInput,
  webhookMetadata,
} from './webhook-configuration.ts';

/** The name of the twin's webhook: what the API server calls it in its errors. */
export const probeWebhookName = `probe.${group}`;

/** Seconds. A path that takes longer than this to answer is not one to put before every pod; and a pass waits for it. */
const longestTimeout = 5;

/** By what the probe webhook is called, and everything that is remembered of the trial. */
export function probeSubject({ config, tag }: Pick<WebhookInput, 'config' | 'tag'>): string {
  return tag === undefined ? config.metadata.name : tagProbeSubject(tag.metadata.name);
}

/**
 * The probe webhook of a webhook: it calls the same place with the same trust, and the only thing that it can stop is the dry run of one ConfigMap in the
 * operator's own namespace.
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
            // Guarded: under Fail an expression that cannot be evaluated would refuse the ConfigMaps of others.
            expression:
              'has(request.dryRun) && request.dryRun == true' +
              ` && has(object.metadata.name) && object.metadata.name == '${probe}'`,
          },
        ],
        matchPolicy: 'Equivalent',
        name: probeWebhookName,
        namespaceSelector: {
          matchExpressions: [{ key: namespaceNameLabel, operator: 'In', values: [context.namespace] }],
        },
        objectSelector: {},
        reinvocationPolicy: 'Never',
        rules: [
          {
            apiGroups: [''],
            apiVersions: ['v1'],
            operations: ['CREATE'],
            resources: ['configmaps'],
            scope: 'Namespaced',
          },
        ],
        sideEffects: 'None',
        timeoutSeconds: Math.min(input.config.spec.webhook.timeoutSeconds, longestTimeout),
      },
    ],
  };
}

/** The ConfigMap that is created by dry run, so never stored. */
export function probeConfigMap(subject: string, nonce: string, namespace: string): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: pathProbeName(subject), namespace },
    data: { [pathProbeKeys.nonce]: nonce },
  };
}
