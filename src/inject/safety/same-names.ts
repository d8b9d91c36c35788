import { podStruct } from '../kubernetes/pod-schema.ts';
import { listOf, withServerDefaults } from '../kubernetes/admission-pod.ts';
import { jsonEqual } from '../patch/json-equal.ts';
import type { JsonObject } from '../patch/json-value.ts';
import type { Named, Pod } from '../pod/pod.ts';
import { proxyContainer } from '../pod/proxy-container.ts';
import type { AuthorGuard } from './author-guard.ts';
import type { FieldPath } from './field-path.ts';
import { attempt } from './narrow.ts';
import { elementsReplaced, sameName } from './refusal.ts';

/** The lists in which Kubernetes allows each name once, over all of them. */
const containerLists: readonly string[] = ['containers', 'initContainers', 'ephemeralContainers'];
/** The lists of a pod's spec in whose elements a merge can change more than the key. */
const keyedLists = podStruct('v1.PodSpec').fields.flatMap(({ name, type, patchStrategy, mergeKey }) => {
  const hasFields = type.kind === 'list' && type.element.kind === 'struct' && type.element.fields.length > 1;
  const isContainer = containerLists.includes(name);
  const list = { list: name, key: mergeKey, isContainer, rivals: isContainer ? containerLists : [name] };
  return hasFields && patchStrategy === 'merge' ? [list] : [];
});

/** A pod that was injected without a check of its elements. */
export interface UncheckedPod {
  /** The pod before the injection. */
  readonly original: Pod;
  /** An empty pod with what the templates add to `original`. */
  readonly template: Pod;
  readonly result: Pod;
  /** The annotations of an earlier injection that the pod has. An author can forge them. */
  readonly marks: readonly string[];
  /** Whether one of them is the status that each injection writes. */
  readonly wasInjected: boolean;
  /** Renders another pod, and ignores these annotations. @throws InjectionFailure */
  readonly render: (pod: Pod) => { readonly template: Pod; readonly finish: () => Pod };
}

/** An injected pod, with warnings for its author. */
export interface CheckedPod {
  readonly pod: Pod;
  readonly warnings: readonly string[];
  /** The names of elements that the pod and the templates have; none if the check did not pass. */
  readonly shared: ReadonlySet<string>;
}

const nothing: ReadonlySet<string> = new Set();

/** Returns an injected pod that needs no check. */
export function unchecked(pod: Pod, warnings: readonly string[] = []): CheckedPod {
  return { pod, warnings, shared: nothing };
}

/**
 * Compares the elements that templates add (containers, volumes and so on) with those of the same
 * pod without its own elements of these names. They must be equal, apart from the defaults of the
 * API server, which the elements of an earlier injection have. An element that templates name only
 * because the pod has it is the pod's own, which the templates change.
 * If they differ in a pod that was injected before, the templates' elements replace the pod's: the
 * templates may have changed, or another webhook may have changed the sidecar.
 * @throws InjectionFailure `SameName` for another difference, unless the configuration only warns
 */
export function checkSameNames({ sameName: { action, fields } }: AuthorGuard, injected: UncheckedPod): CheckedPod {
  const { original, template, result, marks, wasInjected, render } = injected;
  const names = namesIn(template);
  const taken = new Set([...namesIn(original)].filter((name) => names.has(name)));
  const given = attempt(() => namesIn(render(withItems(original, taken, renamed)).template)) ?? names;
  const own = new Set([...names].filter((name) => !taken.has(name) || given.has(name)));
  const reference = attempt(() => render(withItems(original, own, () => [])).finish());
  const paths = reference === undefined ? [['spec']] : differences(result, reference, own, fields, autoIn(original));
  if (reference !== undefined && paths.length === 0)
    return { pod: inOrderOf(result, reference), warnings: [], shared: own };
  const failure = sameName(paths, marks);
  if (action === 'Warn') return unchecked(result, [failure.message]);
  // Replace elements of an earlier injection. Forging the annotation only loses own elements.
  if (reference !== undefined && wasInjected)
    return { pod: withVariablesOf(result, reference), warnings: [elementsReplaced(paths)], shared: own };
  throw failure;
}

/** Empties elements, so that fields of theirs that are not known here are not carried over. */
export function withoutShared(pod: Pod, shared: ReadonlySet<string>): Pod {
  return shared.size === 0 ? pod : withItems(pod, shared, () => [{}]);
}

type KeyedList = (typeof keyedLists)[number];

/** Identifies an element by its list and key. All lists of containers count as one. */
function nameOf({ key, rivals }: KeyedList, item: JsonObject): string {
  return `${rivals.join()}\0${String(item[key])}`;
}

/** Reports whether a pod has elements of the templates' names. Runs for every pod. */
export function hasShared({ spec }: Pod, template: Pod): boolean {
  for (const { list, key, rivals } of keyedLists) {
    const added = template.spec[list] as readonly JsonObject[] | null | undefined;
    if (!added) continue;
    for (const rival of rivals) {
      const own = spec[rival] as readonly JsonObject[] | null | undefined;
      if (own?.some((item) => added.some((each) => each[key] === item[key])) === true) return true;
    }
  }
  return false;
}

