import { injectedByAnnotation, originalAnnotation } from '../api/names.ts';
import { istioKeys } from '../api/injector-config/webhook-keys.ts';
import { familyOf } from '../inject/configuration/family.ts';
import { inject } from '../inject/inject.ts';
import { renderTemplates } from '../inject/inject-pod.ts';
import type { InjectionRequest } from '../inject/injection-request.ts';
import type { Injector } from '../inject/injector.ts';
import { objectAt } from '../inject/objects/workload-kinds.ts';
import { jsonEqual } from '../inject/patch/json-equal.ts';
import { isJsonObject, type JsonObject, setMember } from '../inject/patch/json-value.ts';
import { injectionStatus } from '../inject/pod/injection-status.ts';
import { addPodResources } from '../inject/pod/add-pod-resources.ts';
import { proxyContainer } from '../inject/pod/proxy-container.ts';
import { readPod } from '../inject/pod/read-pod.ts';
import type { Workload } from '../inject/pod/workload.ts';
import { without } from '../inject/pod/without.ts';
import { listOf, withVolumeDefaults } from '../inject/kubernetes/admission-pod.ts';
import { istioFields } from './istio-fields.ts';
import { changedPaths } from './pod-changes.ts';
import { type LostField, restoreHandlers } from './restore-handlers.ts';

export type { LostField };

/** A pod without its injection. */
export interface Uninjected {
  readonly pod: JsonObject;
  readonly isInjected: boolean;
  /** The fields whose original value was another, as the pod shows. */
  readonly lost: readonly LostField[];
  /** The fields that are removed. If the original had them too, their values are not known. */
  readonly overwritten: readonly string[];
}

/** The injector that injected a pod, and the request that it got, without the pod. */
export interface InjectedBy {
  readonly injector: Injector;
  readonly request: Omit<InjectionRequest, 'pod'>;
}

/**
 * Removes what an injector added to a pod. Reads the annotations that record the injection, which
 * authors can forge, so a pod of any shape has a result.
 * @param by the injector; without it, the values of Istio's templates show what they added
 * @param workload the object with the pod template; if absent, it is derived from the pod
 */
export function uninjectPod(pod: JsonObject, by?: InjectedBy, workload?: Workload): Uninjected {
  const lost: LostField[] = [];
  const derived: string[] = [];
  let result = pod;
  for (const [key, text] of Object.entries(objectAt(pod, ['metadata', 'annotations']))) {
    const isOurs = by === undefined ? isStatus(key, text) : key === by.injector.family.keys.status;
    if (isOurs && typeof text === 'string') result = withoutInjection(result, key, text, lost, by);
  }
  if (result === pod) return { pod, isInjected: false, lost, overwritten: [] };
  const bare =
    by === undefined
      ? subtract(result, istioFields(result, variableOf(proxyOf(pod), 'ISTIO_META_NETWORK'), workload))
      : withoutTemplates(pod, result, by, workload, derived);
  const own = tidy(bare, pod);
  const tidied = by?.injector.settings.podResources === 'Add' ? addPodResources(own, own, pod, -1) : own;
  return { pod: tidied, isInjected: true, lost, overwritten: [...changedPaths(pod, tidied), ...derived] };
}

/** Reports whether an annotation records an injection, of Istio's family or another. */
function isStatus(key: string, text: unknown): boolean {
  if (key === istioKeys.status) return true;
  return key.endsWith('/status') && typeof text === 'string' && text.startsWith('{"initContainers":');
}

