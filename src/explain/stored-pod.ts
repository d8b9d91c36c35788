import { gatePrefix, injectedByAnnotation } from '../api/names.ts';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';
import type { CreationFinding } from './explain-creation.ts';
import type { PodWebhook } from './pod-webhook.ts';
import { keysOf } from '../selection/label-selector.ts';

/** A pod of another injector, compared with a new pod of ours. */
export interface OtherInjectorFinding {
  /** The revision that the other injector wrote; empty if it wrote none. */
  readonly revision: string;
  readonly result: 'Identical' | 'Different' | 'NotCompared';
  /** Why the result is not `Identical`, for example the fields that differ; empty if it is. */
  readonly why: string;
}

/** The comparison of an existing pod with the result of recreating it. */
export interface StoredPodFinding {
  /**
   * `Current` (injected), `Plain` (not injected): a new pod would be the same. `Stale`: another
   * configuration would inject a new pod. `Missing`: a new pod would be injected. `Leftover`: a new
   * pod would not be injected. `Other`: another injector injected it. `Unknown`, `Refused`: the
   * outcome of the creation.
   */
  readonly state: 'Current' | 'Stale' | 'Missing' | 'Leftover' | 'Plain' | 'Other' | 'Unknown' | 'Refused';
  readonly injectedBy: readonly string[];
  readonly message: string;
  /** How a pod of another injector compares with a new pod of ours. */
  readonly other?: OtherInjectorFinding;
  /** Set while the pod waits for its sidecar (failurePolicy Hold). */
  readonly held?: { readonly gate: string; readonly since: string; readonly message: string };
}

const entryPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?\.[0-9a-f]{8}$/;

/** Returns `N.<hash8>` of the configurations that injected a pod; authors can forge the list. */
export function injectedByOf({ metadata }: KubernetesObject): string[] {
  const text = metadata.annotations?.[injectedByAnnotation] ?? '';
  return text.split(',').filter((entry) => entryPattern.test(entry));
}

/**
 * Compares an existing pod with the result of recreating it.
 * @param namespace the namespace of the pod; its managedFields show when labels were written
 * @param other the comparison of a pod that another injector injected
 */
export function compareStoredPod(
  stored: KubernetesObject,
  recreated: CreationFinding,
  webhooks: readonly PodWebhook[],
  namespace?: KubernetesObject,
  other?: OtherInjectorFinding,
): StoredPodFinding {
  const injectedBy = injectedByOf(stored);
  if (other !== undefined) return { state: 'Other', injectedBy, message: describeOther(other), other };
  const has = injectedBy.length === 0 ? 'it is not injected' : `it was injected by ${injectedBy.join(', ')}`;
  const held = heldBy(stored, recreated);
  const found = (state: StoredPodFinding['state'], what: string): StoredPodFinding => {
    return { state, injectedBy, message: `${has}${what}`, ...(held && { held }) };
  };
  if (recreated.outcome === 'Refused') return found('Refused', '; recreating it would be refused');
  if (recreated.outcome === 'Unknown') return found('Unknown', '; the result of recreating it is unknown');
  const remedy = 'recreate it to change that';
  const expected = [...recreated.injectedBy].sort();
  if (injectedBy.length === 0) {
    if (expected.length === 0) return found('Plain', ', and would not be now');
    if (held !== undefined) return found('Missing', ', because it is held');
    return found('Missing', `: ${whyMissing(stored, recreated, webhooks, namespace)}; ${remedy}`);
  }
  if (expected.length === 0) return found('Leftover', `, and would not be now; ${remedy}`);
  if (expected.join() === [...injectedBy].sort().join()) return found('Current', ', as it would be now');
  return found('Stale', `; now it would be injected by ${expected.join(', ')}; ${remedy}`);
}

function describeOther({ revision, result, why }: OtherInjectorFinding): string {
  const by = `it was injected by another injector, revision ${revision === '' ? 'unknown' : revision}`;
  if (result === 'Identical') return `${by}; a new pod of ours would be identical`;
  return result === 'Different' ? `${by}; ${why}` : `${by}; not compared with a new pod of ours: ${why}`;
}

const ends = {
  Injected: 'the operator replaces it as soon as injection works',
  NotInjected: 'the operator lets it start without a sidecar, because none is due',
  Refused: 'the operator replaces it as soon as a new pod is accepted',
  Unknown: 'the operator replaces it as soon as injection works',
};

/** Returns by what a pod is held, since when, and what ends it. */
function heldBy(pod: KubernetesObject, { outcome }: CreationFinding): StoredPodFinding['held'] {
  const gate = gateIn(pod);
  const { creationTimestamp: since = '', deletionTimestamp } = pod.metadata;
  if (gate === undefined || deletionTimestamp !== undefined) return undefined;
  const cause = 'the webhook could not be called when it was created (failurePolicy Hold)';
  const end = `${ends[outcome]}; \`injector release --all\` lets all held pods of the cluster start without a sidecar`;
  return { gate, since, message: `held since ${since} by scheduling gate ${gate}: ${cause}; ${end}` };
}

/** Returns our scheduling gate of a pod, if it has one. */
export function gateIn({ spec }: KubernetesObject): string | undefined {
  const { schedulingGates = [] } = (spec ?? {}) as { schedulingGates?: readonly { readonly name?: string }[] };
  return schedulingGates.find(({ name }) => name?.startsWith(gatePrefix))?.name;
}

/** Returns why the pod has no sidecar. The order of events within one second is unknown. */
function whyMissing(
  stored: KubernetesObject,
  recreated: CreationFinding,
  webhooks: readonly PodWebhook[],
  namespace: KubernetesObject | undefined,
): string {
  const { creationTimestamp: created = '' } = stored.metadata;
  const injecting = recreated.webhooks.filter(({ outcome }) => outcome === 'Injected');
  for (const { configuration, webhook, failurePolicy } of injecting) {
    const found = webhooks.find((each) => each.webhookConfiguration === configuration && each.webhook.name === webhook);
    const webhookTime = found?.createdAt;
    if (webhookTime !== undefined && created !== '' && webhookTime > created)
      return `it was created at ${created}, before webhook configuration ${configuration} (${webhookTime})`;
    const keys = keysOf(found?.webhook.namespaceSelector ?? {});
    const labelled = lastLabelled(namespace, keys);
    if (labelled !== undefined && created !== '' && labelled.time > created) {
      const { key, manager, time } = labelled;
      return `it was created at ${created}, and label ${key} of its namespace was written later by ${manager} (${time})`;
    }
    if (failurePolicy === 'Ignore')
      return `${configuration} has failurePolicy Ignore, and may have been unavailable when the pod was created; or a label or the configuration has changed since`;
  }
  return 'its labels, those of its namespace or the configuration have changed since it was created, or the webhook did not exist then (paused, disabled)';
}

interface FieldsEntry {
  readonly manager?: string;
  readonly time?: string;
  readonly fieldsV1?: { readonly 'f:metadata'?: { readonly 'f:labels'?: Readonly<Record<string, unknown>> } };
}

/** Returns the latest entry of metadata.managedFields that contains one of the labels. */
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
