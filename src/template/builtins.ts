import { callValue } from './call-value.ts';
import { equal, greater, greaterOrEqual, less, lessOrEqual } from './comparison.ts';
import { escapeHtml, escapeJavaScript, escapeUrlQuery } from './escape.ts';
import { goFunction, goVariadic, meteredFunction, meteredVariadic } from './go-function.ts';
import type { FunctionTable } from './go-function.ts';
import { index, lengthOf, slice } from './indexing.ts';
import { int } from './integer.ts';
import type { Meter } from './meter.ts';
import { any, reflected, string } from './parameters.ts';
import { printable } from './print-value.ts';
import { sprint, sprintf, sprintln } from './printf.ts';
import { isTrue } from './value-kind.ts';

/** The text of values for the escaping functions: as actions print them, so nil is `<no value>` and pointers are followed. */
function textOf(values: readonly unknown[], meter: Meter): string {
  return sprint(
    values.map((value) => (value === null ? '<no value>' : printable(value))),
    meter,
  );
}

/** `and` and `or` are compiled: they do not evaluate every argument. */
const compiled = goVariadic([reflected], reflected, (first) => first);

/** The functions that every template has: Go's text/template, "Functions". */
export const builtins: FunctionTable = {
  and: compiled,
  or: compiled,
  // Compiled with the callee's name before the arguments.
  call: meteredVariadic([reflected], reflected, callValue, { changesData: true }),
  eq: meteredVariadic([reflected], reflected, equal),
  ne: meteredFunction([reflected, reflected], (meter, left, right) => !equal(meter, left, right)),
  lt: goFunction([reflected, reflected], less),
  le: meteredFunction([reflected, reflected], lessOrEqual),
  gt: meteredFunction([reflected, reflected], greater),
  ge: goFunction([reflected, reflected], greaterOrEqual),
  html: meteredVariadic([], any, (meter, ...values) => escapeHtml(textOf(values, meter))),
  index: meteredVariadic([reflected], reflected, index, { looksUp: { operands: 2, below: [] }, looksInto: true }),
  js: meteredVariadic([], any, (meter, ...values) => escapeJavaScript(textOf(values, meter))),
  len: meteredFunction([reflected], (meter, value) => int(lengthOf(meter, value)), { looksInto: true }),
  not: meteredFunction([reflected], (meter, value) => !isTrue(value, meter), { looksInto: true }),
  print: meteredVariadic([], any, (meter, ...values) => sprint(values, meter), { looksInto: true }),
  printf: meteredVariadic([string], any, (meter, format, ...values) => sprintf(format, values, meter), {
    looksInto: true,
  }),
  println: meteredVariadic([], any, (meter, ...values) => sprintln(values, meter), { looksInto: true }),
  slice: goVariadic([reflected], reflected, slice),
  urlquery: meteredVariadic([], any, (meter, ...values) => escapeUrlQuery(textOf(values, meter))),
};
