import { jsonEqual } from '../inject/patch/json-equal.ts';
import { isJsonObject, type JsonObject, setMember } from '../inject/patch/json-value.ts';

/** The kinds of changes, in the order of reports. */
export const podChangeKinds = [
  'containers',
  'image',
  'resources',
  'ports',
  'capabilities and privileges',
  'volumes',
  'environment',
  'probes',
  'labels',
  'annotations',
  'other',
] as const;
export type PodChangeKind = (typeof podChangeKinds)[number];

/** One difference between two pods. */
export interface PodChange {
  readonly kind: PodChangeKind;
  /** For example `spec.containers[istio-proxy].image`. List items are named by their key. */
  readonly path: string;
  /** The value before and after; absent if there is none. */
  readonly before?: unknown;
  readonly after?: unknown;
}

/** A step of a path: the name of a member, or the key of a list item. */
type Step = string | { readonly item: string };

/** A difference with its path in the keyed form (see {@link keyed}). */
interface Difference {
  readonly steps: readonly Step[];
  readonly before: unknown;
  readonly after: unknown;
}

/** The keys of lists, as in strategic merge. Protocol is added to ports by {@link keyOfItem}. */
const listKeys: Readonly<Record<string, string>> = {
  containers: 'name',
  env: 'name',
  imagePullSecrets: 'name',
  ports: 'containerPort',
  volumeDevices: 'devicePath',
  volumeMounts: 'mountPath',
  volumes: 'name',
};

/** A list whose items have keys: the items by key, in order. */
type Keyed = ReadonlyMap<string, unknown>;

/** The member of a container that says in which list it stands. */
const listMember = '$list';

/**
 * Returns a pod whose lists are maps by key. All containers stand in one list, so that a container
 * that becomes a native sidecar is still the same container. A list with equal keys stays a list.
 */
function keyed(pod: JsonObject): unknown {
  const spec = isJsonObject(pod.spec) ? pod.spec : {};
  const { containers, initContainers, ...others } = spec;
  const all = [initContainers, containers].flatMap((list, index) =>
    (Array.isArray(list) ? (list as unknown[]) : []).map((each) =>
      isJsonObject(each) ? { ...each, [listMember]: index === 0 ? 'initContainers' : 'containers' } : each,
    ),
  );
  const metadata = isJsonObject(pod.metadata) ? pod.metadata : {};
  return keyedValue({ metadata, spec: { ...others, containers: all } }, '');
}

function keyedValue(value: unknown, name: string): unknown {
  if (Array.isArray(value)) {
    const key = listKeys[name];
    if (key === undefined) return value;
    const items = new Map(
      value.map((item) => [keyOfItem(item, key), isJsonObject(item) ? keyedValue(item, '') : item] as const),
    );
    return items.size === value.length && !items.has('') ? items : value;
  }
  if (!isJsonObject(value)) return value;
  const result: JsonObject = {};
  for (const [member, each] of Object.entries(value)) setMember(result, member, keyedValue(each, member));
  return result;
}

function keyOfItem(item: unknown, key: string): string {
  if (!isJsonObject(item)) return '';
  const value = item[key];
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  const protocol = key === 'containerPort' && typeof item.protocol === 'string' ? `/${item.protocol}` : '';
  return text === '' ? '' : `${text}${protocol}`;
}

/** Returns a value in the keyed form as a plain value. */
function plain(value: unknown): unknown {
  if (isKeyed(value)) return [...value.values()].map(plain);
  if (Array.isArray(value)) return value.map(plain);
  if (!isJsonObject(value)) return value;
  const result: JsonObject = {};
  for (const [member, each] of Object.entries(value)) if (member !== listMember) setMember(result, member, plain(each));
  return result;
}

