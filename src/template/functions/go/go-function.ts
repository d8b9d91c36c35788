import { typeName, type GoType } from '../../go-type.ts';
import type { Meter } from '../../exec/meter.ts';

/** A parameter's Go type, with the TypeScript type of its template value. */
export type Parameter<Value> = GoType & { readonly valueType?: Value };

type Values<Parameters extends readonly unknown[]> = {
  readonly [Index in keyof Parameters]: Parameters[Index] extends Parameter<infer Value> ? Value : never;
};

/** The properties of a function that affect caching and cost. */
export interface FunctionTraits {
  /** Whether the function may change the data. Remembered output is then unusable. */
  readonly changesData?: boolean;
  /**
   * Set if a call with `operands` operands reads only one map entry of its first argument: the
   * entry that the second argument names. `below` is the path of JSON members to that map.
   */
  readonly looksUp?: { readonly operands: number; readonly below: readonly string[] };
  /** Whether the function skips the contents of lists and maps, so that only text is charged. */
  readonly shallow?: boolean;
  /** The cost of the function relative to copying the arguments. Default 1. */
  readonly weight?: number;
}

/** The trait of functions that pass values on or read only one part of a value. */
export const shallow: FunctionTraits = { shallow: true };

/**
 * A function that templates may call by name, or through `call` if the function is in the data. The
 * caller counts the cost of the arguments and the result.
 */
export class GoFunction {
  readonly parameters: readonly GoType[];
  /** The type of every argument after `parameters`. */
  readonly rest: GoType | undefined;
  readonly invoke: (...args: readonly unknown[]) => unknown;
  readonly traits: FunctionTraits;
  /** Whether `invoke` takes a Meter before the arguments. */
  readonly metered: boolean;

  constructor(
    parameters: readonly GoType[],
    rest: GoType | undefined,
    invoke: (...args: readonly unknown[]) => unknown,
    traits: FunctionTraits = {},
    metered = false,
  ) {
    this.parameters = parameters;
    this.rest = rest;
    this.invoke = invoke;
    this.traits = traits;
    this.metered = metered;
  }

  /** The type as Go prints it, e.g. `func(string, ...interface {})` (without results). */
  get typeName(): string {
    const fixed = this.parameters.map(typeName);
    return `func(${(this.rest === undefined ? fixed : [...fixed, `...${typeName(this.rest)}`]).join(', ')})`;
  }
}

/** Template functions by name. Later tables override earlier ones: `{ ...sprig, ...istio }`. */
export type FunctionTable = Readonly<Record<string, GoFunction>>;

/** Makes a function with fixed parameters. Its exceptions become `error calling NAME: message`. */
export function goFunction<const Parameters extends readonly Parameter<unknown>[]>(
  parameters: Parameters,
  invoke: (...args: Values<Parameters>) => unknown,
  traits?: FunctionTraits,
): GoFunction {
  return new GoFunction(parameters, undefined, invoke as unknown as GoFunction['invoke'], traits);
}

/** Makes a function with fixed parameters and any number of further arguments of one type. */
export function goVariadic<const Parameters extends readonly Parameter<unknown>[], Rest>(
  parameters: Parameters,
  rest: Parameter<Rest>,
  invoke: (...args: [...Values<Parameters>, ...Rest[]]) => unknown,
  traits?: FunctionTraits,
): GoFunction {
  return new GoFunction(parameters, rest, invoke as unknown as GoFunction['invoke'], traits);
}

/**
 * Makes a function with fixed parameters that spends work on the meter in advance, because it costs
 * more than one visit of its arguments and its result.
 */
export function meteredFunction<const Parameters extends readonly Parameter<unknown>[]>(
  parameters: Parameters,
  invoke: (meter: Meter, ...args: Values<Parameters>) => unknown,
  traits?: FunctionTraits,
): GoFunction {
  return new GoFunction(parameters, undefined, invoke as unknown as GoFunction['invoke'], traits, true);
}

/** Makes a {@link meteredFunction} with any number of further arguments of one type. */
export function meteredVariadic<const Parameters extends readonly Parameter<unknown>[], Rest>(
  parameters: Parameters,
  rest: Parameter<Rest>,
  invoke: (meter: Meter, ...args: [...Values<Parameters>, ...Rest[]]) => unknown,
  traits?: FunctionTraits,
): GoFunction {
  return new GoFunction(parameters, rest, invoke as unknown as GoFunction['invoke'], traits, true);
}
