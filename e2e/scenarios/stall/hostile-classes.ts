import { Random } from '../../../scripts/template-recorder/random.ts';
import { neverScheduled } from '../../harness/workloads.ts';
import { hostileFields, plainContainer, type PodParts } from './hostile-fields.ts';
import { hostileShapes } from './hostile-shapes.ts';
import { hostileTexts } from './hostile-texts.ts';

export interface HostileClass {
  readonly name: string;
  /** Whether pods must not be stored, because they would slow down programs of Kubernetes. */
  readonly dryRunOnly: boolean;
  /** The approximate size of a created pod and of a dry-run pod, in bytes of JSON. */
  readonly bytes: { readonly created: number; readonly dryRun: number };
  readonly parts: (bytes: number) => PodParts;
}

/** Sizes below 128 KiB, for which the main thread handles a review. */
const usual = { created: 52_000, dryRun: 118_000 };
/** Sizes up to the API server's limit, for which the worker handles a review. */
const large = { created: 200_000, dryRun: 1_000_000 };

function crossed(field: string, text: string, bytes = usual): HostileClass {
  const { parts } = named(hostileFields, field);
  const { make } = named(hostileTexts, text);
  return { name: `${field}: ${text}`, dryRunOnly: false, bytes, parts: (length) => parts(make(length)) };
}

function shaped(name: string, bytes = usual): HostileClass {
  const { each, parts, most = Infinity, dryRunOnly = false } = named(hostileShapes, name);
  return { name, dryRunOnly, bytes, parts: (length) => parts(Math.min(most, Math.ceil(length / each))) };
}

function named<Value extends { readonly name: string }>(values: readonly Value[], name: string): Value {
  const found = values.find((each) => each.name === name);
  if (found === undefined) throw new Error(`${name} does not exist`);
  return found;
}

/** Classes that are known to have stalled a version of the operator. */
const known: readonly HostileClass[] = [
  crossed('proxy-config-duration', 'digits-and-seconds'),
  crossed('example.com/note', 'digits-and-a-letter'),
  crossed('example.com/note', 'slashes-and-a-letter'),
  crossed('example.com/note', 'spaces'),
  crossed('example.com/note', 'distinct-ports'),
  crossed('example.com/note', 'sexagesimals'),
];

/** Large classes. The worker renders the pods; the main thread only receives and answers. */
const bulky: readonly HostileClass[] = [
  crossed('environment-value', 'less-than-signs', large),
  crossed('container-argument', 'digits', large),
  crossed('example.com/note', 'letters', large),
  shaped('containers', { created: 200_000, dryRun: 300_000 }),
  crossed('proxy.istio.io/overrides', 'json-list', large),
].map((each) => ({ ...each, name: `${each.name}, large` }));

/** @param all combines every field with every text; false: one random text per field */
export function hostileClasses(all: boolean, seed: number): readonly HostileClass[] {
  const random = new Random(seed);
  const pairs = hostileFields.flatMap((field) =>
    (all ? hostileTexts : [random.pick(hostileTexts)]).map((text) => crossed(field.name, text.name)),
  );
  const classes = [...known, ...bulky, ...hostileShapes.map(({ name }) => shaped(name)), ...pairs];
  return [...new Map(classes.map((each) => [each.name, each])).values()];
}

/** Returns a pod of a class. Its name is unique, so that no cached decision applies. */
export function hostilePod({ parts, bytes }: HostileClass, namespace: string, name: string, dryRun: boolean) {
  const { metadata = {}, spec = {} } = parts(dryRun ? bytes.dryRun : bytes.created);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, ...metadata },
    spec: { containers: [plainContainer], ...neverScheduled, ...spec },
  };
}