/** Removes what the status records, and what the engine changed in other containers. */
function withoutInjection(pod: JsonObject, key: string, text: string, lost: LostField[], by?: InjectedBy): JsonObject {
  const annotations = objectAt(pod, ['metadata', 'annotations']);
  const { overridesKey } = familyOf({ ...istioKeys, status: key }, []);
  const status = injectionStatus(text);
  const saved = jsonOf(annotations[overridesKey]);
  const spec = { ...objectAt(pod, ['spec']) };
  const proxy = proxyOf(pod);
  const probers = jsonOf(variableOf(proxy, probersVariable));
  for (const list of ['initContainers', 'containers'] as const) {
    const kept = listOf(spec[list]).flatMap((container) => {
      if (status?.[list].has(String(container.name)) !== true) return [ownContainer(container, list, lost)];
      const isSame = ({ name }: JsonObject): boolean => name === container.name;
      const inContainers = listOf(saved.containers).find(isSame);
      const original = list === 'containers' ? inContainers : listOf(saved.initContainers).find(isSame);
      // A container that two templates have is saved twice.
      const isTwice =
        list === 'initContainers' && inContainers !== undefined && status.containers.has(String(container.name));
      return original === undefined || isTwice ? [] : [{ image: 'auto', ...original }];
    });
    if (Array.isArray(spec[list])) spec[list] = kept.map((each) => restoreHandlers(each, list, probers, lost));
  }
  // The user's own proxy was a container before, unless it was a native sidecar.
  const moved = listOf(spec.initContainers).filter((each) => isProxy(each) && each.restartPolicy !== 'Always');
  if (moved.length > 0) {
    spec.initContainers = listOf(spec.initContainers).filter((each) => !moved.includes(each));
    spec.containers = [...listOf(spec.containers), ...moved];
  }

  for (const list of ['initContainers', 'containers'])
    if (listOf(spec[list]).some(({ name }) => ordered.has(String(name))))
      lost.push({ field: `spec.${list}`, reason: 'the injection changed the order of the containers' });
  const names = jsonOf(text);
  for (const list of by === undefined ? (['volumes', 'imagePullSecrets'] as const) : []) {
    const added = new Set<unknown>(Array.isArray(names[list]) ? names[list] : []);
    if (Array.isArray(spec[list])) spec[list] = listOf(spec[list]).filter(({ name }) => !added.has(name));
  }
  const kept = new Set(listOf(spec.containers).map(({ name }) => name));
  const withoutContainer = defaultContainers.filter(
    (name) => annotations[name] !== undefined && !kept.has(annotations[name]),
  );
  const others = without(annotations, key, overridesKey, injectedByAnnotation, originalAnnotation, ...withoutContainer);
  const hasProxy = by?.injector.family.proxy ?? true;
  const restored = hasProxy ? withPrometheus(others, proxy, lost) : others;
  const metadata = { ...objectAt(pod, ['metadata']), annotations: restored };
  return { ...pod, metadata, spec };
}

/** Returns a container of the author's; the engine adds variables to an own proxy container. */
function ownContainer(container: JsonObject, list: string, lost: LostField[]): JsonObject {
  const isAdded = ({ name }: JsonObject): boolean =>
    name === probersVariable || name === 'ISTIO_PROMETHEUS_ANNOTATIONS';
  if (!isProxy(container) || !listOf(container.env).some(isAdded)) return container;
  lost.push({ field: `spec.${list}[${proxyContainer}].env`, reason: 'the injection added variables' });
  return { ...container, env: listOf(container.env).filter((variable) => !isAdded(variable)) };
}

const probersVariable = 'ISTIO_KUBE_APP_PROBERS';

const defaultContainers = ['kubectl.kubernetes.io/default-container', 'kubectl.kubernetes.io/default-logs-container'];

/** The containers that the injection moves, if the author has containers of these names. */
const ordered = new Set([proxyContainer, 'istio-init', 'istio-validation', 'enable-core-dump']);

function isProxy({ name }: JsonObject): boolean {
  return name === proxyContainer;
}

function proxyOf(pod: JsonObject): JsonObject | undefined {
  const { containers, initContainers } = objectAt(pod, ['spec']);
  return [...listOf(containers), ...listOf(initContainers)].find(isProxy);
}

