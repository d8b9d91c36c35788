import assert from 'node:assert/strict';
import { builtins } from './functions/go/builtins.ts';
import { functionsOfFamily } from './functions/go/function-families.ts';
import { goFunction, meteredFunction, type GoFunction } from './functions/go/go-function.ts';
import { stringMapType, stringSliceType, type GoType } from './go-type.ts';
import * as istio from './functions/istio/istio-functions.ts';
import { cost, Meter, shallowCost, textCost } from './exec/meter.ts';
import { any } from './exec/parameters.ts';
import { compileTemplate } from './template.ts';
import { TemplateError } from './template-error.ts';
import { typed, TypedValue } from './typed-value.ts';

const functions = functionsOfFamily('istio');
/** All functions except the compiled `and` and `or`, and those that call, fail or take nothing. */
const names = Object.keys({ ...builtins, ...functions }).filter(
  (name) => !['and', 'or', 'call', 'fail', 'hello'].includes(name),
);

const few = 75;
const many = 300;
const grown = many - few;

function list(size: number): string[] {
  return Array.from({ length: size }, (_, index) => `e${index}`);
}

function map(size: number): Record<string, string> {
  return Object.fromEntries(list(size).map((key) => [key, 'v']));
}

/** Makes values of a given size. */
const sized: Readonly<Record<string, (size: number) => unknown>> = {
  letters: (size) => 'a'.repeat(size),
  digits: (size) => '1'.repeat(size),
  words: (size) => 'ab '.repeat(size / 3),
  lines: (size) => 'ab\n'.repeat(size / 3),
  list,
  strings: (size) => new TypedValue(stringSliceType, list(size)),
  map,
  'string map': (size) => new TypedValue(stringMapType, map(size)),
};

/** Makes a small value for a parameter. `fixed` (no parameter is variadic): `any` is an integer. */
function small(type: GoType, fixed: boolean): unknown {
  if (type === istio.objectMetaType) return typed(istio.objectMetaType, { annotations: { a: 'b' } });
  if (([istio.containersType, istio.durationType, istio.meshConfigType] as readonly GoType[]).includes(type))
    return typed(type, null);
  if (type === istio.protoMessageType) return null;
  if (type.kind === 'map') return typed(type, { a: 'b' });
  if (type.name === 'time.Time') return functions.toDate?.invoke('2006', '2024');
  const scalars: Readonly<Record<string, unknown>> = { int: 2n, float64: 1.5, bool: true, interface: fixed ? 2n : '1' };
  return scalars[type.kind] ?? '1';
}

/** Returns the cost and the result of a call; `undefined` when it fails. */
function call(name: string, args: readonly unknown[], work?: number): { units: number; result: unknown } | undefined {
  let outcome: ReturnType<typeof call>;
  const capture = meteredFunction(
    [any],
    (meter, result) => {
      // Excludes the cost of passing the result to this function.
      outcome = { units: meter.spent - cost.step - textCost(result), result };
      return '';
    },
    { shallow: true },
  );
  const template = compileTemplate(`{{ ${name} ${args.map((_, index) => `.a${index}`).join(' ')} | capture }}`, {
    name: 't',
    functions: { ...functions, capture },
  });
  try {
    template.execute(Object.fromEntries(args.map((arg, index) => [`a${index}`, arg])), { meter: new Meter(work) });
  } catch (error) {
    if (error instanceof TemplateError && error.kind === 'execution') return undefined;
    throw error;
  }
  return outcome;
}

/** Yields argument lists in which the value replaces one argument, or all arguments. */
function* calls({ parameters, rest }: GoFunction, value: unknown): Generator<unknown[]> {
  for (const more of rest === undefined ? [[]] : [[rest], [rest, rest], [rest, rest, rest]]) {
    const types = [...parameters, ...more];
    yield types.map(() => value);
    for (const replaced of types.keys())
      yield types.map((type, index) => (index === replaced ? value : small(type, rest === undefined)));
  }
}

/** Makes nested maps that share their children. A naive visitor would see 2^40 maps. */
function graph(): unknown {
  let value: unknown = { leaf: 'a' };
  for (let depth = 0; depth < 40; depth += 1) value = { left: value, right: value };
  return value;
}

describe('the cost', () => {
  const untouched = new Set(names);

  for (const name of names) {
    const implementation = (functions[name] ?? builtins[name]) as GoFunction;

    it(`of ${name} grows with its arguments and its result`, () => {
      for (const [kind, make] of Object.entries(sized)) {
        const less = [...calls(implementation, make(few))].map((args) => call(name, args));
        const more = [...calls(implementation, make(many))].map((args) => call(name, args));
        for (const [index, outcome] of more.entries()) {
          const before = less[index];
          if (outcome === undefined || before === undefined) continue;
          untouched.delete(name);
          if (typeof make(1) !== 'string' && implementation.traits.shallow === true) continue;
          const most = Math.max(grown, (shallowCost(outcome.result) - shallowCost(before.result)) / 2);
          assert.ok(outcome.units - before.units >= most, `${kind}: ${before.units} and ${outcome.units}`);
        }
      }
    });

    it(`lets ${name} terminate for a graph of maps`, () => {
      for (const value of [graph(), [graph(), graph()]]) {
        for (const args of calls(implementation, value)) {
          try {
            call(name, args, 300_000);
          } catch (error) {
            assert.ok(error instanceof TemplateError && error.kind === 'limit', String(error));
          }
        }
      }
    });
  }

  it('is tested for all functions that accept texts, lists or maps', () => {
    assert.deepEqual([...untouched].sort(), [
      'applicationPorts',
      'formatDuration',
      'htmlDate',
      'includeInboundPorts',
      'mustDateModify',
      'must_date_modify',
      'protoToJSON',
      'semver',
      'semverCompare',
      'seq',
      'unixEpoch',
      'until',
      'untilStep',
    ]);
  });

  it('is also counted for functions in the data', () => {
    const copying = goFunction([any], (value) => value);
    const units = [300, 1200].map((size) => {
      const meter = new Meter();
      const data = { f: copying, text: 'a'.repeat(size) };
      compileTemplate('{{ $x := call .f .text }}', { name: 't' }).execute(data, { meter });
      return meter.spent;
    }) as [number, number];
    assert.ok(units[1] - units[0] >= 2700, String(units));
  });
});
