import { podStruct } from '../kubernetes/pod-schema.ts';
import { listOf, withServerDefaults } from '../kubernetes/server-defaults.ts';
import { objectAt } from '../objects/workload-kinds.ts';
import { jsonEqual } from '../patch/json-equal.ts';
import type { JsonObject } from '../patch/json-value.ts';
import type { Named, Pod } from '../pod/pod.ts';
import { proxyContainer } from '../pod/proxy-container.ts';
import type { AuthorGuard } from './author-guard.ts';
import type { FieldPath } from './field-path.ts';
import { attempt } from './narrow.ts';
import { sameName } from './refusal.ts';

/** A list of a pod's spec whose elements the strategic merge joins by a key. */
interface KeyedList {
  readonly list: string;
  readonly key: string;
}

/** All lists in whose elements a merge can change more than the key. */
const keyedLists = podStruct('v1.PodSpec').fields.flatMap(({ name, type, patchStrategy, mergeKey }): KeyedList[] => {
  const hasFields = type.kind === 'list' && type.element.kind === 'struct' && type.element.fields.length > 1;
  return hasFields && patchStrategy === 'merge' ? [{ list: name, key: mergeKey }] : [];
});
/** The lists in which Kubernetes allows each name once, over all of them. */
const containerLists: ReadonlySet<string> = new Set(['containers', 'initContainers', 'ephemeralContainers']);

/** A pod that was injected without a check of its elements. */
export interface UncheckedPod {
  /** The pod before the injection. */
  readonly original: Pod;
  /** An empty pod with what the templates add to `original`. */
  readonly template: Pod;
  readonly result: Pod;
  /** The annotation of an earlier injection, if the pod has one. An author can forge it. */
  readonly status: string | undefined;
  /**
   * Renders the templates for another pod. Believes no annotation of an earlier injection, and
   * checks nothing.
   * @throws InjectionFailure
   */
  readonly render: (pod: Pod) => { readonly template: Pod; readonly finish: () => Pod };
}

/** An injected pod, with warnings for its author. */
export interface CheckedPod {
  readonly pod: Pod;
  readonly warnings: readonly string[];
  /** The elements of the pod that the templates add too; none if the pod was not checked. */
  readonly shared: ReadonlySet<string>;
}

const none: ReadonlySet<string> = new Set();

/** Returns an injected pod that needs no check. */
export function unchecked(pod: Pod): CheckedPod {
  return { pod, warnings: [], shared: none };
}

/**
 * Compares the elements that templates add (containers, volumes and so on) with those of the same
 * pod without its own elements of these names. They must be equal, apart from the defaults of the
 * API server, which an earlier injection of the same request has got. An element that templates
 * name only because the pod has it is the pod's own, which the templates change.
 * @throws InjectionFailure `SameName` for a difference, unless the configuration only warns
 */
export function checkSameNames({ sameName: { action, fields } }: AuthorGuard, injected: UncheckedPod): CheckedPod {
  const { original, template, result, status, render } = injected;
  const names = namesIn(template);
  const taken = new Set([...namesIn(original)].filter((name) => names.has(name)));
  if (taken.size === 0 && status === undefined) return unchecked(result);
  const given = attempt(() => namesIn(render(withItems(original, taken, renamed)).template)) ?? names;
  const own = new Set([...names].filter((name) => !taken.has(name) || given.has(name)));
  const reference = attempt(() => render(withItems(original, own, () => [])).finish());
  const paths = reference === undefined ? [['spec']] : differences(result, reference, own, fields);
  if (reference !== undefined && paths.length === 0)
    return {
      pod: inOrderOf(result, reference),
      warnings: [],
      shared: new Set([...taken].filter((name) => own.has(name))),
    };
  const failure = sameName(paths, status);
  if (action === 'Refuse') throw failure;
  return { pod: result, warnings: [failure.message], shared: none };
}

/**
 * Returns a pod as received, without the fields of shared elements that the check does not know:
 * a later version of Kubernetes can have more fields.
 * @param read the pod after parsing
 */
