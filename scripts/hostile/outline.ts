import { isJsonObject, type JsonObject } from '../../src/inject/patch/json-value.ts';

/** What two pods may differ in without one being more than the other: the texts that authors write, and where annotations go as values. */
export interface OutlineOptions {
  /** The names of the author's own containers, as they are in any of the pods. */
  readonly ownContainers: ReadonlySet<string>;
  /** Annotations, labels and members of the spec that the author writes in one of the pods. */
  readonly ownKeys: ReadonlySet<string>;
  /** Texts that may stand anywhere: those of annotations that an administrator allows. */
  readonly allowedTexts: ReadonlySet<string>;
}

/** Everything about a pod that says what runs, as whom and with what, as text that can be compared. */
export function outline(pod: JsonObject, { ownContainers, ownKeys, allowedTexts }: OutlineOptions): string {
  const metadata = (pod.metadata ?? {}) as JsonObject;
  const spec = (pod.spec ?? {}) as JsonObject;
  const names = (value: unknown): string[] =>
    Object.keys((value ?? {}) as JsonObject)
      .filter((name) => !ownKeys.has(name))
      .sort();
  const containers = (value: unknown): unknown[] =>
    ((value ?? []) as JsonObject[]).map((container) =>
      containerOutline(container, ownContainers.has(String(container.name))),
    );
  const rest = Object.fromEntries(
    Object.entries(spec).filter(([name]) => !['containers', 'initContainers'].includes(name) && !ownKeys.has(name)),
  );
  return canonical(allowedTexts, {
    metadata: Object.keys(metadata).filter((name) => !ownKeys.has(name) && name !== 'annotations' && name !== 'labels'),
    annotations: names(metadata.annotations),
    labels: names(metadata.labels),
    containers: containers(spec.containers),
    initContainers: containers(spec.initContainers),
    rest,
  });
}

function containerOutline(container: JsonObject, own: boolean): unknown {
  const { name, image, args, env, ports, resources, livenessProbe, readinessProbe, startupProbe, ...rest } = container;
  return {
    ...rest,
    ...(own ? {} : { name, image }),
    args: Array.isArray(args) ? args.length : 0,
    env: ((env ?? []) as JsonObject[]).map(({ name: variable, value, ...source }) => ({
      variable,
      value: typeof value,
      ...source,
    })),
    ports: ((ports ?? []) as JsonObject[]).map((port) => Object.keys(port).sort()),
    resources: shape(resources),
    probes: [livenessProbe, readinessProbe, startupProbe].map(shape),
  };
}

/** A value without its leaves. */
function shape(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shape);
  if (isJsonObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, below]) => [name, shape(below)]));
  return value === undefined ? null : 'value';
}

function canonical(allowedTexts: ReadonlySet<string>, value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => {
    if (typeof member === 'string' && allowedTexts.has(member)) return 'allowed';
    if (!isJsonObject(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([left], [right]) => (left < right ? -1 : 1)));
  });
}
