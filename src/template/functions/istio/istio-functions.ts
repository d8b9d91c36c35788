import { formatDuration } from '../../go-duration.ts';
import { clampInt64 } from '../../integer.ts';
import {
  goFunction,
  goVariadic,
  shallow,
  meteredFunction,
  meteredVariadic,
  type FunctionTable,
  type GoFunction,
  type Parameter,
} from '../go/go-function.ts';
import { decodeJson } from '../go/json-decode.ts';
import { encodeJson } from '../go/json-encode.ts';
import { cost, mapCost, orElse, type Meter } from '../../exec/meter.ts';
import { any, integer, string, stringMap } from '../../exec/parameters.ts';
import { formatValue } from '../go/print-value.ts';
import { sprint } from '../go/printf.ts';
import { toLower } from '../sprig/text/letter-case.ts';
import { emptyMap, stringMapOf } from '../sprig/elements.ts';
import { occurrences, stringFunctions, trimSpace } from '../sprig/text/strings.ts';
import { pointerTo, sliceOf, stringMapType, type GoType, type InterfaceType } from '../../go-type.ts';
import { property, typed, TypedValue } from '../../typed-value.ts';
import { elementType, isPlainMap, rawElements, rawEntries } from '../../value-kind.ts';
import { encodeYaml } from '../go/yaml-encode.ts';

const annotationPrefix = 'resource.opentelemetry.io/';
const versionLabel = 'app.kubernetes.io/version';

/**
 * Returns OTEL_RESOURCE_ATTRIBUTES according to OpenTelemetry's semantic conventions, if a
 * provider of the mesh enables them. Annotations take precedence over other properties of the pod.
 */
