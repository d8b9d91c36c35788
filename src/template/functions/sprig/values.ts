import { goFunction, shallow, meteredFunction, meteredVariadic, type FunctionTable } from '../go/go-function.ts';
import { decodeJson, decodeJsonLeniently } from '../go/json-decode.ts';
import { encodeJson } from '../go/json-encode.ts';
import { orElse, type Meter } from '../../exec/meter.ts';
import { any, bool, string } from '../../exec/parameters.ts';
import { isTrue, typeNameOf } from '../../value-kind.ts';
import { deepEqual } from './deep-equal.ts';
import { kindName } from './elements.ts';

function nameOfType(value: unknown): string {
  return value === null ? '<nil>' : typeNameOf(value);
}

function pretty(meter: Meter, value: unknown): string {
  return encodeJson(value, meter, { escapeHtml: true, indented: true });
}

/** A nested list is two characters of JSON, but takes ten times as much memory as its JSON. */
const decoding = { weight: 8 };

const style = { escapeHtml: false, indented: false };
const rawJson = meteredFunction([any], (meter, value) => encodeJson(value, meter, style), shallow);

/** sprig's functions on values of any type: defaults, JSON, types. */
export const valueFunctions: FunctionTable = {
  all: meteredVariadic([], any, (meter, ...values) => values.every((value) => isTrue(value, meter)), shallow),
  any: meteredVariadic([], any, (meter, ...values) => values.some((value) => isTrue(value, meter)), shallow),
  coalesce: meteredVariadic([], any, (meter, ...values) => values.find((one) => isTrue(one, meter)) ?? null, shallow),
  deepEqual: meteredFunction([any, any], deepEqual, shallow),
  default: meteredVariadic([any], any, (meter, other, value) => (isTrue(value, meter) ? value : other), shallow),
  empty: meteredFunction([any], (meter, value) => !isTrue(value, meter), shallow),
  fail: goFunction([string], (message) => {
    throw new Error(message);
  }),
  fromJson: goFunction([string], decodeJsonLeniently, decoding),
  hello: goFunction([], () => 'Hello!'),
  kindIs: goFunction([string, any], (kind, value) => kind === kindName(value), shallow),
  kindOf: goFunction([any], kindName, shallow),
  mustFromJson: goFunction([string], decodeJson, decoding),
  mustToJson: meteredFunction([any], (meter, value) => encodeJson(value, meter), shallow),
  mustToPrettyJson: meteredFunction([any], pretty, shallow),
  mustToRawJson: rawJson,
  ternary: goFunction([any, any, bool], (yes, no, condition) => (condition ? yes : no), shallow),
  toJson: meteredFunction([any], (meter, value) => orElse(() => encodeJson(value, meter), ''), shallow),
  toPrettyJson: meteredFunction([any], (meter, value) => orElse(() => pretty(meter, value), ''), shallow),
  toRawJson: rawJson,
  typeIs: goFunction([string, any], (type, value) => type === nameOfType(value), shallow),
  typeIsLike: goFunction([string, any], (type, value) => [type, `*${type}`].includes(nameOfType(value)), shallow),
  typeOf: goFunction([any], nameOfType, shallow),
};
