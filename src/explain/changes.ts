import type { LabelSelectorRequirement } from '../api/kubernetes/kubernetes.ts';
import { namespaceNameLabel } from '../api/kubernetes/system-namespaces.ts';
import { objectAt } from '../inject/objects/workload-kinds.ts';
import type { JsonObject } from '../inject/patch/json-value.ts';
import type { PodCreation } from './pod-creation.ts';

/** A user's change. The value null removes a label or annotation; `hostNetwork` becomes false. */
export type Change =
  | { readonly of: 'Namespace' | 'Pod'; readonly field: 'label'; readonly key: string; readonly value: string | null }
  | { readonly of: 'Pod'; readonly field: 'annotation'; readonly key: string; readonly value: string | null }
  | { readonly of: 'Pod'; readonly field: 'hostNetwork' };

export function withChanges(creation: PodCreation, changes: readonly Change[]): PodCreation {
  return changes.reduce(withChange, creation);
}

function withChange(creation: PodCreation, change: Change): PodCreation {
  const { namespace, pod } = creation;
  if (change.of === 'Namespace') {
    const labels = edited(namespace.labels, change) as Record<string, string>;
    return { ...creation, namespace: { ...namespace, labels } };
  }
  if (change.field === 'hostNetwork')
    return { ...creation, pod: { ...pod, spec: { ...objectAt(pod, ['spec']), hostNetwork: false } } };
  const part = `${change.field}s`;
  const after = edited(objectAt(pod, ['metadata', part]), change);
  return { ...creation, pod: { ...pod, metadata: { ...objectAt(pod, ['metadata']), [part]: after } } };
}

function edited(map: JsonObject, { key, value }: { readonly key: string; readonly value: string | null }): JsonObject {
  const others = Object.entries(map).filter(([name]) => name !== key);
  return Object.fromEntries(value === null ? others : [...others, [key, value]]);
}

/** Returns changes that meet the requirements; undefined if no change can meet them. */
export function changesToMeet(
  kind: 'Namespace' | 'Pod',
  unmet: readonly LabelSelectorRequirement[],
): Change[] | undefined {
  const changes: Change[] = [];
  for (const { key, operator, values = [] } of unmet) {
    // The name of a namespace cannot change.
    if (key === namespaceNameLabel) return undefined;
    const value = operator === 'In' ? (values[0] ?? null) : operator === 'Exists' ? 'true' : null;
    changes.push({ of: kind, field: 'label', key, value });
  }
  return changes;
}
