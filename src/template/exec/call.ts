import { assign } from './assign.ts';
import type { Evaluate, Execution } from './execution.ts';
import type { BoundMethod } from './field-access.ts';
import type { GoFunction } from '../functions/go/go-function.ts';
import type { GoType } from '../go-type.ts';
import { cost, limitOf, shallowCost, textCost } from './meter.ts';
import type { CommandNode, IdentifierNode, OperandNode } from '../parse/nodes.ts';
import type { TemplateError } from '../template-error.ts';
import { typed } from '../typed-value.ts';
import { isTrue } from '../value-kind.ts';

/** Stands for "no value comes from the pipeline". */
export const missingFinal: unique symbol = Symbol('no value from the pipeline');

/** A compiled argument, evaluated for a parameter of a type. */
export type Argument = (execution: Execution, dot: unknown, type: GoType) => unknown;

type Command = (execution: Execution, dot: unknown, final: unknown) => unknown;

/** The value that the pipeline hands over, as an argument of a parameter's type. */
function fitFinal(execution: Execution, final: unknown, type: GoType): unknown {
  return assign(final, type, (reason) => execution.error(reason));
}

/** Calls a function by the rules of text/template: the pipeline's value is the last argument. */
export function runFunction(
  node: IdentifierNode,
  whole: CommandNode | IdentifierNode,
  implementation: GoFunction,
  args: readonly Evaluate[],
  call: { readonly callee: unknown } | undefined,
): Command {
  const { parameters, rest, invoke, metered, traits } = implementation;
  const { weight = 1 } = traits;
  const costOf = traits.looksInto === true ? textCost : shallowCost;
  const given = args.length;
  return (execution, dot, final) => {
    execution.node = node;
    const piped = final !== missingFinal;
    checkCount(execution, node.name, parameters.length, rest !== undefined, given, piped);
    const values: unknown[] = [];
    for (const argument of args) values.push(argument(execution, dot));
    if (piped) values.push(fitFinal(execution, final, (parameters[given] ?? rest) as GoType));
    const { meter } = execution;
    let units: number = cost.step;
    for (const value of values) units += costOf(value);
    meter.spend(units * weight);
    if (call !== undefined) values.unshift(call.callee ?? 'value');
    try {
      const result = metered ? invoke(meter, ...values) : invoke(...values);
      meter.spend(costOf(result));
      return result;
    } catch (error) {
      throw callError(execution, whole, node.name, error);
    }
  };
}

/** Calls a method; its arguments' types are known only now. */
export function runMethod(
  execution: Execution,
  dot: unknown,
  node: OperandNode,
  name: string,
  { method, raw }: BoundMethod,
  args: readonly Argument[],
  final: unknown,
): unknown {
  const parameters = method.parameters ?? [];
  const fixed = method.variadic === true ? parameters.length - 1 : parameters.length;
  const piped = final !== missingFinal;
  checkCount(execution, name, fixed, method.variadic === true, args.length, piped);
  const typeAt = (index: number): GoType => parameters[Math.min(index, parameters.length - 1)] as GoType;
  const values = args.map((argument, index) => argument(execution, dot, typeAt(index)));
  if (piped) values.push(fitFinal(execution, final, typeAt(args.length)));
  const { meter } = execution;
  meter.spend(values.reduce<number>((units, value) => units + shallowCost(value), cost.step));
  try {
    const result = typed(method.result, method.call(raw, ...values));
    meter.spend(shallowCost(result));
    return result;
  } catch (error) {
    throw callError(execution, node, name, error);
  }
}

function checkCount(
  execution: Execution,
  name: string,
  fixed: number,
  variadic: boolean,
  given: number,
  piped: boolean,
): void {
  const count = piped ? given + 1 : given;
  if (variadic) {
    if (count < fixed) throw execution.error(`wrong number of args for ${name}: want at least ${fixed} got ${given}`);
  } else if (count !== fixed) {
    throw execution.error(`wrong number of args for ${name}: want ${fixed} got ${count}`);
  }
}

function callError(execution: Execution, node: CommandNode | OperandNode, name: string, error: unknown): TemplateError {
  const limit = limitOf(error);
  if (limit !== undefined) return execution.limit(limit);
  execution.node = node;
  return execution.error(`error calling ${name}: ${(error as Error).message}`);
}

/** The builtins `and` and `or`: the first argument that decides, later ones are not evaluated. */
export function shortCircuit(node: IdentifierNode, args: readonly Argument[]): Command {
  const decisive = node.name === 'or';
  return (execution, dot, final) => {
    execution.node = node;
    const piped = final !== missingFinal;
    if (args.length === 0 && !piped)
      throw execution.error(`wrong number of args for ${node.name}: want at least 1 got 0`);
    let value: unknown;
    for (const argument of args) {
      value = argument(execution, dot, { kind: 'reflected' });
      if (isTrue(value, execution.meter) === decisive) return value;
    }
    return piped ? final : value;
  };
}
