import { assign, canBeNil, nilOf, unaddressed } from './assign.ts';
import { missingFinal, runFunction, runMethod, shortCircuit } from './call.ts';
import type { Argument } from './call.ts';
import type { Evaluate, Execution } from './execution.ts';
import { findMethod, readName } from './field-access.ts';
import type { GoFunction } from './go-function.ts';
import { anyType, typeName } from './go-type.ts';
import type { GoType } from './go-type.ts';
import { constantOf, idealConstant } from './constant.ts';
import { cost } from './meter.ts';
import { printNode } from './nodes.ts';
import type { CommandNode, IdentifierNode, OperandNode, PipeNode } from './nodes.ts';
import { isPlainMap } from './value-kind.ts';

/** The functions of a template, as compiling needs them. */
export interface Functions {
  readonly get: (name: string) => GoFunction | undefined;
  /** Whether the name is Go's own function, not a table's of the same name: some builtins are special. */
  readonly isBuiltin: (name: string) => boolean;
}

/** A compiled command: `final` is the value of the command before it in the pipeline, or `missingFinal`. */
type Command = (execution: Execution, dot: unknown, final: unknown) => unknown;

/** Compiles pipelines to closures. One compiler serves a whole template. */
export class PipelineCompiler {
  readonly #functions: Functions;

  constructor(functions: Functions) {
    this.#functions = functions;
  }

  /** A pipeline: its value is `undefined` when it is missing or nil, as Go digs one level into interfaces. */
  pipeline(node: PipeNode): Evaluate {
    const commands = node.commands.map((command) => this.#command(command));
    const names = node.declarations.map((variable) => String(variable.names[0]));
    const [first] = commands;
    const units = pipelineCost(node);
    const evaluate: Evaluate =
      commands.length === 1 && first !== undefined
        ? (execution, dot) => {
            execution.node = node;
            execution.step(units);
            return first(execution, dot, missingFinal) ?? undefined;
          }
        : (execution, dot) => {
            execution.node = node;
            execution.step(units);
            let value: unknown = missingFinal;
            for (const command of commands) value = command(execution, dot, value) ?? undefined;
            return value;
          };
    if (names.length === 0) return evaluate;
    return (execution, dot) => {
      const value = evaluate(execution, dot);
      for (const name of names) {
        if (node.isAssignment) execution.values[execution.indexOf(name)] = value;
        else execution.declare(name, value);
      }
      return value;
    };
  }

  #command(node: CommandNode): Command {
    const [first, ...rest] = node.operands as [OperandNode, ...OperandNode[]];
    switch (first.type) {
      case 'field':
      case 'chain':
      case 'variable':
        return this.#names(first, rest);
      case 'identifier':
        return this.#function(first, node, rest);
      default: {
        const value = this.operand(first);
        const isPipe = first.type === 'pipe';
        return (execution, dot, final) => {
          if (!isPipe) execution.node = first;
          if (rest.length > 0 || final !== missingFinal) throw notAFunction(execution, first);
          return value(execution, dot);
        };
      }
    }
  }

  /** An operand whose type nothing demands. */
  operand(node: OperandNode): Evaluate {
    switch (node.type) {
      case 'field':
      case 'chain':
      case 'variable': {
        const command = this.#names(node, []);
        return (execution, dot) => command(execution, dot, missingFinal);
      }
      case 'identifier': {
        const command = this.#function(node, node, []);
        return (execution, dot) => command(execution, dot, missingFinal);
      }
      case 'pipe':
        return this.pipeline(node);
      case 'dot':
        return (_execution, dot) => dot;
      case 'nil':
        return (execution) => {
          throw execution.error('nil is not a command');
        };
      case 'number':
        return idealConstant(node);
      case 'string':
        return () => node.text;
      case 'boolean':
        return () => node.value;
    }
  }

