import { goFunction, goVariadic } from '../go-function.ts';
import type { FunctionTable } from '../go-function.ts';
import { decodeJson, decodeJsonLeniently } from '../json-decode.ts';
import { encodeJson } from '../json-encode.ts';
import { any, bool, string } from '../parameters.ts';
import { isTrue, typeNameOf } from '../value-kind.ts';
import { deepEqual } from './deep-equal.ts';
import { kindName } from './elements.ts';

function nameOfType(value: unknown): string {
  return value === null ? '<nil>' : typeNameOf(value);
}

/** The result, or what stands for it when the function fails: sprig drops such errors. */
function orElse<Result>(run: () => Result, otherwise: Result): Result {
  try {
    return run();
  } catch {
    return otherwise;
  }
}

function pretty(value: unknown): string {
  return encodeJson(value, { escapeHtml: true, indented: true });
}

const rawJson = goFunction([any], (value) => encodeJson(value, { escapeHtml: false, indented: false }));

/** sprig's functions on values of any type: defaults, JSON, types. */
export const valueFunctions: FunctionTable = {
  all: goVariadic([], any, (...values) => values.every(isTrue)),
  any: goVariadic([], any, (...values) => values.some(isTrue)),
  coalesce: goVariadic([], any, (...values) => values.find(isTrue) ?? null),
  deepEqual: goFunction([any, any], deepEqual),
  default: goVariadic([any], any, (otherwise, ...given) => (isTrue(given[0]) ? given[0] : otherwise)),
  empty: goFunction([any], (value) => !isTrue(value)),
  fail: goFunction([string], (message) => {
    throw new Error(message);
  }),
  fromJson: goFunction([string], decodeJsonLeniently),
  hello: goFunction([], () => 'Hello!'),
  kindIs: goFunction([string, any], (kind, value) => kind === kindName(value)),
  kindOf: goFunction([any], kindName),
  mustFromJson: goFunction([string], decodeJson),
  mustToJson: goFunction([any], (value) => encodeJson(value)),
  mustToPrettyJson: goFunction([any], pretty),
  mustToRawJson: rawJson,
  ternary: goFunction([any, any, bool], (yes, no, condition) => (condition ? yes : no)),
  toJson: goFunction([any], (value) => orElse(() => encodeJson(value), '')),
  toPrettyJson: goFunction([any], (value) => orElse(() => pretty(value), '')),
  toRawJson: rawJson,
  typeIs: goFunction([string, any], (type, value) => type === nameOfType(value)),
  typeIsLike: goFunction([string, any], (type, value) => [type, `*${type}`].includes(nameOfType(value))),
  typeOf: goFunction([any], nameOfType),
};
