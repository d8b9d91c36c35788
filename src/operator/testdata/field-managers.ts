import { isDeepStrictEqual } from 'node:util';
import type { KubernetesObject, ObjectMeta } from '../../api/kubernetes/kubernetes.ts';
import { ApiError } from '../../kube/api-error.ts';
import type { StoredKind } from './stored-kinds.ts';

/** The client that writes, as an entry of metadata.managedFields names it. */
export type Writer = { readonly manager: string; readonly operation: 'Apply' | 'Update'; readonly subresource: string | undefined };

/** Paths of fields. A path consists of elements of fieldsV1 with line breaks between them. */
type Paths = ReadonlySet<string>;
type Fields = { [element: string]: Fields };
type Entry = Writer & { readonly apiVersion: string; readonly fieldsV1?: Fields };
type Managers = Map<string, { readonly entry: Entry; readonly paths: Paths }>;
type Live = KubernetesObject | undefined;

const minus = (one: Paths, ...others: Paths[]): Set<string> => new Set([...one].filter((each) => !others.some((other) => other.has(each))));
const union = (...sets: Paths[]): Set<string> => new Set(sets.flatMap((each) => [...each]));
const withoutManagers = (object: KubernetesObject): object => ({ ...object, metadata: { ...object.metadata, managedFields: undefined } });
const nameOf = (path: string): string => path.slice(path.lastIndexOf('\n') + 3);
/** Returns the paths of the fields that contain a field, and its own path. */
const prefixesOf = (path: string): string[] => path.split('\n').map((_, index, all) => all.slice(0, index + 1).join('\n'));
const serverFields = ['name', 'namespace', 'creationTimestamp', 'uid', 'generation', 'resourceVersion', 'deletionTimestamp'];
const neverOwned = new Set(['f:apiVersion', 'f:kind', 'f:metadata', ...serverFields.map((name) => `f:metadata\nf:${name}`)]);

/**
 * Applies a configuration as server-side apply does (sigs.k8s.io/structured-merge-diff).
 * @throws ApiError 409 if other managers own fields with other values, unless `force` is set
 */
export function applyFields(kind: StoredKind, found: Live, config: KubernetesObject, writer: Writer, force: boolean): KubernetesObject {
  const first: Writer = { ...writer, manager: 'before-first-apply', operation: 'Update' };
  const live = found === undefined || found.metadata.managedFields !== undefined ? found : updateFields(kind, undefined, found, first);
  const merge = new Merge(kind);
  const managers = decoded(live);
  const entry = { ...writer, apiVersion: config.apiVersion };
  const last = managers.get(nameOfEntry(entry))?.paths ?? new Set<string>();
  managers.delete(nameOfEntry(entry));
  const own = settable(kind, writer, merge.pathsOf(config));
  const base = live === undefined ? {} : withoutManagers(live);
  const claimed = union(own, ...[...managers.values()].map(({ paths }) => paths));
  const object = merge.pruned(merge.merged(base, config), last, claimed) as KubernetesObject;
  const { changed, removed } = merge.difference(base, object);
  const taken = settable(kind, writer, changed);
  const causes = [...managers].flatMap(([id, { paths }]) => {
    const message = `conflict with ${id}`;
    return [...paths].filter((path) => taken.has(path)).map((path) => ({ reason: 'FieldManagerConflict', message, field: textOfPath(path) }));
  });
  const message = `Apply failed with ${causes.length} conflicts: ${causes.map((each) => `${each.message}: ${each.field}`).join('\n')}`;
  if (!force && causes.length > 0) throw new ApiError({ code: 409, reason: 'Conflict', message, causes });
  for (const [id, other] of managers) managers.set(id, { ...other, paths: minus(other.paths, taken, settable(kind, writer, removed)) });
  return withManagers(object, managers.set(nameOfEntry(entry), { entry, paths: minus(own, neverOwned) }));
}

