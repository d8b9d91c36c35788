import { goFunction, goVariadic, meteredFunction, meteredVariadic, type FunctionTable } from '../go/go-function.ts';
import { canonical, compareStrings } from '../../go-string.ts';
import { anySliceType, sliceOf } from '../../go-type.ts';
import { encodeJson } from '../go/json-encode.ts';
import { formatValue } from '../go/print-value.ts';
import { cost, orElse, type Meter } from '../../exec/meter.ts';
import { any, integer, string } from '../../exec/parameters.ts';
import { typed, TypedValue } from '../../typed-value.ts';
import { isTrue, rawElements, typeOf } from '../../value-kind.ts';
import { deepEqual } from './deep-equal.ts';
import { elementsOf, nilSlice, requireElements, stringSlice, stringValues, withForms } from './elements.ts';
import { floatToInt64, toInt64 } from './number-value.ts';

/** A set of elements. It compares only elements with equal JSON, which deep equality implies. */
class Seen {
  readonly #texts = new Set<string>();
  readonly #others = new Map<string, unknown[]>();

  add(meter: Meter, element: unknown): void {
    if (typeof element === 'string') this.#texts.add(canonical(element));
    else this.#alike(meter, element).push(element);
  }

  has(meter: Meter, element: unknown): boolean {
    return typeof element === 'string'
      ? this.#texts.has(canonical(element))
      : includes(meter, this.#alike(meter, element), element);
  }

  #alike(meter: Meter, element: unknown): unknown[] {
    const looks = orElse(() => encodeJson(element, meter), '');
    const found = this.#others.get(looks) ?? [];
    this.#others.set(looks, found);
    return found;
  }
}

function includes(meter: Meter, elements: readonly unknown[], searched: unknown): boolean {
  return elements.some((element) => deepEqual(meter, element, searched));
}

/** Slices a list and keeps its type; returns nil for an empty list, whatever the indices are. */
function sliceList(value: unknown, ...indices: readonly unknown[]): unknown {
  const elements = requireElements(value, 'list should be type of slice or array but');
  if (elements.length === 0) return null;
  const start = indices.length > 0 ? toInt64(indices[0]) : 0n;
  const end = indices.length > 1 ? toInt64(indices[1]) : BigInt(elements.length);
  if (start < 0n || end < start || end > elements.length)
    throw new Error('reflect.Value.Slice: slice index out of bounds');
  return typed(typeOf(value), rawElements(value).slice(Number(start), Number(end)));
}

function comparing(meter: Meter, left: string, right: string): number {
  meter.spend(cost.step + ((left.length + right.length) >> 2));
  return compareStrings(left, right);
}

function chunks(size: number, value: unknown): TypedValue {
  const elements = requireElements(value, 'Cannot chunk type');
  const count = Number(floatToInt64(Math.floor((elements.length - 1) / size) + 1));
  if (count < 0) throw new Error('reflect: makeslice: len out of range');
  const parts: unknown[][] = [];
  for (let index = 0; index < count; index += 1) {
    const length = index < count - 1 ? size : elements.length % size || size;
    if (length < 0 || index * size + length > elements.length) throw new Error('reflect: slice index out of range');
    parts.push(elements.slice(index * size, index * size + length));
  }
  return new TypedValue(sliceOf(anySliceType), parts);
}

function part(value: unknown, name: string, from: number, to?: number): unknown {
  const elements = requireElements(value, `Cannot find ${name} on type`);
  return elements.length === 0 ? nilSlice() : elements.slice(from, to);
}

function append(list: unknown, value: unknown): unknown[] {
  return [...requireElements(list, 'Cannot push on type'), value];
}

const list = goVariadic([], any, (...values) => values);

/** sprig's functions on lists. All fail if the value is not a list, even without `must`. */
export const listFunctions: FunctionTable = {
  ...withForms('must', {
    append: goFunction([any, any], append),
    chunk: goFunction([integer, any], (size, values) => chunks(Number(size), values), { weight: 4 }),
    compact: meteredFunction([any], (meter, value) =>
      requireElements(value, 'Cannot compact on type').filter((element) => isTrue(element, meter)),
    ),
    first: goFunction([any], (value) => requireElements(value, 'Cannot find first on type')[0] ?? null),
    has: meteredFunction([any, any], (meter, needle, haystack) => {
      return haystack !== null && includes(meter, requireElements(haystack, 'Cannot find has on type'), needle);
    }),
    initial: goFunction([any], (value) => part(value, 'initial', 0, -1)),
    last: goFunction([any], (value) => requireElements(value, 'Cannot find last on type').at(-1) ?? null),
    prepend: goFunction([any, any], (rest, value) => [value, ...requireElements(rest, 'Cannot prepend on type')]),
    push: goFunction([any, any], append),
    rest: goFunction([any], (value) => part(value, 'rest', 1)),
    reverse: goFunction([any], (value) => [...requireElements(value, 'Cannot find reverse on type')].reverse()),
    slice: goVariadic([any], any, sliceList),
    uniq: meteredFunction([any], (meter, value) => {
      const seen = new Seen();
      return requireElements(value, 'Cannot find uniq on type').filter((element) => {
        const isNew = !seen.has(meter, element);
        if (isNew) seen.add(meter, element);
        return isNew;
      });
    }),
    without: meteredVariadic([any], any, (meter, value, ...omitted) => {
      const seen = new Seen();
      for (const element of omitted) seen.add(meter, element);
      return requireElements(value, 'Cannot find without on type').filter((element) => !seen.has(meter, element));
    }),
  }),
  concat: goVariadic([], any, (...lists) => {
    const all = lists.flatMap((value) => requireElements(value, 'Cannot concat type as list:'));
    return all.length === 0 ? nilSlice() : all;
  }),
  join: meteredFunction([string, any], (meter, separator, value) => {
    const texts = stringValues(value, meter);
    meter.spend(texts.length * separator.length);
    return texts.join(separator);
  }),
  list,
  sortAlpha: meteredFunction([any], (meter, value) => {
    if (elementsOf(value) === undefined) return stringSlice([formatValue(value, meter)]);
    return stringSlice(stringValues(value, meter).sort((left, right) => comparing(meter, left, right)));
  }),
  toStrings: meteredFunction([any], (meter, value) => stringSlice(stringValues(value, meter))),
  tuple: list,
};
