import { namespaceNameLabel } from '../../api/kubernetes/system-namespaces.ts';
import type { MutatingWebhook } from '../../explain/pod-webhook.ts';
import { unmetRequirements } from '../../selection/label-selector.ts';

/** The fields of a webhook that decide what its failure does; absent ones have defaults. */
export interface TorturedWebhook extends MutatingWebhook {
  readonly sideEffects?: string;
  readonly timeoutSeconds?: number;
}

/** The deadline of a webhook that sets none (admissionregistration.k8s.io/v1). */
export const defaultTimeoutSeconds = 10;

/** Returns what is dangerous about how webhooks are registered. */
export function webhookProblems(webhooks: readonly TorturedWebhook[]): string[] {
  return webhooks.flatMap(({ name, sideEffects, timeoutSeconds, failurePolicy = 'Fail', ...webhook }) => {
    const seconds = timeoutSeconds ?? defaultTimeoutSeconds;
    const system = { [namespaceNameLabel]: 'kube-system' };
    const isSelected =
      unmetRequirements(webhook.namespaceSelector, system).length === 0 &&
      unmetRequirements(webhook.objectSelector, {}).length === 0;
    return [
      ...(isSelected && failurePolicy === 'Fail'
        ? [
            `${name}: selects pods of kube-system with failurePolicy Fail, so its failure keeps the cluster from recovering`,
          ]
        : []),
      ...(seconds > defaultTimeoutSeconds
        ? [`${name}: timeoutSeconds is ${seconds}, so each creation of a pod takes that long while the webhook hangs`]
        : []),
      ...(sideEffects === 'None' || sideEffects === 'NoneOnDryRun'
        ? []
        : [`${name}: sideEffects is ${sideEffects ?? 'absent'}, so the API server refuses dry runs`]),
    ];
  });
}
