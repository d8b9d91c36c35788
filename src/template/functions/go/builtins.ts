import { equal, less } from './comparison.ts';
import { GoFunction, goFunction, goVariadic, shallow, meteredFunction, meteredVariadic } from './go-function.ts';
import type { FunctionTable } from './go-function.ts';
import { index, lengthOf, slice } from '../../exec/indexing.ts';
import { int } from '../../integer.ts';
import { cost, shallowCost, type Meter } from '../../exec/meter.ts';
import { any, reflected, string } from '../../exec/parameters.ts';
import { printableValue } from './print-value.ts';
import { sprint, sprintf, sprintln } from './printf.ts';
import { isTrue, typeNameOf, typeOf } from '../../value-kind.ts';
import { canBeNil, isAssignable, nilOf } from '../../exec/assign.ts';
import { typeName, type GoType } from '../../go-type.ts';
import { canonical, toBytes } from '../../go-string.ts';
import { isPrintable } from '../../quote.ts';

/** Formats values before they are escaped: follows pointers, and prints nil as `<no value>`. */
function textOf(values: readonly unknown[], meter: Meter): string {
  const texts = values.map((value) => (value === null ? '<no value>' : printableValue(value)));
  return sprint(texts, meter);
}

/** `and` and `or` are compiled, since they do not evaluate every argument. */
const compiled = goVariadic([reflected], reflected, (first) => first);

/** The functions that every template has: Go's text/template, "Functions". */
export const builtins: FunctionTable = {
  and: compiled,
  or: compiled,
  // The compiler passes the callee's name before the arguments.
  call: meteredVariadic([reflected], reflected, callValue, { changesData: true }),
  eq: meteredVariadic([reflected], reflected, equal),
  ne: meteredFunction([reflected, reflected], (meter, left, right) => !equal(meter, left, right)),
  lt: goFunction([reflected, reflected], less),
  le: meteredFunction([reflected, reflected], (meter, left, right) => less(left, right) || equal(meter, left, right)),
  // As in Go, `gt` negates `le`, and `ge` negates `lt`, even for NaN.
  gt: meteredFunction([reflected, reflected], (meter, left, right) => !less(left, right) && !equal(meter, left, right)),
  ge: goFunction([reflected, reflected], (left, right) => !less(left, right)),
  html: meteredVariadic([], any, (meter, ...values) => escapeHtml(textOf(values, meter))),
  index: meteredVariadic([reflected], reflected, index, { looksUp: { operands: 2, below: [] }, shallow: true }),
  js: meteredVariadic([], any, (meter, ...values) => escapeJavaScript(textOf(values, meter))),
  len: meteredFunction([reflected], (meter, value) => int(lengthOf(meter, value)), shallow),
  not: meteredFunction([reflected], (meter, value) => !isTrue(value, meter), shallow),
  print: meteredVariadic([], any, (meter, ...values) => sprint(values, meter), shallow),
  printf: meteredVariadic([string], any, (meter, format, ...values) => sprintf(format, values, meter), shallow),
  println: meteredVariadic([], any, (meter, ...values) => sprintln(values, meter), shallow),
  slice: goVariadic([reflected], reflected, slice),
  urlquery: meteredVariadic([], any, (meter, ...values) =>
    Array.from(toBytes(textOf(values, meter)), (byte) => queryEscapes[byte]).join(''),
  ),
};

/**
 * The builtin `call`: calls a function from the data.
 * @param callee its name in the template, for errors
 */
function callValue(meter: Meter, callee: unknown, value: unknown, ...args: readonly unknown[]): unknown {
  if (value === undefined || value === null) throw new Error('call of nil');
  if (!(value instanceof GoFunction)) throw new Error(`non-function ${String(callee)} of type ${typeNameOf(value)}`);
  const { parameters, rest } = value;
  if (rest === undefined ? args.length !== parameters.length : args.length < parameters.length) {
    const want = rest === undefined ? String(parameters.length) : `at least ${parameters.length}`;
    throw new Error(`wrong number of args for ${String(callee)}: got ${args.length} want ${want}`);
  }
  const prepared = args.map((arg, index) => prepare(arg, (parameters[index] ?? rest) as GoType, index));
  const units = prepared.reduce<number>((sum, arg) => sum + shallowCost(arg), cost.step);
  meter.spend(units * (value.traits.weight ?? 1));
  return value.metered ? value.invoke(meter, ...prepared) : value.invoke(...prepared);
}

function prepare(value: unknown, type: GoType, index: number): unknown {
  if (value === undefined || value === null) {
    if (canBeNil(type)) return nilOf(type);
    throw new Error(`arg ${index}: value is nil; should be of type ${typeName(type)}`);
  }
  if (value instanceof GoFunction || !isAssignable(typeOf(value), type)) {
    if (type.kind === 'interface') return value;
    throw new Error(`arg ${index}: value has type ${typeNameOf(value)}; should be ${typeName(type)}`);
  }
  return value;
}

const htmlEscapes: Readonly<Record<string, string>> = {
  '\0': '\ufffd',
  '"': '&#34;',
  "'": '&#39;',
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
};

/** The builtin `html`: escapes characters that have a meaning in HTML. */
function escapeHtml(text: string): string {
  return text.replace(/[\0"'&<>]/g, (character) => htmlEscapes[character] as string);
}

/** The builtin `js`: escapes text for a JavaScript string literal. */
function escapeJavaScript(text: string): string {
  return canonical(text).replace(/[\\'"<>&=]|[^ -~\x7f]/gu, (character) => {
    if (character === '\\' || character === "'" || character === '"') return `\\${character}`;
    const code = character.codePointAt(0) as number;
    // A stray byte stays, because Go reads it as U+FFFD, which is printable.
    if ((code >= 0xdc80 && code <= 0xdcff) || (code >= 0x80 && isPrintable(character))) return character;
    return `\\u${code.toString(16).toUpperCase().padStart(4, '0')}`;
  });
}

/** The encoding of each byte in a query. */
const queryEscapes: readonly string[] = Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  if (/[A-Za-z0-9\-_.~]/.test(character)) return character;
  return character === ' ' ? '+' : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
});