  /** .X.Y, $x.Y, (pipeline).X.Y; the last name may be a method that takes arguments. */
  #names(node: OperandNode & { readonly type: 'field' | 'variable' | 'chain' }, rest: readonly OperandNode[]): Command {
    const receiver = this.#receiver(node);
    const names = node.type === 'variable' ? node.names.slice(1) : node.names;
    if (names.length === 0) {
      return (execution, dot, final) => {
        execution.node = node;
        const value = receiver(execution, dot);
        if (rest.length > 0 || final !== missingFinal) throw notAFunction(execution, node);
        return value;
      };
    }
    const args = rest.map((argument) => this.#argument(argument));
    const last = names.length - 1;
    return (execution, dot, final) => {
      let value = receiver(execution, dot);
      execution.node = node;
      let fromInterface = false;
      for (let index = 0; index <= last; index += 1) {
        const name = names[index] as string;
        const method = findMethod(value, name);
        const hasArguments = index === last && (args.length > 0 || final !== missingFinal);
        if (method !== undefined) {
          value = runMethod(
            execution,
            dot,
            node,
            name,
            method,
            index === last ? args : [],
            index === last ? final : missingFinal,
          );
          fromInterface = false;
        } else {
          const next = readName(execution, value, name, fromInterface, hasArguments);
          fromInterface = isPlainMap(value);
          value = next;
        }
      }
      return value;
    };
  }

  #receiver(node: OperandNode & { readonly type: 'field' | 'variable' | 'chain' }): Evaluate {
    if (node.type === 'field') return (_execution, dot) => dot;
    if (node.type === 'variable') {
      const name = String(node.names[0]);
      return (execution) => execution.values[execution.indexOf(name)];
    }
    const value = this.operand(node.node);
    return (execution, dot) => {
      execution.node = node.node;
      return value(execution, dot);
    };
  }

  #function(node: IdentifierNode, whole: CommandNode | IdentifierNode, rest: readonly OperandNode[]): Command {
    const { name } = node;
    const implementation = this.#functions.get(name) as GoFunction;
    const isBuiltin = this.#functions.isBuiltin(name);
    const args = rest.map((argument) => this.#argument(argument));
    if (isBuiltin && (name === 'and' || name === 'or')) return shortCircuit(node, args);
    const typedArgs = rest.map((argument, index) =>
      this.#typedArgument(argument, implementation.parameters[index] ?? implementation.rest),
    );
    const [operand] = rest;
    const callee = operand === undefined ? undefined : { toString: (): string => printNode(operand) };
    return runFunction(node, whole, implementation, typedArgs, isBuiltin && name === 'call' ? { callee } : undefined);
  }

  /** An argument whose parameter's type is known while compiling (`any` where there are too many: an error before it is evaluated). */
  #typedArgument(node: OperandNode, type: GoType = anyType): Evaluate {
    const argument = this.#argument(node);
    return (execution, dot) => argument(execution, dot, type);
  }

  /** An argument: constants take the parameter's type, everything else must fit it. */
  #argument(node: OperandNode): Argument {
    switch (node.type) {
      case 'nil':
        return (execution, _dot, type) => {
          execution.node = node;
          if (canBeNil(type)) return nilOf(type);
          throw execution.error(`cannot assign nil to ${typeName(type)}`);
        };
      case 'number':
      case 'string':
      case 'boolean':
        return (execution, _dot, type) => {
          execution.node = node;
          return constantOf(execution, node, type);
        };
      default: {
        const value = this.operand(node);
        return (execution, dot, type) => {
          execution.node = node;
          return fit(execution, value(execution, dot), type);
        };
      }
    }
  }
}

/** A step and what the text of the pipeline tells of its length: one pipeline may have thousands of operands. Parentheses count for themselves. */
function pipelineCost({ commands }: PipeNode): number {
  let units = cost.step as number;
  for (const { operands } of commands) {
    for (const operand of operands) units += 'names' in operand ? operand.names.length : 1;
  }
  return units;
}

/** `assign`, with the frequent cases first. */
function fit(execution: Execution, value: unknown, type: GoType): unknown {
  switch (type.kind) {
    case 'reflected':
      return value;
    case 'interface':
      if (type.accepts === undefined) return typeof value === 'object' ? unaddressed(value) : (value ?? null);
      return assign(value, type, (reason) => execution.error(reason));
    default:
      return typeof value === type.kind ? value : assign(value, type, (reason) => execution.error(reason));
  }
}

function notAFunction(execution: Execution, node: OperandNode): Error {
  return execution.error(`can't give argument to non-function ${printNode(node)}`);
}
