import { callValue } from './call-value.ts';
import { equal, greater, greaterOrEqual, less, lessOrEqual } from './comparison.ts';
import { escapeHtml, escapeJavaScript, escapeUrlQuery } from './escape.ts';
import { goFunction, goVariadic } from './go-function.ts';
import type { FunctionTable } from './go-function.ts';
import { index, lengthOf, slice } from './indexing.ts';
import { int } from './integer.ts';
import { any, reflected, string } from './parameters.ts';
import { printable } from './print-value.ts';
import { sprint, sprintf, sprintln } from './printf.ts';
import { isTrue } from './value-kind.ts';

/** The text of values for the escaping functions: as actions print them, so nil is `<no value>` and pointers are followed. */
function textOf(values: readonly unknown[]): string {
  return sprint(values.map((value) => (value === null ? '<no value>' : printable(value))));
}

/** `and` and `or` are compiled: they do not evaluate every argument. */
const compiled = goVariadic([reflected], reflected, (first) => first);

/** The functions that every template has: Go's text/template, "Functions". */
export const builtins: FunctionTable = {
  and: compiled,
  or: compiled,
  // Compiled with the callee's name before the arguments.
  call: goVariadic([reflected], reflected, callValue, { changesData: true }),
  eq: goVariadic([reflected], reflected, equal),
  ne: goFunction([reflected, reflected], (left, right) => !equal(left, right)),
  lt: goFunction([reflected, reflected], less),
  le: goFunction([reflected, reflected], lessOrEqual),
  gt: goFunction([reflected, reflected], greater),
  ge: goFunction([reflected, reflected], greaterOrEqual),
  html: goVariadic([], any, (...values) => escapeHtml(textOf(values))),
  index: goVariadic([reflected], reflected, index, { looksUp: { operands: 2, below: [] } }),
  js: goVariadic([], any, (...values) => escapeJavaScript(textOf(values))),
  len: goFunction([reflected], (value) => int(lengthOf(value))),
  not: goFunction([reflected], (value) => !isTrue(value)),
  print: goVariadic([], any, (...values) => sprint(values)),
  printf: goVariadic([string], any, (format, ...values) => sprintf(format, values)),
  println: goVariadic([], any, (...values) => sprintln(values)),
  slice: goVariadic([reflected], reflected, slice),
  urlquery: goVariadic([], any, (...values) => escapeUrlQuery(textOf(values))),
};
