import { noStrings, type Pod } from '../pod/pod.ts';
import type { Workload } from '../pod/workload.ts';
import { isJsonObject, type JsonObject } from '../patch/json-value.ts';
import type { AuthorReads } from './author-reads.ts';
import { isHarmless, isHarmlessImage } from './harmless-text.ts';

/** What templates see of one pod, as far as its author wrote it. */
export interface AuthorView {
  readonly pod: Pod;
  readonly workload: Workload;
}

/** A text of the author's; of the fields at one place it is the first text that is not harmless. */
export interface AuthorInput {
  readonly kind: 'annotation' | 'label' | 'field';
  /** Of the annotation or label; where the field is. */
  readonly name: string;
  readonly value: string;
  readonly harmless: boolean;
  /** For a field: the names from the root of the data. */
  readonly place?: readonly string[];
}

/** What takes the place of a text. */
export type Replacement = (text: string) => string | undefined;

/**
 * All annotations and labels of the pod, whatever templates read of them, and of all other texts that templates print the first one at each place
 * that is not harmless.
 */
export function authorInputs(view: AuthorView, fields: AuthorReads['fields']): AuthorInput[] {
  const { annotations = noStrings, labels = noStrings } = view.pod.metadata;
  const inputs = [...mapInputs('annotation', annotations), ...mapInputs('label', labels)];
  for (const place of fields) {
    const isHarmlessAt = harmlessAt.get(place.at(-1) ?? '') ?? isHarmless;
    const value = findText(dataOf(view), place, 0, (text) => !isHarmlessAt(text));
    if (value !== undefined) inputs.push({ kind: 'field', name: fieldName(place), value, harmless: false, place });
  }
  return inputs;
}

/** Texts that are harmless at their place. */
const harmlessAt: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ['image', isHarmlessImage],
  // `web-`: names are made of it by putting letters behind.
  ['generateName', (text: string): boolean => isHarmless(text.replace(/-$/, ''))],
]);

/** `ObjectMeta`, `name` → `metadata.name`; what the data says of the workload comes from the owner of the pod. */
function fieldName([object = '', ...names]: readonly string[]): string {
  const path = names.map((name) => (name === '*' ? '[]' : `.${name}`)).join('');
  if (object === 'ObjectMeta') return `metadata${path}`;
  return object === 'Spec' ? `spec${path}` : `metadata.ownerReferences[]${path}`;
}

function mapInputs(kind: 'annotation' | 'label', map: Readonly<Record<string, string>>): AuthorInput[] {
  // A template that goes over all of them may show the names too.
  return Object.entries(map).map(([name, value]) => ({
    kind,
    name,
    value,
    harmless: isHarmless(value) && isPlainName(name),
  }));
}

/** A name as the API server will demand it. */
function isPlainName(name: string): boolean {
  return name.split('/').every(isHarmless);
}

/**
 * The same view with the texts of some inputs replaced.
 * @param replace `undefined` takes an annotation or label away.
 * @param rename what an annotation or label is called then; when absent, only names that are not plain are replaced, like texts
 */
export function withInputs(
  view: AuthorView,
  inputs: readonly AuthorInput[],
  replace: Replacement,
  rename: Replacement = (name) => (isPlainName(name) ? name : replace(name)),
): AuthorView {
  let { pod, workload } = view;
  for (const { place } of inputs) {
    if (place === undefined) continue;
    const changed = replaceTexts(dataOf({ pod, workload }), place, 0, (text) =>
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
    // A pod without any has no map, which templates print as null.
    metadata = { ...metadata, [part]: entries.length === 0 ? undefined : Object.fromEntries(entries) };
  }
  return { pod: { ...pod, metadata }, workload };
}

const parts = [
  ['annotation', 'annotations'],
  ['label', 'labels'],
] as const;

/** The part of the data that comes from the author, by the names that templates use. */
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

/** Annotations and labels are inputs of their own. */
function isOwnInput(place: readonly string[], depth: number, key: string): boolean {
  return place[0] === 'ObjectMeta' && depth === 1 && (key === 'annotations' || key === 'labels');
}

/** A value with the texts at a place replaced; below the end of the place that is all texts, names too. */
function replaceTexts(
  value: unknown,
  place: readonly string[],
  depth: number,
  replace: (text: string) => string,
): unknown {
  if (typeof value === 'string') return replace(value);
  if (Array.isArray(value)) return (value as unknown[]).map((item) => replaceTexts(item, place, depth + 1, replace));
  if (!isJsonObject(value)) return value;
  const name = place[depth];
  const whole = name === undefined || name === '*';
  return Object.fromEntries(
    Object.entries(value).map(([key, below]): [string, unknown] => {
      if (isOwnInput(place, depth, key) || (!whole && key !== name)) return [key, below];
      return [whole ? replace(key) : key, replaceTexts(below, place, depth + 1, replace)];
    }),
  );
}

/** The first of the texts at a place that is looked for: for every pod, so it makes nothing. */
function findText(
  value: unknown,
  place: readonly string[],
  depth: number,
  isWanted: (text: string) => boolean,
): string | undefined {
  if (typeof value === 'string') return isWanted(value) ? value : undefined;
  if (Array.isArray(value)) {
    for (const item of value as unknown[]) {
      const found = findText(item, place, depth + 1, isWanted);
      if (found !== undefined) return found;
    }
  } else if (isJsonObject(value)) {
    const name = place[depth];
    if (name !== undefined && name !== '*')
      return Object.hasOwn(value, name) ? findText(value[name], place, depth + 1, isWanted) : undefined;
    for (const key of Object.keys(value)) {
      if (isOwnInput(place, depth, key)) continue;
      const found = isWanted(key) ? key : findText(value[key], place, depth + 1, isWanted);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}