function otelResourceAttributes(
  mesh: TypedValue,
  annotations: TypedValue,
  labels: TypedValue,
  namespace: string,
  containerList: TypedValue,
): string {
  if (!usesConventions(mesh.raw)) return '';
  const containers = rawElements(containerList);
  const attributes: Readonly<Record<string, string | undefined>> = {
    'service.namespace': namespace,
    'service.version': versionOf(labels.raw, containers),
    'service.instance.id': instanceOf(namespace, containers),
  };
  return Object.entries(attributes)
    .map(([name, otherwise]) => [name, text(property(annotations.raw, annotationPrefix + name)) ?? otherwise])
    .filter(([, value]) => value !== undefined && value !== '')
    .map((attribute) => attribute.join('='))
    .join(',');
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function usesConventions(mesh: unknown): boolean {
  const providers = property(mesh, 'extensionProviders');
  const enrichment = (one: unknown) => property(property(one, 'opentelemetry'), 'serviceAttributeEnrichment');
  return Array.isArray(providers) && providers.some((one) => enrichment(one) === 'OTEL_SEMANTIC_CONVENTIONS');
}

/** Returns the label's version, else the tag and digest of the image of a single container. */
function versionOf(labels: unknown, containers: readonly unknown[]): string | undefined {
  const label = text(property(labels, versionLabel));
  if (label !== undefined || containers.length !== 1) return label;
  const [name = '', ...digest] = (text(property(containers[0], 'image')) ?? '').split('@');
  const colon = name.lastIndexOf(':');
  const tag = colon > name.lastIndexOf('/') ? name.slice(colon + 1) : '';
  return [tag, digest.join('@')].filter((part) => part !== '').join('@');
}

/** Returns the service.instance.id. As in Istio, an unknown workload has an empty namespace. */
function instanceOf(namespace: string, containers: readonly unknown[]): string | undefined {
  if (containers.length === 0) return undefined;
  return `${namespace}.$(POD_NAME).${text(property(containers[0], 'name')) ?? ''}`;
}

/** Makes a parameter's type from its Go name. Only the types of the data list the fields. */
function named(name: string): GoType {
  return { kind: 'struct', name, fields: [] };
}

export const objectMetaType = named('v1.ObjectMeta') as Parameter<TypedValue>;
export const containersType = sliceOf(named('v1.Container')) as Parameter<TypedValue>;
export const durationType = pointerTo(named('durationpb.Duration')) as Parameter<TypedValue>;
export const meshConfigType = pointerTo(named('v1alpha1.MeshConfig')) as Parameter<TypedValue>;

/** Any pointer to a message that has a protobuf JSON encoding. */
export const protoMessageType: InterfaceType & Parameter<TypedValue | null> = {
  kind: 'interface',
  name: 'protoreflect.ProtoMessage',
  accepts: (type) => type.kind === 'pointer' && type.element.protoToJson !== undefined,
};

/** The cost of functions whose intermediate results are larger than their arguments. */
const splitting = { weight: 8 };

/** The name of Istio's own container, whose ports are not application ports. */
const proxyContainerName = 'istio-proxy';

/** Indents all lines but the first, which continues a line of the template. */
function indent(meter: Meter, count: bigint, text: string): string {
  const lines = occurrences(text, '\n');
  if (lines === 0) return text;
  const width = Number(count < 0n ? -count : count);
  meter.spend(width * lines);
  return text.replaceAll('\n', `\n${' '.repeat(width)}`);
}

/** Merges the entries of all maps; nil if there are no maps, as in Go. */
function mergeMaps(...maps: readonly TypedValue[]): TypedValue {
  if (maps.length === 0) return new TypedValue(stringMapType, null);
  return stringMapOf(Object.assign(emptyMap(), ...maps.map(rawEntries)) as Record<string, string>);
}

/** Makes a map of alternating names and values; a last name without a value gets "". */
function stringDictionary(...values: readonly string[]): TypedValue {
  const map = emptyMap() as Record<string, string>;
  for (let index = 0; index < values.length; index += 2) map[values[index] as string] = values[index + 1] ?? '';
  return stringMapOf(map);
}

/** Appends a port to a list unless the list contains it. */
function excludeInboundPort(meter: Meter, port: unknown, excluded: string): string {
  const added = trimSpace(sprint([port], meter));
  if (added === '' || added === '0') return excluded;
  const ports = excluded.split(',');
  if (ports.includes(added)) return excluded;
  return [...ports.map(trimSpace).filter((one) => one !== ''), added].join(',');
}

/** Returns the TCP ports of containers, as a list of numbers. */
function ports(meter: Meter, value: TypedValue, isIncluded: (name: unknown) => boolean): string {
  return rawElements(value)
    .filter((container) => isIncluded(property(container, 'name')))
    .flatMap((container) => (property(container, 'ports') ?? []) as readonly unknown[])
    .filter((port) => !['UDP', 'SCTP'].includes(formatValue(property(port, 'protocol'), meter)))
    .map((port) => formatValue(property(port, 'containerPort') ?? 0, meter))
    .join(',');
}

function durationText(value: TypedValue): string {
  if (value.isNil) return '0s';
  const { content } = typed(elementType(value), value.raw) as TypedValue;
  const seconds = BigInt((property(content, 'seconds') ?? 0) as string | number);
  const nanoseconds = BigInt((property(content, 'nanos') ?? 0) as string | number);
  return formatDuration(clampInt64(seconds * 1_000_000_000n + nanoseconds));
}

/** Encodes a message with the hook of its type. */
function protoToJson(message: TypedValue | null): string {
  if (message?.type.kind !== 'pointer' || message.isNil) return '{}';
  // Other messages are rejected before the call.
  return (message.type.element.protoToJson as (raw: unknown) => string)(message.raw);
}

function annotation(meter: Meter, meta: TypedValue, name: string, otherwise: unknown): string {
  const value = property(property(meta.content, 'annotations'), name);
  return value === undefined ? sprint([otherwise], meter) : formatValue(value ?? '', meter);
}

/**
 * The functions that Istio's injector adds to sprig's; `contains`, `env`, `indent` and `omit`
 * replace sprig's. These functions recognise Kubernetes and Istio types by name, and expect their
 * usual JSON keys.
 */
export const istioFunctions: FunctionTable = {
  annotation: meteredFunction([objectMetaType, string, any], annotation, {
    looksUp: { operands: 3, below: ['annotations'] },
    shallow: true,
  }),
  appendMultusNetwork: goFunction([string, string], appendMultusNetwork, splitting),
  applicationPorts: meteredFunction([containersType], (meter, value) =>
    ports(meter, value, (name) => name !== proxyContainerName),
  ),
  contains: stringFunctions.contains as GoFunction,
  directory: goFunction([string], (path) => path.slice(0, path.lastIndexOf('/') + 1)),
  // Ignores the environment, because equal pods must be rendered equally.
  env: goFunction([string, string], (_name, otherwise) => otherwise),
  excludeInboundPort: meteredFunction([any, string], excludeInboundPort, splitting),
  excludeInterfaces: goFunction([string], (names) => names),
  formatDuration: goFunction([durationType], durationText),
  fromJSON: goFunction([string], (json) => orElse(() => decodeJson(json), '{}'), splitting),
  includeInboundPorts: meteredFunction([containersType], (meter, value) => ports(meter, value, () => true)),
  indent: meteredFunction([integer, string], indent),
  isset: goFunction([stringMap, string], (map, key) => Object.hasOwn(rawEntries(map), key), {
    looksUp: { operands: 2, below: [] },
    shallow: true,
  }),
  kubevirtInterfaces: goFunction([string], (names) => names),
  mergeMaps: goVariadic([], stringMap, mergeMaps),
  omit: goVariadic([stringMap], string, (map, ...keys) => {
    const omitted = new Set(keys);
    const kept = Object.entries(rawEntries(map) as Record<string, string>).filter(([key]) => !omitted.has(key));
    return stringMapOf(Object.fromEntries(kept));
  }),
  omitNil: meteredFunction([any], (meter, value) => withoutNil(value, meter, 0)),
  otelResourceAttributes: goFunction(
    [meshConfigType, stringMap, stringMap, string, containersType],
    otelResourceAttributes,
  ),
  protoToJSON: goFunction([protoMessageType], protoToJson),
  strdict: goVariadic([], string, stringDictionary),
  structToJSON: meteredFunction([any], (meter, value) =>
    value === null ? '{}' : orElse(() => encodeJson(value, meter), '{}'),
  ),
  toJSON: meteredFunction([stringMap], (meter, map) => (map.isNil ? '{}' : encodeJson(map, meter))),
  toJsonMap: meteredVariadic([], stringMap, (meter, ...maps) => encodeJson(mergeMaps(...maps), meter)),
  toLower: goFunction([string], toLower),
  toYaml: meteredFunction([any], (meter, value) => orElse(() => encodeYaml(value, meter), '')),
  valueOrDefault: goFunction([any, any], (value, other) => (value === null || value === '' ? other : value), shallow),
};

/**
 * Adds Istio's network (`name` or `namespace/name`) to the annotation
 * `k8s.v1.cni.cncf.io/networks`: a list of names, or JSON. Invalid JSON stays unchanged.
 */
function appendMultusNetwork(existing: string, network: string): string {
  if (existing === '') return network;
  const end = existing.lastIndexOf(']');
  if (end < 0) {
    const names = existing.split(',').map(trimSpace);
    return names.includes(network) ? existing : `${existing}, ${network}`;
  }
  const slash = network.indexOf('/');
  const namespace = slash < 0 ? '' : network.slice(0, slash);
  const name = network.slice(slash + 1);
  const networks = orElse(() => decodeJson(existing), undefined);
  const isPresent = (item: unknown): boolean =>
    property(item, 'name') === name && (property(item, 'namespace') ?? '') === namespace;
  const isReadable = Array.isArray(networks) && networks.every((item) => item === null || isPlainMap(item));
  if (!isReadable || networks.some(isPresent)) return existing;
  const added = namespace === '' ? `{"name": "${name}"}` : `{"name": "${name}", "namespace": "${namespace}"}`;
  return `${existing.slice(0, end)}, ${added}${existing.slice(end)}`;
}

/** Removes nils recursively. Returns nil for a list or map of only nils; reuses other values. */
function withoutNil(value: unknown, meter: Meter, depth: number): unknown {
  meter.visit(depth);
  if (!Array.isArray(value) && !isPlainMap(value)) return value ?? null;
  meter.spend(cost.container + (Array.isArray(value) ? 0 : mapCost(value)));
  const entries = Object.entries(value);
  const kept = entries
    .map(([key, element]): [string, unknown] => [key, withoutNil(element, meter, depth + 1)])
    .filter(([, element]) => element !== null);
  const same = kept.length === entries.length && kept.every(([, element], index) => element === entries[index]?.[1]);
  if (same || kept.length === 0) return same ? value : null;
  return Array.isArray(value) ? kept.map(([, element]) => element) : Object.fromEntries(kept);
}