function namesIn({ spec }: Pod): Set<string> {
  return new Set(keyedLists.flatMap((each) => listOf(spec[each.list]).map((item) => nameOf(each, item))));
}

/** Changes the named elements of a pod. */
function withItems(
  pod: Pod,
  names: ReadonlySet<string>,
  change: (item: JsonObject, key: string) => readonly JsonObject[],
): Pod {
  const spec: Record<string, unknown> = { ...pod.spec };
  for (const each of keyedLists.filter(({ list }) => Array.isArray(spec[list])))
    spec[each.list] = listOf(spec[each.list]).flatMap((item) =>
      names.has(nameOf(each, item)) ? change(item, each.key) : [item],
    );
  return { ...pod, spec: spec as Pod['spec'] };
}

/** Gives an element a key that no template contains. */
function renamed(item: JsonObject, key: string): JsonObject[] {
  return [{ ...item, [key]: `${String(item[key])}-zq7x4k` }];
}

/** Returns the names of containers that leave the image to the templates, as gateways do. */
function autoIn({ spec }: Pod): ReadonlySet<unknown> {
  const containers = containerLists.flatMap((list) => listOf(spec[list]));
  return new Set(containers.filter(({ image }) => image === 'auto').map(({ name }) => name));
}

/**
 * Returns the paths at which the named elements of two pods differ.
 * @param auto the containers with image `auto`, which has no tag, so that the API server has set
 *   their imagePullPolicy to Always before the admission
 */
function differences(
  result: Pod,
  reference: Pod,
  names: ReadonlySet<string>,
  allowed: ReadonlySet<string>,
  auto: ReadonlySet<unknown>,
): FieldPath[] {
  const [is, should] = [elementsOf(result, names), elementsOf(reference, names)];
  return [...new Map([...is, ...should])].flatMap(([id, { path, isContainer }]): FieldPath[] => {
    const [item, other] = [is.get(id)?.item, should.get(id)?.item];
    if (item === undefined || other === undefined) return [path];
    const isPulled = isContainer && auto.has(item.name) && item.imagePullPolicy === 'Always';
    const differing = Object.keys({ ...item, ...other })
      .filter((field) => !jsonEqual(item[field], other[field]))
      .filter((field) => !(isPulled && field === 'imagePullPolicy'));
    return differing.filter((field) => !(isContainer && allowed.has(field))).map((field) => [...path, field]);
  });
}

/** The variables that the engine adds to a proxy; they hold probes and annotations of the pod. */
const engineVariables: ReadonlySet<unknown> = new Set(['ISTIO_KUBE_APP_PROBERS', 'ISTIO_PROMETHEUS_ANNOTATIONS']);
const proxies: ReadonlySet<string> = new Set([`${containerLists.join()}\0${proxyContainer}`]);

function isEngines({ name, valueFrom }: JsonObject): boolean {
  return engineVariables.has(name) && valueFrom === undefined;
}

/** Gives a pod's proxy the engine's variables of another pod. Its probes already need them. */
function withVariablesOf({ spec }: Pod, pod: Pod): Pod {
  const items = containerLists.flatMap((list) => listOf(spec[list])).filter(({ name }) => name === proxyContainer);
  const variables = items.flatMap(({ env }) => listOf(env).filter(isEngines));
  if (variables.length === 0) return pod;
  return withItems(pod, proxies, (item) => [
    { ...item, env: [...listOf(item.env).filter((variable) => !isEngines(variable)), ...variables] },
  ]);
}

/** Returns the named elements, with the API server's defaults, without the engine's variables. */
function elementsOf(pod: Pod, names: ReadonlySet<string>) {
  const elements = new Map<string, { path: FieldPath; isContainer: boolean; item: JsonObject }>();
  const { spec } = withServerDefaults(pod) as Pod;
  for (const each of keyedLists) {
    for (const [index, item] of listOf(spec[each.list]).entries()) {
      if (!names.has(nameOf(each, item))) continue;
      const env = listOf(item.env).filter((variable) => !isEngines(variable));
      const id = `${each.list} ${String(item[each.key])}`;
      elements.set(elements.has(id) ? `${id} ${index}` : id, {
        path: ['spec', each.list, `[${String(item[each.key])}]`],
        isContainer: each.isContainer,
        item: item.name === proxyContainer ? { ...item, env } : item,
      });
    }
  }
  return elements;
}

/** Orders the containers like those of another pod with the same names. */
function inOrderOf(pod: Pod, { spec }: Pod): Pod {
  const sorted: Record<string, unknown> = { ...pod.spec };
  for (const list of containerLists.filter((each) => Array.isArray(sorted[each]))) {
    const order = new Map(listOf(spec[list]).map(({ name }, index) => [name, index]));
    const indexOf = ({ name }: Named): number => order.get(name) ?? order.size;
    sorted[list] = (sorted[list] as Named[]).toSorted((one, other) => indexOf(one) - indexOf(other));
  }
  return { ...pod, spec: sorted as Pod['spec'] };
}
