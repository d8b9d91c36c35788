import * as go from '../go-type.ts';
import type { Parameter } from '../functions/go/go-function.ts';
import type { TypedValue } from '../typed-value.ts';

/** A map[string]interface {} as a function gets it: a plain object, or the nil map. */
export type AnyMap = Record<string, unknown> | TypedValue;

export const any: Parameter<unknown> = go.anyType;
/** The unconverted argument: `undefined` when missing, `null` for a nil interface. */
export const reflected: Parameter<unknown> = go.reflectedType;
export const string = go.stringType as Parameter<string>;
export const bool = go.boolType as Parameter<boolean>;
export const integer = go.intType as Parameter<bigint>;
export const float64 = go.float64Type as Parameter<number>;
export const anyMap = go.anyMapType as Parameter<AnyMap>;
/** map[string]string: a TypedValue whose raw value is a plain object of strings, or `null`. */
export const stringMap = go.stringMapType as Parameter<TypedValue>;
