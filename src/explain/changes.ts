import type { LabelSelectorRequirement } from '../api/kubernetes/kubernetes.ts';
import { namespaceNameLabel } from '../api/kubernetes/system-namespaces.ts';
import { isJsonObject, type JsonObject } from '../inject/patch/json-value.ts';
import type { PodCreation } from './pod-creation.ts';

/** One thing that a person can change. `value: null` removes a label or an annotation; `hostNetwork` is switched off. */
export type Change =
  | { readonly of: 'Namespace' | 'Pod'; readonly field: 'label'; readonly key: string; readonly value: string | null }
  | { readonly of: 'Pod'; readonly field: 'annotation'; readonly key: string; readonly value: string | null }
  | { readonly of: 'Pod'; readonly field: 'hostNetwork' };

/** The creation as it would be after some changes. */
export function withChanges(creation: PodCreation, changes: readonly Change[]): PodCreation {
  return changes.reduce(withChange, creation);
}

function withChange(creation: PodCreation, change: Change): PodCreation {
  const { namespace, pod } = creation;
  if (change.of === 'Namespace') {
    return {
      ...creation,
      namespace: { ...namespace, labels: edited(namespace.labels, change) as Record<string, string> },
    };
  }
  if (change.field === 'hostNetwork') {
    const spec = isJsonObject(pod.spec) ? pod.spec : {};
    return { ...creation, pod: { ...pod, spec: { ...spec, hostNetwork: false } } };
  }
  const metadata = isJsonObject(pod.metadata) ? pod.metadata : {};
  const part = `${change.field}s`;
  const before = isJsonObject(metadata[part]) ? metadata[part] : {};
  return { ...creation, pod: { ...pod, metadata: { ...metadata, [part]: edited(before, change) } } };
}

function edited(map: JsonObject, { key, value }: { readonly key: string; readonly value: string | null }): JsonObject {
  const others = Object.entries(map).filter(([name]) => name !== key);
  return Object.fromEntries(value === null ? others : [...others, [key, value]]);
}

/** What to change so that labels meet requirements that they do not meet; undefined where nobody can. */
export function changesToMeet(
  of: 'Namespace' | 'Pod',
  unmet: readonly LabelSelectorRequirement[],
): Change[] | undefined {
  const changes: Change[] = [];
  for (const { key, operator, values = [] } of unmet) {
    // A namespace cannot have another name.
    if (key === namespaceNameLabel) return undefined;
    const value = operator === 'In' ? (values[0] ?? null) : operator === 'Exists' ? 'true' : null;
    changes.push({ of, field: 'label', key, value });
  }
  return changes;
}