function differences(before: unknown, after: unknown, steps: readonly Step[], found: Difference[]): void {
  if (before === after) return;
  if (isKeyed(before) && isKeyed(after)) {
    for (const key of new Set([...before.keys(), ...after.keys()]))
      differences(before.get(key), after.get(key), [...steps, { item: key }], found);
  } else if (isMap(before) && isMap(after)) {
    for (const member of new Set([...Object.keys(before), ...Object.keys(after)]))
      differences(own(before, member), own(after, member), [...steps, member], found);
  } else if (!jsonEqual(plain(before), plain(after))) found.push({ steps, before, after });
}

function isKeyed(value: unknown): value is Keyed {
  return value instanceof Map;
}

function isMap(value: unknown): value is JsonObject {
  return isJsonObject(value) && !isKeyed(value);
}

function own(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function keyedDifferences(before: JsonObject, after: JsonObject): Difference[] {
  const found: Difference[] = [];
  differences(keyed(before), keyed(after), [], found);
  return found;
}

/**
 * Compares two pods. List items are compared by key. The order of containers counts; the order of
 * other lists with keys does not.
 * @param isIgnored tells which paths are not compared
 */
export function podChanges(
  before: JsonObject,
  after: JsonObject,
  isIgnored: (path: string) => boolean = () => false,
): PodChange[] {
  const lists = listsOf(before, after);
  const found = keyedDifferences(before, after).map((each) => changeOf(each, lists));
  const changes = [...found, ...orderChanges(before, after)].filter(({ path }) => !isIgnored(path));
  const rank = ({ kind }: PodChange): number => podChangeKinds.indexOf(kind);
  return changes.sort((one, other) => rank(one) - rank(other));
}

/** Returns the paths that differ between two pods, except for the order of containers. */
export function changedPaths(before: JsonObject, after: JsonObject): string[] {
  const lists = listsOf(before, after);
  return keyedDifferences(before, after).map(({ steps }) => pathOf(steps, lists));
}

/** The list in which each container stands, in the pod after the change if it is there. */
function listsOf(before: JsonObject, after: JsonObject): ReadonlyMap<string, string> {
  const listsIn = (pod: JsonObject) =>
    ['initContainers', 'containers'].flatMap((list) => namesIn(pod, list).map((name) => [name, list] as const));
  return new Map([...listsIn(before), ...listsIn(after)]);
}

function changeOf({ steps, before, after }: Difference, lists: ReadonlyMap<string, string>): PodChange {
  const path = pathOf(steps, lists);
  return {
    kind: kindOf(steps),
    path: steps.at(-1) === listMember ? `${path}: moves from ${String(before)} to ${String(after)}` : path,
    ...(before === undefined ? {} : { before: plain(before) }),
    ...(after === undefined ? {} : { after: plain(after) }),
  };
}

function pathOf(steps: readonly Step[], lists: ReadonlyMap<string, string>): string {
  const [part, list, container] = steps;
  const isContainer = part === 'spec' && list === 'containers' && typeof container === 'object';
  const isMap = steps[0] === 'metadata' && (steps[1] === 'labels' || steps[1] === 'annotations');
  return steps
    .map((step, index) => {
      if (typeof step !== 'string') return `[${step.item}]`;
      if (step === listMember) return '';
      const name = isContainer && index === 1 ? (lists.get(container.item) ?? step) : step;
      const isPlain = /^\w+$/.test(name) && !(isMap && index === 2);
      return isPlain ? `${index === 0 ? '' : '.'}${name}` : `[${JSON.stringify(name)}]`;
    })
    .join('');
}

/** The fields of containers and, in the second list, of pod specs, by kind. Others are `other`. */
const fields: readonly (readonly [PodChangeKind, readonly string[], readonly string[]])[] = [
  ['containers', [listMember, 'restartPolicy'], []],
  ['image', ['image', 'imagePullPolicy'], ['imagePullSecrets']],
  ['resources', ['resources', 'resizePolicy'], ['resources', 'overhead']],
  ['ports', ['ports'], []],
  [
    'capabilities and privileges',
    ['securityContext'],
    [
      'securityContext',
      'hostNetwork',
      'hostPID',
      'hostIPC',
      'hostUsers',
      'shareProcessNamespace',
      'serviceAccountName',
    ],
  ],
  ['volumes', ['volumeMounts', 'volumeDevices'], ['volumes']],
  ['environment', ['env', 'envFrom'], []],
  ['probes', ['readinessProbe', 'livenessProbe', 'startupProbe', 'lifecycle'], []],
];

function kindOf(steps: readonly Step[]): PodChangeKind {
  const [part, field = '', item, member = ''] = steps.map((step) => (typeof step === 'string' ? step : step.item));
  if (part === 'metadata') return field === 'labels' || field === 'annotations' ? field : 'other';
  const isContainer = field === 'containers';
  if (isContainer && (item === undefined || member === '')) return 'containers';
  const found = fields.find(([, own, ofPod]) => (isContainer ? own.includes(member) : ofPod.includes(field)));
  return found?.[0] ?? 'other';
}

/** Compares the order of the containers that both pods have. */
function orderChanges(before: JsonObject, after: JsonObject): PodChange[] {
  return ['initContainers', 'containers'].flatMap((list): PodChange[] => {
    const [old, now] = [namesIn(before, list), namesIn(after, list)];
    const [kept, keptNow] = [old.filter((name) => now.includes(name)), now.filter((name) => old.includes(name))];
    if (kept.join() === keptNow.join()) return [];
    return [{ kind: 'containers', path: `spec.${list}: order`, before: kept, after: keptNow }];
  });
}

function namesIn(pod: JsonObject, list: string): string[] {
  const items = isJsonObject(pod.spec) ? pod.spec[list] : undefined;
  return Array.isArray(items) ? items.map((each) => (isJsonObject(each) ? String(each.name) : '')) : [];
}

/**
 * Applies to `target` the differences between `base` and `changed`, as in a three-way merge. Where
 * `target` also differs from `base`, `target` wins.
 */
export function mergeChanges(base: JsonObject, changed: JsonObject, target: JsonObject): JsonObject {
  const merged = merge(keyed(base), keyed(changed), keyed(target)) as JsonObject;
  const { containers: all, ...spec } = merged.spec as JsonObject;
  const containers = isKeyed(all) ? [...all.values()] : (all as unknown[]);
  const inList = (list: string): unknown[] =>
    containers.filter((each) => isJsonObject(each) && each[listMember] === list).map(plain);
  const initContainers = inList('initContainers');
  return {
    ...target,
    metadata: plain(merged.metadata),
    spec: {
      ...(plain(spec) as JsonObject),
      ...(initContainers.length === 0 ? {} : { initContainers }),
      containers: inList('containers'),
    },
  };
}

function merge(base: unknown, changed: unknown, target: unknown): unknown {
  if (isSame(changed, base)) return target;
  if (isKeyed(changed) && isKeyed(target))
    return new Map(mergedEntries(isKeyed(base) ? base : new Map(), changed, target));
  if (isMap(changed) && isMap(target)) {
    const [before, now, next] = [isMap(base) ? base : {}, changed, target].map(entriesOf) as [Keyed, Keyed, Keyed];
    const result: JsonObject = {};
    for (const [name, value] of mergedEntries(before, now, next)) setMember(result, name, value);
    return result;
  }
  return isSame(base, target) ? changed : target;
}

/** Compares in the keyed form, in which containers also have their list. */
function isSame(one: unknown, other: unknown): boolean {
  const found: Difference[] = [];
  differences(one, other, [], found);
  return found.length === 0;
}

function entriesOf(object: JsonObject): Keyed {
  return new Map(Object.entries(object));
}

function* mergedEntries(base: Keyed, changed: Keyed, target: Keyed): Generator<[string, unknown]> {
  for (const key of new Set([...target.keys(), ...changed.keys()])) {
    const value = merge(base.get(key), changed.get(key), target.get(key));
    if (value !== undefined) yield [key, value];
  }
}
