import { noStrings, type Pod } from '../pod/pod.ts';
import type { Workload } from '../pod/workload.ts';
import { isJsonObject, type JsonObject } from '../patch/json-value.ts';
import type { AuthorReads } from './author-reads.ts';
import { isHarmless, isHarmlessImage } from './harmless-text.ts';

/** The author's part of the data that templates see. */
export interface AuthorView {
  readonly pod: Pod;
  readonly workload: Workload;
}

/** A text from the author. For a field path, the first text at the path that is not harmless. */
export interface AuthorInput {
  readonly kind: 'annotation' | 'label' | 'field';
  /** The key of the annotation or label, or the path of the field. */
  readonly name: string;
  readonly value: string;
  readonly harmless: boolean;
  /** The path of a field, from the root of the data. */
  readonly path?: readonly string[];
}

/** Replaces a text; `undefined` removes an annotation or label. */
export type Replacement = (text: string) => string | undefined;

/**
 * Returns all annotations and labels, even if no template reads them, and in each printed field the
 * first text that is not harmless.
 */
export function authorInputs(view: AuthorView, fields: AuthorReads['fields']): AuthorInput[] {
  const { annotations = noStrings, labels = noStrings } = view.pod.metadata;
  const inputs = [...mapInputs('annotation', annotations), ...mapInputs('label', labels)];
  for (const path of fields) {
    const isHarmlessAt = harmlessAt.get(path.at(-1) ?? '') ?? isHarmless;
    const value = findText(dataOf(view), path, 0, (text) => !isHarmlessAt(text));
    if (value !== undefined) inputs.push({ kind: 'field', name: fieldName(path), value, harmless: false, path });
  }
  return inputs;
}

/** The fields for which the definition of harmless differs. */
const harmlessAt: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['image', isHarmlessImage],
  // `web-` is a prefix that the API server completes.
  ['generateName', (text: string): boolean => isHarmless(text.replace(/-$/, ''))],
]);

/** Formats a path, e.g. `metadata.name`. Workload fields come from the owner reference. */
function fieldName([object = '', ...names]: readonly string[]): string {
  const path = names.map((name) => (name === '*' ? '[]' : `.${name}`)).join('');
  if (object === 'ObjectMeta') return `metadata${path}`;
  return object === 'Spec' ? `spec${path}` : `metadata.ownerReferences[]${path}`;
}

function mapInputs(kind: 'annotation' | 'label', map: Readonly<Record<string, string>>): AuthorInput[] {
  // A template that ranges over a map can print its keys.
  return Object.entries(map).map(([name, value]) => ({
    kind,
    name,
    value,
    harmless: isHarmless(value) && isPlainName(name),
  }));
}

/** Reports whether the API server would accept a key. */
function isPlainName(name: string): boolean {
  return name.split('/').every(isHarmless);
}

/**
 * Returns a view in which the inputs are replaced.
 * @param replace returns `undefined` to remove an annotation or label
 * @param rename maps keys of annotations and labels; by default, maps only keys that are not plain
 */
export function withInputs(
  view: AuthorView,
  inputs: readonly AuthorInput[],
  replace: Replacement,
  rename: Replacement = (name) => (isPlainName(name) ? name : replace(name)),
): AuthorView {
  let { pod, workload } = view;
  for (const { path } of inputs) {
    if (path === undefined) continue;
    const changed = replaceTexts(dataOf({ pod, workload }), path, 0, (text) =>
      isHarmless(text) ? text : (replace(text) ?? ''),
    ) as Data;
    pod = { ...pod, metadata: changed.ObjectMeta, spec: changed.Spec };
    workload = { ...changed.DeploymentMeta, ...changed.TypeMeta };
  }
  let { metadata } = pod;
  for (const [kind, part] of parts) {
    const chosen = new Set(inputs.filter((input) => input.kind === kind).map(({ name }) => name));
    if (chosen.size === 0) continue;
    const entries = Object.entries(metadata[part] ?? noStrings).flatMap(([name, text]): [string, string][] => {
      if (!chosen.has(name)) return [[name, text]];
      const value = replace(text);
      return value === undefined ? [] : [[rename(name) ?? name, value]];
    });
    // Templates print a missing map as null.
    metadata = { ...metadata, [part]: entries.length === 0 ? undefined : Object.fromEntries(entries) };
  }
  return { pod: { ...pod, metadata }, workload };
}

const parts = [
  ['annotation', 'annotations'],
  ['label', 'labels'],
] as const;

/** The author's part of the data, with the field names of templates. */
interface Data extends JsonObject {
  readonly ObjectMeta: Pod['metadata'];
  readonly Spec: Pod['spec'];
  readonly DeploymentMeta: Pick<Workload, 'name' | 'namespace'>;
  readonly TypeMeta: Pick<Workload, 'apiVersion' | 'kind'>;
}

function dataOf({ pod, workload }: AuthorView): Data {
  const { name, namespace, apiVersion, kind } = workload;
  return {
    ObjectMeta: pod.metadata,
    Spec: pod.spec,
    DeploymentMeta: { name, namespace },
    TypeMeta: { apiVersion, kind },
  };
}

/** Reports whether a key holds the annotations or labels, which are separate inputs. */
function isOwnInput(path: readonly string[], depth: number, key: string): boolean {
  return path[0] === 'ObjectMeta' && depth === 1 && (key === 'annotations' || key === 'labels');
}

/** Replaces the texts at a path, and all keys and texts below the path's end. */
function replaceTexts(
  value: unknown,
  path: readonly string[],
  depth: number,
  replace: (text: string) => string,
): unknown {
  if (typeof value === 'string') return replace(value);
  if (Array.isArray(value)) return (value as unknown[]).map((item) => replaceTexts(item, path, depth + 1, replace));
  if (!isJsonObject(value)) return value;
  const name = path[depth];
  const whole = name === undefined || name === '*';
  return Object.fromEntries(
    Object.entries(value).map(([key, below]): [string, unknown] => {
      if (isOwnInput(path, depth, key) || (!whole && key !== name)) return [key, below];
      return [whole ? replace(key) : key, replaceTexts(below, path, depth + 1, replace)];
    }),
  );
}

/** Returns the first matching text at a path. Runs for every pod, so it allocates nothing. */
function findText(
  value: unknown,
  path: readonly string[],
  depth: number,
  matches: (text: string) => boolean,
): string | undefined {
  if (typeof value === 'string') return matches(value) ? value : undefined;
  if (Array.isArray(value)) {
    for (const item of value as unknown[]) {
      const found = findText(item, path, depth + 1, matches);
      if (found !== undefined) return found;
    }
  } else if (isJsonObject(value)) {
    const name = path[depth];
    if (name !== undefined && name !== '*')
      return Object.hasOwn(value, name) ? findText(value[name], path, depth + 1, matches) : undefined;
    for (const key of Object.keys(value)) {
      if (isOwnInput(path, depth, key)) continue;
      const found = matches(key) ? key : findText(value[key], path, depth + 1, matches);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}