export function withoutUnknown(raw: JsonObject, read: Pod, shared: ReadonlySet<string>): JsonObject {
  if (shared.size === 0) return raw;
  const spec = { ...objectAt(raw, ['spec']) };
  for (const each of keyedLists) {
    const [items, known] = [spec[each.list], listOf(read.spec[each.list])];
    if (!Array.isArray(items)) continue;
    const isShared = (item: JsonObject | undefined): boolean => item !== undefined && shared.has(nameOf(each, item));
    spec[each.list] = (items as unknown[]).map((item, index) => (isShared(known[index]) ? known[index] : item));
  }
  return { ...raw, spec };
}

/** Identifies an element by its list and key. All lists of containers count as one. */
function nameOf({ list, key }: KeyedList, item: JsonObject): string {
  return `${containerLists.has(list) ? 'containers' : list}\0${String(item[key])}`;
}

function namesIn({ spec }: Pod): Set<string> {
  const names = new Set<string>();
  for (const each of keyedLists) for (const item of listOf(spec[each.list])) names.add(nameOf(each, item));
  return names;
}

/** Changes the named elements of a pod. */
function withItems(
  pod: Pod,
  names: ReadonlySet<string>,
  change: (item: JsonObject, key: string) => readonly JsonObject[],
): Pod {
  const changed = keyedLists.flatMap((each): [string, unknown][] => {
    const items = pod.spec[each.list];
    if (!Array.isArray(items)) return [];
    const kept = listOf(items).flatMap((item) => (names.has(nameOf(each, item)) ? change(item, each.key) : [item]));
    return [[each.list, kept]];
  });
  return { ...pod, spec: { ...pod.spec, ...Object.fromEntries(changed) } };
}

/** Gives an element a key that no template contains. */
function renamed(item: JsonObject, key: string): JsonObject[] {
  return [{ ...item, [key]: `${String(item[key])}-zq7x4k` }];
}

/** Returns the paths at which the named elements of two pods differ. */
function differences(
  result: Pod,
  reference: Pod,
  names: ReadonlySet<string>,
  allowed: ReadonlySet<string>,
): FieldPath[] {
  const [is, should] = [withServerDefaults(result), withServerDefaults(reference)] as [Pod, Pod];
  return keyedLists.flatMap((each) => {
    const { list, key } = each;
    const mayDiffer = containerLists.has(list) ? allowed : new Set<string>();
    const expected = new Map(listOf(should.spec[list]).map((item) => [nameOf(each, item), item]));
    const items = listOf(is.spec[list]).filter((item) => names.has(nameOf(each, item)));
    const found = new Set(items.map((item) => nameOf(each, item)));
    const missing = [...expected].filter(([name]) => names.has(name) && !found.has(name));
    return [
      ...missing.map(([, item]) => ['spec', list, `[${String(item[key])}]`]),
      ...items.flatMap((item): FieldPath[] => {
        const path = ['spec', list, `[${String(item[key])}]`];
        const other = expected.get(nameOf(each, item));
        if (other === undefined) return [path];
        const differing = Object.keys({ ...item, ...other }).filter(
          (field) => !mayDiffer.has(field) && !jsonEqual(valueOf(item, field), valueOf(other, field)),
        );
        return differing.map((field) => [...path, field]);
      }),
    ];
  });
}

/** The variables that the engine adds to a proxy; they hold probes and annotations of the pod. */
const engineVariables: ReadonlySet<unknown> = new Set(['ISTIO_KUBE_APP_PROBERS', 'ISTIO_PROMETHEUS_ANNOTATIONS']);

function valueOf(item: JsonObject, field: string): unknown {
  if (field !== 'env' || item.name !== proxyContainer) return item[field];
  return listOf(item.env).filter(({ name, valueFrom }) => !engineVariables.has(name) || valueFrom !== undefined);
}

/** Orders the containers like those of another pod with the same names. */
function inOrderOf(pod: Pod, { spec }: Pod): Pod {
  const sorted = Object.entries(pod.spec).map(([list, items]): [string, unknown] => {
    if (!containerLists.has(list) || !Array.isArray(items)) return [list, items];
    const order = new Map(listOf(spec[list]).map(({ name }, index) => [name, index]));
    const indexOf = ({ name }: Named): number => order.get(name) ?? order.size;
    return [list, (items as Named[]).toSorted((one, other) => indexOf(one) - indexOf(other))];
  });
  return { ...pod, spec: Object.fromEntries(sorted) as Pod['spec'] };
}