/** Records which fields a creation, replacement or patch changes, as the API server does. */
export function updateFields(kind: StoredKind, live: Live, next: KubernetesObject, writer: Writer): KubernetesObject {
  const managers = decoded(next.metadata.managedFields !== undefined && writer.subresource === undefined ? next : live);
  if (live !== undefined && managers.size === 0) return next;
  const before = live === undefined ? { metadata: {}, ...kind.empty } : withoutManagers(live);
  const difference = new Merge(kind).difference(before, withoutManagers(next));
  const [changed, removed] = [settable(kind, writer, difference.changed), settable(kind, writer, difference.removed)];
  for (const [id, other] of managers) managers.set(id, { ...other, paths: minus(other.paths, changed, removed) });
  const entry = { ...writer, apiVersion: next.apiVersion };
  const paths = union(managers.get(nameOfEntry(entry))?.paths ?? new Set<string>(), minus(changed, neverOwned));
  return withManagers(next, managers.set(nameOfEntry(entry), { entry, paths }));
}

/** Drops the fields that the request cannot set: the status, or everything but the status. */
function settable({ kept, isCustom }: StoredKind, { subresource }: Writer, paths: Paths): Set<string> {
  const ignored = subresource === undefined ? kept : ['spec', ...(isCustom ? ['metadata'] : [])];
  return new Set([...paths].filter((path) => !ignored.some((field) => `${path}\n`.startsWith(`f:${field}\n`))));
}

/** Names a manager as a conflict does, which also identifies its entry. */
function nameOfEntry({ manager, subresource, operation, apiVersion }: Entry): string {
  const by = JSON.stringify(manager) + (subresource === undefined ? '' : ` with subresource ${JSON.stringify(subresource)}`);
  return operation === 'Update' ? `${by} using ${apiVersion}` : by;
}

/** Formats a path as the API server does, for example `.webhooks[name="a"].rules`. */
function textOfPath(path: string): string {
  const keysOf = (text: string): string[] => Object.entries(JSON.parse(text) as object).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  const textOf = (element: string): string => (element.startsWith('k:') ? `[${keysOf(element.slice(2)).join()}]` : `[=${element.slice(2)}]`);
  return path.split('\n').map((element) => (element.startsWith('f:') ? `.${element.slice(2)}` : textOf(element))).join('');
}

function decoded(object: Live): Managers {
  const pathsOf = (fields: Fields, prefix = ''): string[] =>
    Object.entries(fields).flatMap(([element, below]) => {
      if (element === '.') return [prefix.slice(0, -1)];
      return Object.keys(below).length === 0 ? [prefix + element] : pathsOf(below, `${prefix}${element}\n`);
    });
  const entries = (object?.metadata.managedFields ?? []) as Entry[];
  return new Map(entries.map((entry) => [nameOfEntry(entry), { entry, paths: new Set(pathsOf(entry.fieldsV1 ?? {})) }]));
}

function withManagers(object: KubernetesObject, managers: Managers): KubernetesObject {
  const owning = [...managers].filter(([, { paths }]) => paths.size > 0).sort(([one], [other]) => (one < other ? -1 : 1));
  const managedFields = owning.map(([, { entry, paths }]) => {
    const fieldsV1: Fields = {};
    const nodes = [...paths].map((path) => path.split('\n').reduce((at, element) => (at[element] ??= {}), fieldsV1));
    for (const node of nodes) if (Object.keys(node).length > 0) node['.'] = {};
    return { ...entry, fieldsType: 'FieldsV1', fieldsV1 };
  });
  return { ...object, metadata: { ...object.metadata, managedFields: managedFields.length > 0 ? managedFields : undefined } as ObjectMeta };
}

/** Merges and compares objects of a kind by its merge rules. */
class Merge {
  static readonly #names = new Map<string, string>();
  readonly #rules: StoredKind['merge'];

