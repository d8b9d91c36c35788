import { assignQuickly } from './assign.ts';
import type { Evaluate, Execution } from './execution.ts';
import type { BoundMethod } from './field-access.ts';
import type { GoFunction } from '../functions/go/go-function.ts';
import type { GoType } from '../go-type.ts';
import { cost, limitOf, shallowCost, textCost } from './meter.ts';
import type { CommandNode, IdentifierNode, OperandNode } from '../parse/nodes.ts';
import type { TemplateError } from '../template-error.ts';
import { typed } from '../typed-value.ts';
import { isTrue } from '../value-kind.ts';

/** A compiled argument, evaluated for a parameter of the given type. */
export type Argument = (execution: Execution, dot: unknown, type: GoType) => unknown;

/** A compiled command; `final` is the result of the previous command in the pipeline. */
export type Command = (execution: Execution, dot: unknown, final?: unknown) => unknown;

/**
 * Calls a function by the rules of text/template: the piped value is the last argument.
 * @param callee the name of the called value, for the builtin `call`
 */
export function runFunction(
  node: IdentifierNode,
  whole: CommandNode | IdentifierNode,
  { parameters, rest, invoke, metered, traits }: GoFunction,
  args: readonly Evaluate[],
  piped: boolean,
  callee: unknown,
): Command {
  const { weight = 1 } = traits;
  const costOf = traits.shallow === true ? textCost : shallowCost;
  const complaint = wrongCount(node.name, parameters.length, rest !== undefined, args.length, piped);
  const finalType = (parameters[args.length] ?? rest) as GoType;
  return (execution, dot, final) => {
    execution.node = node;
    if (complaint !== undefined) throw execution.error(complaint);
    const values: unknown[] = [];
    for (const argument of args) values.push(argument(execution, dot));
    if (piped) values.push(assignQuickly(execution, final, finalType));
    const { meter } = execution;
    let units: number = cost.step;
    for (const value of values) units += costOf(value);
    meter.spend(units * weight);
    if (callee !== undefined) values.unshift(callee);
    try {
      const result = metered ? invoke(meter, ...values) : invoke(...values);
      meter.spend(costOf(result));
      return result;
    } catch (error) {
      throw callError(execution, whole, node.name, error);
    }
  };
}

/** Calls a method, whose parameter types are known only at run time. */
export function runMethod(
  execution: Execution,
  dot: unknown,
  node: OperandNode,
  name: string,
  { method, raw }: BoundMethod,
  args: readonly Argument[],
  piped: boolean,
  final: unknown,
): unknown {
  const { parameters = [], variadic = false } = method;
  const fixed = variadic ? parameters.length - 1 : parameters.length;
  const complaint = wrongCount(name, fixed, variadic, args.length, piped);
  if (complaint !== undefined) throw execution.error(complaint);
  const typeAt = (index: number): GoType => parameters[Math.min(index, parameters.length - 1)] as GoType;
  const values = args.map((argument, index) => argument(execution, dot, typeAt(index)));
  if (piped) values.push(assignQuickly(execution, final, typeAt(args.length)));
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

/** Returns the error for a wrong number of arguments; undefined for a correct number. */
function wrongCount(name: string, fixed: number, variadic: boolean, given: number, piped: boolean): string | undefined {
  const count = piped ? given + 1 : given;
  if (variadic ? count >= fixed : count === fixed) return undefined;
  return `wrong number of args for ${name}: want ${variadic ? `at least ${fixed} got ${given}` : `${fixed} got ${count}`}`;
}

function callError(execution: Execution, node: CommandNode | OperandNode, name: string, error: unknown): TemplateError {
  const limit = limitOf(error);
  if (limit !== undefined) return execution.error(limit, 'limit');
  execution.node = node;
  return execution.error(`error calling ${name}: ${(error as Error).message}`);
}

/** Evaluates the arguments of `and` or `or` until an argument decides the result. */
export function shortCircuit(node: IdentifierNode, args: readonly Argument[], piped: boolean): Command {
  const decisive = node.name === 'or';
  return (execution, dot, final) => {
    execution.node = node;
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
