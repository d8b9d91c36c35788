import { isDeepStrictEqual } from 'node:util';
import type { KubernetesObject } from '../api/kubernetes/kubernetes.ts';

type Json = Record<string, unknown>;

/** metav1.ManagedFieldsEntry. */
type ManagedFields = Partial<Record<'manager' | 'operation' | 'subresource', string>> & { fieldsV1?: Json };

/**
 * Returns the path of the first field where `live` differs from `desired`; undefined if no write is
 * needed. Root fields must be equal, so that added items (for example in a selector) are found.
 * Ignores fields that the API server adds to `spec` (of a Service), and labels, annotations and
 * owners that other clients add.
 * @param manager our field manager; a field that it owns and `desired` lacks is a difference
 */
export function objectDifference(
  desired: KubernetesObject,
  live: KubernetesObject,
  manager: string,
): string | undefined {
  for (const [field, value] of Object.entries(desired)) {
    if (field === 'metadata' || field === 'status') continue;
    const found = live[field];
    const path = field === 'spec' ? missing(value, found, field) : isDeepStrictEqual(value, found) ? undefined : field;
    if (path !== undefined) return path;
  }
  return metadataDifference(desired, live) ?? formerlyOurs(desired, live, manager);
}

function metadataDifference(desired: KubernetesObject, live: KubernetesObject): string | undefined {
  for (const field of ['labels', 'annotations'] as const) {
    const found = live.metadata[field] ?? {};
    for (const [key, value] of Object.entries(desired.metadata[field] ?? {})) {
      if (found[key] !== value) return `metadata.${field}.${key}`;
    }
  }
  const owners = live.metadata.ownerReferences ?? [];
  const known = (uid: string): boolean => owners.some((owner) => owner.uid === uid);
  return (desired.metadata.ownerReferences ?? []).every(({ uid }) => known(uid))
    ? undefined
    : 'metadata.ownerReferences';
}

/** Returns the path of the first desired value that `found` lacks; ignores additional fields. */
function missing(desired: unknown, found: unknown, path: string): string | undefined {
  if (Array.isArray(desired)) {
    if (!Array.isArray(found) || found.length !== desired.length) return path;
    return first(desired, (item, index) => missing(item, found[index], `${path}[${index}]`));
  }
  if (typeof desired !== 'object' || desired === null) return desired === found ? undefined : path;
  if (typeof found !== 'object' || found === null) return path;
  // A selector is one value: an added label changes which pods it selects.
  if (path.endsWith('.selector')) return isDeepStrictEqual(desired, found) ? undefined : path;
  return first(Object.entries(desired), ([key, value]) => missing(value, (found as Json)[key], `${path}.${key}`));
}

function first<T>(items: readonly T[], find: (item: T, index: number) => string | undefined): string | undefined {
  for (const [index, item] of items.entries()) {
    const path = find(item, index);
    if (path !== undefined) return path;
  }
  return undefined;
}

/** Returns the first field that managedFields records as ours and the desired object lacks. */
function formerlyOurs(desired: KubernetesObject, live: KubernetesObject, manager: string): string | undefined {
  const entries = (live.metadata.managedFields ?? []) as ManagedFields[];
  const ours = entries.find(
    (entry) => entry.manager === manager && entry.operation === 'Apply' && (entry.subresource ?? '') === '',
  );
  return ours?.fieldsV1 === undefined ? undefined : ownedButGone(ours.fieldsV1, desired, '');
}

function ownedButGone(fields: Json, desired: unknown, path: string): string | undefined {
  for (const [key, below] of Object.entries(fields)) {
    if (key === '.') continue;
    const { found, name } = step(key, desired);
    const at = path === '' ? name : `${path}.${name}`;
    if (found === undefined) return at;
    const gone = ownedButGone(below as Json, found, at);
    if (gone !== undefined) return gone;
  }
  return undefined;
}

/** Resolves an element of fieldsV1: `f:NAME` is a field, `k:{…}` a list item, `v:…` a set value. */
function step(element: string, desired: unknown): { found: unknown; name: string } {
  const text = element.slice(2);
  if (element.startsWith('f:')) return { found: (desired as Json | undefined)?.[text], name: text };
  const expected = JSON.parse(text) as unknown;
  const items: unknown[] = Array.isArray(desired) ? desired : [];
  const matches = (item: unknown): boolean =>
    element.startsWith('v:')
      ? isDeepStrictEqual(item, expected)
      : Object.entries(expected as Json).every(([key, value]) => (item as Json)[key] === value);
  return { found: items.find(matches), name: `[${text}]` };
}
