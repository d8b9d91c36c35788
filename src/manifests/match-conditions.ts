import { matchConditionNames } from '../api/match-condition-names.ts';
import type { WebhookKeys } from '../api/webhook-keys.ts';

/** A matchCondition of admissionregistration.k8s.io/v1. */
export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

/**
 * Conditions that keep pods away from the webhook altogether, so that they start even when nobody answers. Each field is guarded by has():
 * under failurePolicy Fail an expression that cannot be evaluated would refuse the pod.
 */
export function generatedMatchConditions(keys: Pick<WebhookKeys, 'inject'>): MatchCondition[] {
  const labels = 'has(object.metadata.labels)';
  const annotations = 'has(object.metadata.annotations)';
  const key = `'${keys.inject}'`;
  return [
    {
      // Such a pod has the node's network: redirecting its traffic would redirect the node's.
      name: matchConditionNames.hostNetwork,
      expression: '!(has(object.spec) && has(object.spec.hostNetwork) && object.spec.hostNetwork == true)',
    },
    {
      // The label beats the annotation (Istio), so the annotation decides only where there is no label.
      name: matchConditionNames.optedOut,
      expression:
        `!(!(${labels} && ${key} in object.metadata.labels)` +
        ` && ${annotations} && ${key} in object.metadata.annotations && object.metadata.annotations[${key}] == 'false')`,
    },
    {
      // The mirror of a static pod shows what the kubelet already runs; changing it changes nothing but the picture.
      name: matchConditionNames.mirrorPod,
      expression: `!(${annotations} && 'kubernetes.io/config.mirror' in object.metadata.annotations)`,
    },
  ];
}