  constructor({ merge }: StoredKind) { this.#rules = merge; }

  /** Returns the paths of all parts that merge separately. */
  pathsOf(value: unknown, path = '', into = new Set<string>()): Set<string> {
    const parts = this.#parts(value, path);
    if (parts === undefined) into.add(path);
    for (const [at, part] of parts ?? []) {
      this.pathsOf(part, at, into);
      if (!this.#isField(at) || isDeepStrictEqual(part, {})) into.add(at);
    }
    return into;
  }

  difference(before: unknown, after: unknown, path = '', into = { changed: new Set<string>(), removed: new Set<string>() }) {
    if (before === after) return into;
    const [left, right] = [before, after].map((value) => this.#parts(value, path) ?? new Map<string, unknown>());
    for (const at of new Set([...left!.keys(), ...right!.keys()])) this.difference(left!.get(at), right!.get(at), at, into);
    const isLeaf = left!.size + right!.size === 0;
    if (after === undefined) into.removed.add(path);
    else if (before === undefined || (isLeaf && !isDeepStrictEqual(before, after))) into.changed.add(path);
    return into;
  }

  merged(before: unknown, after: unknown, path = ''): unknown {
    if (after === undefined) return before;
    const [left, right] = [this.#parts(before, path), this.#parts(after, path)];
    if (left === undefined || right === undefined || left.size + right.size === 0) return after;
    const partAt = (at: string): unknown => this.merged(left.get(at), right.get(at), at);
    if (Array.isArray(after)) return mergedOrder([...left.keys()], [...right.keys()]).map(partAt);
    return Object.fromEntries([...left.keys(), ...right.keys()].map((at) => [nameOf(at), partAt(at)]));
  }

  /** Removes what the manager applied last, unless a manager claims it now (Updater.prune). */
  pruned(merged: unknown, last: Paths, claimed: Paths): unknown {
    if (minus(last, claimed).size === 0) return merged;
    const [applied, kept] = [this.#withParents(last), this.#withParents(claimed)];
    const isGone = (path: string): boolean => {
      const prefixes = prefixesOf(path);
      return prefixes.slice(prefixes.findIndex((each) => applied.has(each))).some((each) => !kept.has(each));
    };
    return this.#without(merged, new Set([...applied].filter(isGone)));
  }

  #without(value: unknown, gone: Paths, path = ''): unknown {
    const isAbove = gone.size > 0 && (path === '' || [...gone].some((each) => each.startsWith(`${path}\n`)));
    const parts = isAbove ? this.#parts(value, path) : undefined;
    if (parts === undefined) return value;
    const kept = [...parts].filter(([at]) => !gone.has(at)).map(([at, part]) => [nameOf(at), this.#without(part, gone, at)] as const);
    // As in Go, an emptied value stays as null.
    if (kept.length === 0) return null;
    return Array.isArray(value) ? kept.map(([, part]) => part) : Object.fromEntries(kept);
  }

  /** Adds the fields of structs that contain a field of the set (EnsureNamedFieldsAreMembers). */
  #withParents(paths: Paths): Set<string> {
    return union(paths, new Set([...paths].flatMap(prefixesOf).filter((each) => this.#isField(each))));
  }

  /** Whether a path ends with a field of a struct, not with a key of a map or a list. */
  #isField(path: string): boolean {
    const parent = path.slice(0, Math.max(0, path.lastIndexOf('\n')));
    return path.slice(parent.length).trimStart().startsWith('f:') && this.#rule(parent) !== 'map';
  }

  #rule(path: string): StoredKind['merge'][string] | undefined {
    const name = Merge.#names.get(path) ?? path.replace(/\n[kv]:[^\n]*/g, '[]').replace(/\nf:/g, '.').slice(2);
    Merge.#names.set(path, name);
    return this.#rules[name];
  }

  /** Returns the parts that merge separately; undefined for a scalar or an atomic value. */
  #parts(value: unknown, path: string): Map<string, unknown> | undefined {
    const rule = this.#rule(path);
    if (typeof value !== 'object' || value === null || rule === 'atomic') return undefined;
    const prefix = path === '' ? '' : `${path}\n`;
    if (!Array.isArray(value)) return new Map(Object.entries(value).map(([name, part]) => [`${prefix}f:${name}`, part]));
    if (rule === 'set') return new Map(value.map((item: unknown) => [`${prefix}v:${JSON.stringify(item)}`, item]));
    if (typeof rule !== 'object') return undefined;
    // The only key that may be missing is the protocol of a port.
    const keysOf = (item: Record<string, unknown>): object => Object.fromEntries(rule.map((key) => [key, item[key] ?? 'TCP']));
    return new Map(value.map((item: Record<string, unknown>) => [`${prefix}k:${JSON.stringify(keysOf(item))}`, item]));
  }
}

/** Keeps the order of the applied list, and other items where they were (typed.mergingWalker). */
function mergedOrder(left: readonly string[], right: readonly string[]): string[] {
  const order: string[] = [];
  const rest = [...right];
  for (const item of left) {
    if (!right.includes(item)) order.push(item);
    else if (rest.find((each) => left.includes(each)) === item) order.push(...rest.splice(0, rest.indexOf(item) + 1));
  }
  return [...order, ...rest];
}
