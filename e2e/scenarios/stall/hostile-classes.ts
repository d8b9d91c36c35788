import { Random } from '../../../scripts/template-recorder/random.ts';
import { neverScheduled } from '../../harness/workloads.ts';
import { hostileFields, plainContainer, type PodParts } from './hostile-fields.ts';
import { hostileShapes } from './hostile-shapes.ts';
import { hostileTexts } from './hostile-texts.ts';

export interface HostileClass {
  readonly name: string;
  /** Whether it may be stored: some would keep others than the injector busy. */
  readonly dryRunOnly: boolean;
  /** Bytes of JSON, about, of one that is created and of one that is a dry run. */
  readonly bytes: { readonly created: number; readonly dryRun: number };
  readonly parts: (bytes: number) => PodParts;
}

/** The usual sizes: below 128 KiB a review is decided on the thread that answers all others. */
const usual = { created: 52_000, dryRun: 118_000 };
/** Of those that another thread decides: all that the API server takes. */
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
  if (found === undefined) throw new Error(`there is no ${name}`);
  return found;
}

/** Those that are known to have stalled an injector. */
const known: readonly HostileClass[] = [
  crossed('proxy-config-duration', 'digits-and-seconds'),
  crossed('example.com/note', 'digits-and-a-letter'),
  crossed('example.com/note', 'slashes-and-a-letter'),
  crossed('example.com/note', 'spaces'),
  crossed('example.com/note', 'distinct-ports'),
  crossed('example.com/note', 'sexagesimals'),
];

/** Those that are so large that another thread decides them; receiving and answering them is left. */
const bulky: readonly HostileClass[] = [
  crossed('environment-value', 'less-than-signs', large),
  crossed('container-argument', 'digits', large),
  crossed('example.com/note', 'letters', large),
  shaped('containers', { created: 200_000, dryRun: 300_000 }),
  crossed('proxy.istio.io/overrides', 'json-list', large),
].map((each) => ({ ...each, name: `${each.name}, large` }));

/**
 * Classes of hostile pods.
 *
 * @param all every field with every text, else every field with a text that the seed chooses
 */
export function hostileClasses(all: boolean, seed: number): readonly HostileClass[] {
  const random = new Random(seed);
  const pairs = hostileFields.flatMap((field) =>
    (all ? hostileTexts : [random.pick(hostileTexts)]).map((text) => crossed(field.name, text.name)),
  );
  const classes = [...known, ...bulky, ...hostileShapes.map(({ name }) => shaped(name)), ...pairs];
  return [...new Map(classes.map((each) => [each.name, each])).values()];
}

/** A pod of a class, with a name of its own, so that no decision is given again. */
export function hostilePod({ parts, bytes }: HostileClass, namespace: string, name: string, dryRun: boolean) {
  const { metadata = {}, spec = {} } = parts(dryRun ? bytes.dryRun : bytes.created);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, ...metadata },
    spec: { containers: [plainContainer], ...neverScheduled, ...spec },
  };
}
