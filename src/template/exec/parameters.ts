import {
  anyMapType,
  anyType,
  boolType,
  float64Type,
  intType,
  reflectedType,
  stringMapType,
  stringType,
} from '../go-type.ts';
import type { Parameter } from '../functions/go/go-function.ts';
import type { TypedValue } from '../typed-value.ts';

/** A map[string]interface {} as a function receives it: a plain object, or the nil map. */
export type AnyMap = Record<string, unknown> | TypedValue;

/** Parameter types of template functions. */
export const any: Parameter<unknown> = anyType;
/** The argument as it is: `undefined` when missing, `null` for a nil interface. */
export const reflected: Parameter<unknown> = reflectedType;
export const string = stringType as Parameter<string>;
export const bool = boolType as Parameter<boolean>;
export const integer = intType as Parameter<bigint>;
export const float64 = float64Type as Parameter<number>;
export const anyMap = anyMapType as Parameter<AnyMap>;
/** map[string]string: always a TypedValue, whose raw form is a plain object of strings, or `null`. */
export const stringMap = stringMapType as Parameter<TypedValue>;
