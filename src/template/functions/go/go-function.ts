import { typeName, type GoType } from '../../go-type.ts';
import type { Meter } from '../../exec/meter.ts';

/** A Go type as a function's parameter, with the TypeScript type of its template value. */
export type Parameter<Value> = GoType & { readonly valueType?: Value };

type Values<Parameters extends readonly unknown[]> = {
  readonly [Index in keyof Parameters]: Parameters[Index] extends Parameter<infer Value> ? Value : never;
};

/** What is known of a function besides what it gives. */
export interface FunctionTraits {
  /** Whether it changes an argument, or calls what may do so: then nothing that a template has read before can be relied on. */
  readonly changesData?: boolean;
  /**
   * Of its first argument it reads one entry of a map only: the one that its second argument names, below these JSON
   * members. Holds for calls with this number of operands.
   */
  readonly looksUp?: { readonly operands: number; readonly below: readonly string[] };
  /** Lists and maps are handed on or looked into at one place, not gone through: they cost nothing, texts do. */
  readonly looksInto?: boolean;
  /** How much more than copying it costs to do what the function does with its arguments. Default 1. */
  readonly weight?: number;
}

/** The trait of functions that hand on what they are given, or look at one place of it. */
export const looking: FunctionTraits = { looksInto: true };

/**
 * A function that templates may call; in data, by `call`. What a call costs is counted by the caller, from the arguments
 * and the result.
 */
export class GoFunction {
  readonly parameters: readonly GoType[];
  /** The type of every argument after `parameters`. */
  readonly rest: GoType | undefined;
  readonly invoke: (...args: readonly unknown[]) => unknown;
  readonly traits: FunctionTraits;
  /** Whether `invoke` wants a Meter before the arguments. */
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

  /** The type as Go prints it, e.g. `func(string, ...interface {})` (results are not recorded). */
  get typeName(): string {
    const fixed = this.parameters.map(typeName);
    return `func(${(this.rest === undefined ? fixed : [...fixed, `...${typeName(this.rest)}`]).join(', ')})`;
  }
}

/** The functions of templates by name. A later table overrides an earlier one: `{ ...sprig, ...istio }`. */
export type FunctionTable = Readonly<Record<string, GoFunction>>;

/** A function with fixed parameters. What `invoke` throws fails the template as `error calling NAME: message`. */
export function goFunction<const Parameters extends readonly Parameter<unknown>[]>(
  parameters: Parameters,
  invoke: (...args: Values<Parameters>) => unknown,
  traits?: FunctionTraits,
): GoFunction {
  return new GoFunction(parameters, undefined, invoke as unknown as GoFunction['invoke'], traits);
}

/** A function with fixed parameters and any number of further arguments of one type. */
export function goVariadic<const Parameters extends readonly Parameter<unknown>[], Rest>(
  parameters: Parameters,
  rest: Parameter<Rest>,
  invoke: (...args: [...Values<Parameters>, ...Rest[]]) => unknown,
  traits?: FunctionTraits,
): GoFunction {
  return new GoFunction(parameters, rest, invoke as unknown as GoFunction['invoke'], traits);
}

/**
 * A function with fixed parameters that may cost more than going once through its arguments and its result, or makes a
 * result that is larger than they are: it spends as it goes, and before it makes.
 */
export function meteredFunction<const Parameters extends readonly Parameter<unknown>[]>(
  parameters: Parameters,
  invoke: (meter: Meter, ...args: Values<Parameters>) => unknown,
  traits?: FunctionTraits,
): GoFunction {
  return new GoFunction(parameters, undefined, invoke as unknown as GoFunction['invoke'], traits, true);
}

/** The same with any number of further arguments of one type. */
export function meteredVariadic<const Parameters extends readonly Parameter<unknown>[], Rest>(
  parameters: Parameters,
  rest: Parameter<Rest>,
  invoke: (meter: Meter, ...args: [...Values<Parameters>, ...Rest[]]) => unknown,
  traits?: FunctionTraits,
): GoFunction {
  return new GoFunction(parameters, rest, invoke as unknown as GoFunction['invoke'], traits, true);
}