/** Returns the object in a JSON text; an empty object if there is none. */
export function jsonOf(text: unknown): JsonObject {
  try {
    const value: unknown = JSON.parse(String(text));
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

function variableOf(container: JsonObject | undefined, variable: string): unknown {
  return listOf(container?.env).find(({ name }) => name === variable)?.value;
}

/** Restores the Prometheus annotations that were moved to the proxy's environment. */
function withPrometheus(annotations: JsonObject, proxy: JsonObject | undefined, lost: LostField[]): JsonObject {
  const { 'prometheus.io/path': path, 'prometheus.io/scrape': scrape } = annotations;
  if (path !== '/stats/prometheus' || scrape !== 'true') return annotations;
  const others = without(annotations, 'prometheus.io/path', 'prometheus.io/port', 'prometheus.io/scrape');
  const moved = jsonOf(variableOf(proxy, 'ISTIO_PROMETHEUS_ANNOTATIONS'));
  const targets = listOf(moved.targets).map((target) => `${String(target.port)}:${String(target.path)}`);
  if (Object.keys(moved).length > 0)
    lost.push({ field: 'metadata.annotations["prometheus*', reason: 'the injection rewrote these annotations' });
  if (targets.length > 0) return { ...others, 'prometheus.istio.io/scrape-targets': targets.join(',') };
  const restored = ['scrape', 'path', 'port'].filter((name) => typeof moved[name] === 'string' && moved[name] !== '');
  return { ...others, ...Object.fromEntries(restored.map((name) => [`prometheus.io/${name}`, moved[name]])) };
}

/** Sets labels and annotations; omits an empty map. */
function withMetadata(pod: JsonObject, labels: JsonObject, annotations: JsonObject): JsonObject {
  const metadata = without(objectAt(pod, ['metadata']), 'labels', 'annotations');
  const maps = Object.entries({ labels, annotations }).filter(([, map]) => Object.keys(map).length > 0);
  return { ...pod, metadata: { ...metadata, ...Object.fromEntries(maps) } };
}

/**
 * Removes what the templates write and the stored pod has. Then injects the pod again: a label or
 * annotation that the injector no longer gives came from the pod itself, so it stays.
 * @param derived receives the paths of values that a template derives from the author's value
 */
function withoutTemplates(
  stored: JsonObject,
  pod: JsonObject,
  by: InjectedBy,
  workload: Workload | undefined,
  derived: string[],
): JsonObject {
  const added = (source: JsonObject): JsonObject => templatePod(source, by, workload);
  // The API server sets defaults on volumes after the injection.
  const less = (source: JsonObject, part: JsonObject): JsonObject =>
    subtract(subtract(source, part), withVolumeDefaults(part));
  const { templatesKey } = by.injector.family;
  const { [templatesKey]: templates } = objectAt(pod, ['metadata', 'annotations']);
  const chosen = templates === undefined ? {} : { [templatesKey]: templates };
  // A template may write an annotation only if the pod lacks it.
  const { metadata = {} } = added(withMetadata(pod, {}, chosen));
  let bare = subtract(subtract(less(pod, templatePod(pod, by, workload, derived)), engineFields(pod, by.injector)), {
    metadata,
  });
  // A template may derive a value from labels that another part of the template writes.
  bare = less(bare, added(bare));
  const injected = (source: JsonObject): JsonObject | undefined => {
    const result = inject(by.injector, { ...by.request, pod: source }, workload);
    return result.outcome === 'injected' ? result.pod : undefined;
  };
  derived.push(...changedByTemplate(stored, pod, bare, added(pod)));
  const again = injected(bare);
  if (again === undefined) return pod;
  for (const map of ['labels', 'annotations']) {
    const [had, kept, gives, has] = [pod, bare, again, stored].map((each) => objectAt(each, ['metadata', map]));
    for (const [name, value] of Object.entries(had ?? {})) {
      if (kept?.[name] !== undefined || gives?.[name] === has?.[name]) continue;
      derived.push(`metadata.${map}[${JSON.stringify(name)}]`);
      const before = bare;
      const withValue = (text: unknown): JsonObject => {
        const values = { ...objectAt(before, ['metadata', map]), [name]: text };
        return { ...before, metadata: { ...objectAt(before, ['metadata']), [map]: values } };
      };
      const own = ownParts(String(value), String(gives?.[name])).find(
        (text) => objectAt(injected(withValue(text)) ?? {}, ['metadata', map])[name] === value,
      );
      bare = withValue(own ?? value);
    }
  }
  return bare;
}

/** Returns the fields that a template changed instead of adding, and lists that it reordered. */
function changedByTemplate(stored: JsonObject, pod: JsonObject, bare: JsonObject, template: JsonObject): string[] {
  const metadata = ['labels', 'annotations'].flatMap((map) => {
    const [has, had, gives] = [stored, pod, template].map((each) => objectAt(each, ['metadata', map]));
    const isOther = (name: string): boolean => had?.[name] !== undefined && has?.[name] !== gives?.[name];
    return Object.keys(gives ?? {})
      .filter(isOther)
      .map((name) => `metadata.${map}[${JSON.stringify(name)}]`);
  });
  const names = new Set(listOf(objectAt(template, ['spec']).volumes).map(({ name }) => name));
  const isKept = listOf(objectAt(bare, ['spec']).volumes).some(({ name }) => names.has(name));
  return isKept ? [...metadata, 'spec.volumes'] : metadata;
}

/** Returns what the author may have written, if a template appends to the author's list. */
function ownParts(value: string, added: string): string[] {
  const network = value.lastIndexOf(', {"name": "istio-cni"');
  const parts = [
    ...[`,${added}`, `, ${added}`].filter((end) => value.endsWith(end)).map((end) => value.slice(0, -end.length)),
    ...(network > 0 ? [`${value.slice(0, network)}]`] : []),
  ];
  return parts.filter((part) => part !== '');
}

/** Returns what the templates add to a pod, apart from containers; empty if they fail. */
function templatePod(
  pod: JsonObject,
  { injector, request }: InjectedBy,
  workload: Workload | undefined,
  removals?: string[],
): JsonObject {
  try {
    const { rendered } = renderTemplates(injector, { ...request, pod }, readPod(pod, request.namespace), workload);
    for (const content of rendered.contents) removals?.push(...removalsIn(content, ''));
    const { metadata, spec } = rendered.templatePod;
    return {
      metadata: without(metadata, 'creationTimestamp'),
      spec: without(spec, 'containers', 'initContainers'),
    };
  } catch {
    return {};
  }
}

/** Returns the paths that a template's output removes by null or a directive of strategic merge. */
function removalsIn(value: unknown, path: string): string[] {
  if (Array.isArray(value))
    return value.flatMap((item) =>
      isJsonObject(item) && Object.hasOwn(item, '$patch') ? [path] : removalsIn(item, path),
    );
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, item]) => {
    if (name.startsWith('$')) return [path];
    const isMap = path === 'metadata.labels' || path === 'metadata.annotations';
    const inner = isMap ? `${path}[${JSON.stringify(name)}]` : path === '' ? name : `${path}.${name}`;
    return item === null ? [inner] : removalsIn(item, inner);
  });
}

