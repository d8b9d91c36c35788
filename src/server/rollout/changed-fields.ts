import { boundedField, mostChangedFields } from '../../rollout/shadow-report.ts';
import { isJsonObject } from '../../inject/patch/json-value.ts';

/** The depth, in levels, below which differences are reported as one field. */
const deepest = 24;

/**
 * Returns the names of the first {@link mostChangedFields} fields that differ, without values, in
 * the order of `after`: `spec.containers[istio-proxy].image`,
 * `metadata.labels[app.kubernetes.io/name]`. Identifies list items by name if every item has a
 * unique name. Reports a list in another order as `spec.initContainers (order)`.
 */
export function changedFields(before: unknown, after: unknown): string[] {
  const found: string[] = [];
  collect(found, '', before, after, 0);
  return found;
}

function collect(found: string[], path: string, before: unknown, after: unknown, depth: number): void {
  if (before === after || found.length >= mostChangedFields) return;
  if (depth < deepest) {
    if (isJsonObject(before) && isJsonObject(after)) {
      for (const [key, one, other] of pairsOf(new Map(Object.entries(before)), new Map(Object.entries(after)))) {
        collect(found, joined(path, key), one, other, depth + 1);
      }
      return;
    }
    if (Array.isArray(before) && Array.isArray(after)) {
      collectList(found, path, before, after, depth);
      return;
    }
  }
  found.push(boundedField(path));
}

function collectList(
  found: string[],
  path: string,
  before: readonly unknown[],
  after: readonly unknown[],
  depth: number,
): void {
  const named = { before: byName(before), after: byName(after) };
  if (named.before === undefined || named.after === undefined) {
    for (let index = 0; index < Math.max(before.length, after.length); index++) {
      collect(found, `${path}[${index}]`, before[index], after[index], depth + 1);
    }
    return;
  }
  for (const [name, one, other] of pairsOf(named.before, named.after)) {
    collect(found, `${path}[${name}]`, one, other, depth + 1);
  }
  const common = (one: Map<string, unknown>, other: Map<string, unknown>): string =>
    JSON.stringify([...one.keys()].filter((name) => other.has(name)));
  const isReordered = common(named.before, named.after) !== common(named.after, named.before);
  if (isReordered && found.length < mostChangedFields) found.push(boundedField(`${path} (order)`));
}

/** Returns the items by name; undefined unless every item has a unique name. */
function byName(items: readonly unknown[]): Map<string, unknown> | undefined {
  const named = new Map<string, unknown>();
  for (const item of items) {
    if (!isJsonObject(item) || typeof item.name !== 'string' || named.has(item.name)) return undefined;
    named.set(item.name, item);
  }
  return named;
}

/** Yields the entries of both maps: the entries of `after` in order, then the removed entries. */
function* pairsOf(
  before: ReadonlyMap<string, unknown>,
  after: ReadonlyMap<string, unknown>,
): Generator<[name: string, before: unknown, after: unknown]> {
  for (const [name, value] of after) yield [name, before.get(name), value];
  for (const [name, value] of before) if (!after.has(name)) yield [name, value, undefined];
}

/** Returns the path of a member. */
export function joined(path: string, key: string): string {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(key)) return `${path}[${key}]`;
  return path === '' ? key : `${path}.${key}`;
}
