import { noStrings, type Pod } from '../pod/pod.ts';
import type { Workload } from '../pod/workload.ts';
import { isJsonObject, type JsonObject } from '../patch/json-value.ts';
import { useOf, type AuthorReads, type MapReads, type Use } from './author-reads.ts';
import { isHarmless, isHarmlessImage } from './harmless-text.ts';

/** What templates see of one pod, as far as its author wrote it. */
export interface AuthorView {
  readonly pod: Pod;
  readonly workload: Workload;
}

/** A text of the author's that a template reads; of the texts at one place it is the first that is not harmless. */
export interface AuthorInput extends Use {
  readonly kind: 'annotation' | 'label' | 'field';
  /** Of the annotation or label; where the field is. */
  readonly name: string;
  readonly value: string;
  readonly harmless: boolean;
  /** For a field: the names from the root of the data. */
  readonly place?: readonly string[];
}

const members = { annotation: 'annotations', label: 'labels' } as const;

/** The annotations and labels that the pod carries and templates read, and of all other texts that they read those that are not harmless. */
export function authorInputs(view: AuthorView, reads: AuthorReads): AuthorInput[] {
  const { annotations = noStrings, labels = noStrings } = view.pod.metadata;
  const inputs = [
    ...mapInputs('annotation', annotations, reads.annotations),
    ...mapInputs('label', labels, reads.labels),
  ];
  for (const place of reads.fields) {
    const isHarmlessAt = place.at(-1) === 'image' ? isHarmlessImage : isHarmless;
    let found: string | undefined;
    visitTexts(dataOf(view), place, 0, (value) => {
      if (found === undefined && !isHarmlessAt(value)) found = value;
    });
    if (found === undefined) continue;
    inputs.push({
      kind: 'field',
      name: fieldName(place),
      value: found,
      harmless: false,
      steers: false,
      parsed: false,
      place,
    });
  }
  return inputs;
}

/** `ObjectMeta`, `name` → `metadata.name`; what the data says of the workload comes from the owner of the pod. */
function fieldName([object = '', ...names]: readonly string[]): string {
  const path = names.map((name) => (name === '*' ? '[]' : `.${name}`)).join('');
  if (object === 'ObjectMeta') return `metadata${path}`;
  return object === 'Spec' ? `spec${path}` : `metadata.ownerReferences[]${path}`;
}

function mapInputs(
  kind: 'annotation' | 'label',
  map: Readonly<Record<string, string>>,
  reads: MapReads,
): AuthorInput[] {
  const names = reads.others === undefined ? reads.byName.keys() : Object.keys(map);
  const inputs: AuthorInput[] = [];
  for (const name of names) {
    const use = useOf(reads, name);
    if (use === undefined || !Object.hasOwn(map, name)) continue;
    const value = map[name] ?? '';
    // Where a template goes over all of them it may show the names too.
    const harmless = isHarmless(value) && (reads.others === undefined || isPlainName(name));
    inputs.push({ kind, name, value, harmless, ...use });
  }
  return inputs;
}

/** A name as the API server will demand it. */
function isPlainName(name: string): boolean {
  return name.split('/').every(isHarmless);
}

/**
 * The same view with the texts of some inputs replaced.
 * @param replace `undefined` takes an annotation or label away.
 */
export function withInputs(
  view: AuthorView,
  inputs: readonly AuthorInput[],
  replace: (value: string) => string | undefined,
): AuthorView {
  let { pod, workload } = view;
  for (const input of inputs) {
    if (input.kind === 'field') {
      const changed = replaceTexts(dataOf({ pod, workload }), input.place ?? [], 0, (text) =>
        isHarmless(text) ? text : (replace(text) ?? ''),
      ) as Data;
      pod = { ...pod, metadata: changed.ObjectMeta, spec: changed.Spec };
      workload = { ...changed.DeploymentMeta, ...changed.TypeMeta };
    } else {
      const key = members[input.kind];
      const value = replace(input.value);
      const entries = Object.entries(pod.metadata[key] ?? noStrings).flatMap(([name, text]): [string, string][] => {
        if (name !== input.name) return [[name, text]];
        return value === undefined ? [] : [[isPlainName(name) ? name : (replace(name) ?? name), value]];
      });
      pod = { ...pod, metadata: { ...pod.metadata, [key]: Object.fromEntries(entries) } };
    }
  }
  return { pod, workload };
}

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

/** {@link replaceTexts} that only looks: for every pod, so it makes nothing. */
function visitTexts(value: unknown, place: readonly string[], depth: number, found: (text: string) => void): void {
  if (typeof value === 'string') {
    found(value);
  } else if (Array.isArray(value)) {
    for (const item of value as unknown[]) visitTexts(item, place, depth + 1, found);
  } else if (isJsonObject(value)) {
    const name = place[depth];
    if (name !== undefined && name !== '*') {
      if (Object.hasOwn(value, name)) visitTexts(value[name], place, depth + 1, found);
      return;
    }
    for (const key of Object.keys(value)) {
      if (isOwnInput(place, depth, key)) continue;
      found(key);
      visitTexts(value[key], place, depth + 1, found);
    }
  }
}