/** Returns the labels and annotations that the engine itself writes, with the values of the pod. */
function engineFields(pod: JsonObject, { injectedAnnotations, family }: Injector): JsonObject {
  const names = [...injectedAnnotations.keys(), 'prometheus.istio.io/secure-port'];
  if (family.keys.revision !== istioKeys.revision) names.push(family.keys.revision);
  const { labels, annotations } = objectAt(pod, ['metadata']);
  const own = (map: unknown, keys: readonly string[]): JsonObject =>
    Object.fromEntries(Object.entries(isJsonObject(map) ? map : {}).filter(([key]) => keys.includes(key)));
  return { metadata: { labels: own(labels, ['topology.istio.io/network']), annotations: own(annotations, names) } };
}

/** The keys of the lists that a template adds to instead of replacing them. */
const mergeKeys: Readonly<Record<string, string>> = {
  volumes: 'name',
  imagePullSecrets: 'name',
  hostAliases: 'ip',
  topologySpreadConstraints: 'topologyKey',
};

/** Removes from an object what a strategic merge with `added` put there. */
function subtract(object: JsonObject, added: JsonObject): JsonObject {
  const result: JsonObject = {};
  for (const [name, value] of Object.entries(object)) {
    const other = Object.hasOwn(added, name) ? added[name] : undefined;
    const key = mergeKeys[name];
    if (other === undefined) setMember(result, name, value);
    else if (jsonEqual(value, other)) continue;
    else if (isJsonObject(value) && isJsonObject(other)) setMember(result, name, subtract(value, other));
    else if (key !== undefined && Array.isArray(value) && Array.isArray(other))
      setMember(result, name, subtractItems(value, other, key));
    else setMember(result, name, value);
  }
  return result;
}

function subtractItems(items: readonly unknown[], added: readonly unknown[], key: string): unknown[] {
  return items.flatMap((item) => {
    const other = added.find((each) => isJsonObject(each) && isJsonObject(item) && each[key] === item[key]);
    if (!isJsonObject(item) || !isJsonObject(other)) return [item];
    const rest = subtract(without(item, key), without(other, key));
    // An item with only defaults is not the author's.
    return Object.values(rest).every((value) => isJsonObject(value) && Object.keys(value).length === 0)
      ? []
      : [{ [key]: item[key], ...rest }];
  });
}

/** Reports whether a pod has the defaults of the API server. */
function isDefaulted(pod: JsonObject): boolean {
  return objectAt(pod, ['spec']).schedulerName !== undefined;
}

/** Omits maps and lists that are empty only without the injection. */
function tidy(pod: JsonObject, stored: JsonObject): JsonObject {
  const isEmpty = (value: unknown): boolean =>
    typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  const had = objectAt(stored, ['spec']);
  const entries = Object.entries(objectAt(pod, ['spec'])).filter(
    ([name, value]) => name === 'containers' || !isEmpty(value) || isEmpty(had[name]),
  );
  // The API server's default.
  const defaults = isDefaulted(stored) ? { securityContext: {} } : {};
  const metadata = objectAt(pod, ['metadata']);
  return withMetadata(
    { ...pod, spec: { ...defaults, ...Object.fromEntries(entries) } },
    objectAt(metadata, ['labels']),
    objectAt(metadata, ['annotations']),
  );
}
