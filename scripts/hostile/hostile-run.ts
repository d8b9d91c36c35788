import { inject } from '../../src/inject/inject.ts';
import type { InjectionResult } from '../../src/inject/injection-result.ts';
import type { Injector } from '../../src/inject/injector.ts';
import { isJsonObject, type JsonObject } from '../../src/inject/patch/json-value.ts';
import { benignCounterpart } from '../../src/inject/safety/harmless-text.ts';
import type { Random } from '../template-recorder/random.ts';
import { ordinaryPod, type AuthorField } from './author-fields.ts';
import { HostileTexts } from './hostile-texts.ts';

/** Counts of results. With the check, `unnamed` and `different` must be 0. */
export type HostileFigures = ReturnType<typeof noFigures>;

export function noFigures() {
  return {
    values: 0,
    pods: 0,
    /** Pods that were refused with a message that names a field of the author. */
    refused: 0,
    /** Pods that were injected with the outline of a pod with harmless values. */
    equal: 0,
    /** Pods that were refused with a message that names no such field. */
    unnamed: 0,
    /** Pods that were injected with another outline. */
    different: 0,
    /** The pods in `different` that have an added container, volume or privilege. */
    escalated: 0,
    examples: [] as string[],
  };
}

/** An injector, and the fields that the authors of its pods can write. */
export interface Target {
  readonly name: string;
  readonly injector: Injector;
  readonly fields: readonly AuthorField[];
}

/** Tries `values` hostile values: half of the pods get one value, the other half up to `most`. */
export function runHostile(target: Target, random: Random, values: number, most: number, figures: HostileFigures) {
  const texts = new HostileTexts(random);
  for (const end = figures.values + values; figures.values < end;) {
    const count = random.chance(0.5) ? 1 : 1 + random.below(most);
    const chosen = new Map<AuthorField, string>();
    while (chosen.size < Math.min(count, end - figures.values, target.fields.length)) {
      const field = random.pick(target.fields);
      const text = texts.next();
      // Some fields accept a harmless word, so append hostile characters to such a word.
      chosen.set(field, field.name.includes('/') || benignCounterpart(text) !== text ? text : `${text}"\n`);
    }
    figures.values += chosen.size;
    figures.pods += 1;
    judge(target, chosen, figures);
  }
}

function judge({ name, injector }: Target, chosen: ReadonlyMap<AuthorField, string>, figures: HostileFigures): void {
  const result = injected(injector, [...chosen]);
  const keys = [...chosen.keys()];
  let problem: string;
  if (result.outcome === 'failed') {
    if (result.reason !== 'Internal' && keys.some((field) => result.message.includes(field.name))) {
      figures.refused += 1;
      return;
    }
    figures.unnamed += 1;
    problem = `${result.reason}: ${result.message}`;
  } else {
    const found = outlineOf(injector, result, keys, chosen);
    for (const benign of benignResults(injector, keys)) {
      if (outlineOf(injector, benign, keys, chosen) !== found) continue;
      figures.equal += 1;
      return;
    }
    figures.different += 1;
    if (/evil|"(?:privileged|hostPID|hostNetwork)":true/.test(found ?? '')) figures.escalated += 1;
    problem = `outline ${found ?? ''}`;
  }
  const wrote = [...chosen].map(([field, text]) => `${field.name}=${JSON.stringify(text.slice(0, 200))}`);
  if (figures.examples.length < 5) figures.examples.push(`${name}: ${wrote.join(', ')}: ${problem.slice(0, 3000)}`);
}

function injected(injector: Injector, values: readonly (readonly [AuthorField, string])[]): InjectionResult {
  let pod: JsonObject = ordinaryPod;
  for (const [field, value] of values) pod = field.put(pod, value);
  return inject(injector, { pod, namespace: 'demo' });
}

function outlineOf(
  injector: Injector,
  result: InjectionResult,
  fields: readonly AuthorField[],
  chosen: ReadonlyMap<AuthorField, string>,
): string | undefined {
  if (result.outcome !== 'injected') return undefined;
  return outline(result.pod, {
    ownContainers: new Set(['shop', 'benign', ...chosen.values()]),
    ownKeys: new Set(fields.map(({ key }) => key)),
    allowedTexts: new Set(
      [...chosen].flatMap(([field, text]) =>
        injector.guard?.allows(field.name) === true ? [text, ...field.benign] : [],
      ),
    ),
  });
}

/** A combination of harmless or absent values, and its result once it is known. */
interface Benign {
  readonly values: readonly (readonly [AuthorField, string])[];
  result?: InjectionResult;
}

const known = new WeakMap<Injector, Map<string, Benign[]>>();

/** Yields the results of combinations of harmless or absent values, the complete ones first. */
function* benignResults(injector: Injector, fields: readonly AuthorField[]): Generator<InjectionResult> {
  const byFields = known.get(injector) ?? new Map<string, Benign[]>();
  known.set(injector, byFields);
  const key = fields
    .map(({ name }) => name)
    .sort()
    .join(' ');
  let found = byFields.get(key);
  if (found === undefined) {
    let combinations: Benign['values'][] = [[]];
    for (const field of fields) {
      combinations = combinations.flatMap((values) => [
        values,
        ...field.benign.map((value): Benign['values'] => [...values, [field, value]]),
      ]);
    }
    const order = combinations.slice(0, 4096).sort((one, other) => other.length - one.length);
    found = order.map((values) => ({ values }));
    byFields.set(key, found);
  }
  for (const each of found) yield (each.result ??= injected(injector, each.values));
}

/** The differences that an outline ignores. */
interface OutlineOptions {
  /** The names of the author's containers in all compared pods. */
  readonly ownContainers: ReadonlySet<string>;
  /** The keys of annotations, labels and spec fields that the author writes. */
  readonly ownKeys: ReadonlySet<string>;
  /** Texts that may occur anywhere, because an administrator allows their annotations. */
  readonly allowedTexts: ReadonlySet<string>;
}

/** Returns a comparable text of a pod's structure and privileges, without values of authors. */
function outline(pod: JsonObject, { ownContainers, ownKeys, allowedTexts }: OutlineOptions): string {
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

/** Returns a value without its leaves. */
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
