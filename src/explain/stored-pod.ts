import { injectedByAnnotation } from '../api/names.ts';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import type { CreationFinding } from './explain-creation.ts';
import type { PodWebhook } from './pod-webhook.ts';
import { keysOf } from '../selection/label-selector.ts';

/** What a pod that exists has, against what it would get now. */
export interface StoredPodFinding {
  /**
   * `Current` and `Plain`: as it would be made now, with and without injection. `Stale`: injected by another configuration. `Missing`: it would be injected now.
   * `Leftover`: it would not be injected now. `Unknown` and `Refused`: what it would get cannot be told, or it would not be made.
   */
  readonly state: 'Current' | 'Stale' | 'Missing' | 'Leftover' | 'Plain' | 'Unknown' | 'Refused';
  readonly injectedBy: readonly string[];
  readonly message: string;
}

const entryPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?\.[0-9a-f]{8}$/;

/** The configurations that have injected a pod: `N.<hash8>` each. A pod's author may have written anything there. */
export function injectedByOf({ metadata }: KubernetesObject): string[] {
  const text = metadata.annotations?.[injectedByAnnotation] ?? '';
  return text.split(',').filter((entry) => entryPattern.test(entry));
}

/**
 * Compares a pod that exists with the same pod made now.
 * @param namespace as it is read, with managedFields: they tell when it was labelled
 */
export function compareStoredPod(
  stored: KubernetesObject,
  now: CreationFinding,
  webhooks: readonly PodWebhook[],
  namespace?: KubernetesObject,
): StoredPodFinding {
  const injectedBy = injectedByOf(stored);
  const has = injectedBy.length === 0 ? 'it is not injected' : `it was injected by ${injectedBy.join(', ')}`;
  const found = (state: StoredPodFinding['state'], what: string): StoredPodFinding => {
    return { state, injectedBy, message: `${has}${what}` };
  };
  if (now.outcome === 'Refused') return found('Refused', '; it could not be made again');
  if (now.outcome === 'Unknown') return found('Unknown', '; what it would get now is not known');
  const made = 'make it again to change that';
  const wanted = [...now.injectedBy].sort();
  if (injectedBy.length === 0) {
    if (wanted.length === 0) return found('Plain', ', and would not be now');
    return found('Missing', `: ${whyMissing(stored, now, webhooks, namespace)}; ${made}`);
  }
  if (wanted.length === 0) return found('Leftover', `, and would not be now; ${made}`);
  if (wanted.join() === [...injectedBy].sort().join()) return found('Current', ', as it would be now');
  return found('Stale', `; now it would be ${wanted.join(', ')}; ${made}`);
}

/** Times are in whole seconds, so a pod of the same second may have been there before or after. */
function whyMissing(
  stored: KubernetesObject,
  now: CreationFinding,
  webhooks: readonly PodWebhook[],
  namespace: KubernetesObject | undefined,
): string {
  const { creationTimestamp: made = '' } = stored.metadata;
  const injecting = now.webhooks.filter(({ outcome }) => outcome === 'Injected');
  for (const { configuration, webhook, failurePolicy } of injecting) {
    const found = webhooks.find((each) => each.configuration === configuration && each.webhook.name === webhook);
    const since = found?.createdAt;
    if (since !== undefined && made !== '' && since > made)
      return `it was made at ${made}, before the webhook configuration ${configuration} (${since})`;
    const keys = keysOf(found?.webhook.namespaceSelector ?? {});
    const labelled = lastLabelled(namespace, keys);
    if (labelled !== undefined && made !== '' && labelled.time > made) {
      const { key, manager, time } = labelled;
      return `it was made at ${made}, and label ${key} of its namespace was written after that, by ${manager} (${time})`;
    }
    if (failurePolicy === 'Ignore')
      return `${configuration} has failurePolicy Ignore, and may have been away when it was made; or a label or the configuration has changed since`;
  }
  return 'its labels, those of its namespace or the configuration have changed since it was made, or the webhook was away (paused, disabled)';
}

interface FieldsEntry {
  readonly manager?: string;
  readonly time?: string;
  readonly fieldsV1?: { readonly 'f:metadata'?: { readonly 'f:labels'?: Readonly<Record<string, unknown>> } };
}

/** Who wrote one of the labels last, by metadata.managedFields: when that manager last wrote anything of its own. */
function lastLabelled(
  namespace: KubernetesObject | undefined,
  keys: readonly string[],
): { readonly key: string; readonly manager: string; readonly time: string } | undefined {
  const entries = (namespace?.metadata.managedFields ?? []) as FieldsEntry[];
  const writes = entries.flatMap(({ manager = '', time = '', fieldsV1 }) => {
    const labels = fieldsV1?.['f:metadata']?.['f:labels'] ?? {};
    const key = keys.find((each) => Object.hasOwn(labels, `f:${each}`));
    return key === undefined ? [] : [{ key, manager, time }];
  });
  return writes.sort((one, other) => (one.time < other.time ? 1 : -1))[0];
}
