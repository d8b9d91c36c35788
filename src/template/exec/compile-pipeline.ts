import { canBeNil, assignQuickly, nilOf } from './assign.ts';
import { runFunction, runMethod, shortCircuit, type Argument, type Command } from './call.ts';
import type { Evaluate, Execution } from './execution.ts';
import { findMethod, readName } from './field-access.ts';
import { builtins } from '../functions/go/builtins.ts';
import type { GoFunction } from '../functions/go/go-function.ts';
import { anyType, typeName, type GoType } from '../go-type.ts';
import { cost } from './meter.ts';
import { wholeData, type Readings } from './readings.ts';
import {
  printNode,
  type CommandNode,
  type IdentifierNode,
  type OperandNode,
  type PipeNode,
  type BooleanNode,
  type NumberNode,
  type StringNode,
} from '../parse/nodes.ts';
import { isPlainMap } from '../value-kind.ts';
import { int, Integer } from '../integer.ts';

/** Evaluates a number where no type is required: its syntax decides the type, as in Go. */
function idealConstant(node: NumberNode): Evaluate {
  const { integer, float, complex } = node.value;
  if (complex !== undefined) return () => complex;
  // A point or exponent makes a float, except in hexadecimal integers (0x1e3) and runes ('.').
  const isFloat = /[.eEpP]/.test(node.text) && !/^(?:0[xX][^pP]*$|')/.test(node.text);
  if (isFloat && float !== undefined) return () => float;
  const value = integer !== undefined && integer >= -1024n && integer < 1024n ? int(Number(integer)) : integer;
  return (execution) => {
    execution.node = node;
    if (value === undefined) throw execution.error(`${node.text} overflows int`);
    return value;
  };
}

/** Converts a constant to a parameter's type. */
function constantOf(execution: Execution, node: NumberNode | StringNode | BooleanNode, type: GoType): unknown {
  if (type.kind === 'reflected' || (type.kind === 'interface' && type.accepts === undefined)) {
    if (node.type === 'number') return idealConstant(node)(execution, undefined);
    return node.type === 'string' ? node.text : node.value;
  }
  let expected = 'integer';
  switch (type.kind) {
    case 'string':
      if (node.type === 'string') return node.text;
      expected = 'string';
      break;
    case 'bool':
      if (node.type === 'boolean') return node.value;
      expected = 'bool';
      break;
    case 'float64':
      if (node.type === 'number' && node.value.float !== undefined) return node.value.float;
      expected = 'float';
      break;
    case 'interface':
    case 'struct':
    case 'map':
    case 'slice':
    case 'pointer':
      throw execution.error(`can't handle ${printNode(node)} for arg of type ${typeName(type)}`);
    default:
      if (node.type === 'number' && node.value.integer !== undefined)
        return type.kind === 'int' ? node.value.integer : new Integer(type.kind, node.value.integer);
  }
  throw execution.error(`expected ${expected}; found ${printNode(node)}`);
}

/** The maximum readings per variable. A variable with more readings counts as the whole data. */
const mostSources = 64;
const manySources: ReadonlySet<number> = new Set([wholeData]);

/** Compiles pipelines to closures. One compiler serves a whole template. */
export class PipelineCompiler {
  readonly #functionOf: (name: string) => GoFunction;
  readonly #readings: Readings | undefined;

  /** @param readings collects the parts of the data that pipelines read; may be undefined */
  constructor(functionOf: (name: string) => GoFunction, readings: Readings | undefined) {
    this.#functionOf = functionOf;
    this.#readings = readings;
  }

  /** Compiles a pipeline. A missing or nil value becomes `undefined`, as in Go. */
  pipeline(node: PipeNode): Evaluate {
    const commands = node.commands.map((command, index) => this.#command(command, index > 0));
    const names = node.declarations.map((variable) => String(variable.names[0]));
    const [first] = commands;
    const units = pipelineCost(node);
    const evaluate: Evaluate =
      commands.length === 1 && first !== undefined
        ? (execution, dot) => {
            execution.node = node;
            execution.step(units);
            return first(execution, dot) ?? undefined;
          }
        : (execution, dot) => {
            execution.node = node;
            execution.step(units);
            let value: unknown;
            for (const command of commands) value = command(execution, dot, value) ?? undefined;
            return value;
          };
    if (names.length === 0) return evaluate;
    if (node.isAssignment) {
      for (const name of names) this.#readings?.assigned.add(name);
      return (execution, dot) => {
        const value = evaluate(execution, dot);
        // Repeating a statement's output would not set the statement's variables.
        execution.reads?.add(wholeData);
        for (const name of names) execution.variable(name).value = value;
        return value;
      };
    }
    const notes = this.#readings !== undefined;
    return (execution, dot) => {
      const outer = execution.reads;
      const reads = notes ? new Set<number>() : undefined;
      execution.reads = reads;
      const value = evaluate(execution, dot);
      execution.reads = outer;
      execution.note(reads);
      const sources = reads !== undefined && reads.size > mostSources ? manySources : reads;
      for (const name of names) execution.declare(name, value, sources);
      return value;
    };
  }

  /** @param piped whether the command gets the value of a previous command */
  #command(node: CommandNode, piped: boolean): Command {
    const [first, ...rest] = node.operands as [OperandNode, ...OperandNode[]];
    switch (first.type) {
      case 'field':
      case 'chain':
      case 'variable':
        return this.#names(first, rest, piped);
      case 'identifier':
        return this.#function(first, node, rest, piped);
      default: {
        const value = this.operand(first);
        const isPipe = first.type === 'pipe';
        return (execution, dot) => {
          if (!isPipe) execution.node = first;
          if (rest.length > 0 || piped) throw notAFunction(execution, first);
          return value(execution, dot);
        };
      }
    }
  }

  /** Compiles an operand for which no type is required. */
  operand(node: OperandNode): Evaluate {
    switch (node.type) {
      case 'field':
      case 'chain':
      case 'variable':
        return this.#names(node, [], false);
      case 'identifier':
        return this.#function(node, node, [], false);
      case 'pipe':
        return this.pipeline(node);
      case 'dot':
        return (execution, dot) => {
          execution.noteIfData(dot, wholeData);
          return dot;
        };
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

  /** Compiles .X.Y, $x.Y or (pipeline).X.Y; the last name may be a method with arguments. */
  #names(node: NamesNode, rest: readonly OperandNode[], piped: boolean): Command {
    const receiver = this.#receiver(node);
    const names = node.type === 'variable' ? node.names.slice(1) : node.names;
    if (names.length === 0) {
      return (execution, dot) => {
        execution.node = node;
        const value = receiver(execution, dot);
        execution.noteIfData(value, wholeData);
        if (rest.length > 0 || piped) throw notAFunction(execution, node);
        return value;
      };
    }
    const args = rest.map((argument) => this.#argument(argument));
    const last = names.length - 1;
    const hasArguments = args.length > 0 || piped;
    const slot = this.#readings?.field(names) ?? wholeData;
    return (execution, dot, final) => {
      let value = receiver(execution, dot);
      execution.noteIfData(value, slot);
      execution.node = node;
      let fromInterface = false;
      for (let index = 0; index <= last; index += 1) {
        const name = names[index] as string;
        const isLast = index === last;
        const method = findMethod(value, name);
        if (method !== undefined) {
          value = runMethod(execution, dot, node, name, method, isLast ? args : [], isLast && piped, final);
          fromInterface = false;
        } else {
          const next = readName(execution, value, name, fromInterface, isLast && hasArguments);
          fromInterface = isPlainMap(value);
          value = next;
        }
      }
      return value;
    };
  }

  #receiver(node: NamesNode): Evaluate {
    if (node.type === 'field') return (_execution, dot) => dot;
    if (node.type === 'variable') {
      const name = String(node.names[0]);
      const assigned = this.#readings?.assigned;
      return (execution) => {
        const variable = execution.variable(name);
        if (execution.reads !== undefined) {
          execution.note(variable.sources);
          if (assigned?.has(name) === true) execution.reads.add(wholeData);
        }
        return variable.value;
      };
    }
    const value = this.operand(node.node);
    return (execution, dot) => {
      execution.node = node.node;
      return value(execution, dot);
    };
  }

  #function(
    node: IdentifierNode,
    whole: CommandNode | IdentifierNode,
    rest: readonly OperandNode[],
    piped: boolean,
  ): Command {
    const { name } = node;
    const implementation = this.#functionOf(name);
    const args = rest.map((argument) => this.#argument(argument));
    // Only builtins get special treatment, not functions with the same name from a table.
    const isBuiltin = implementation === builtins[name];
    if (isBuiltin && (name === 'and' || name === 'or')) return shortCircuit(node, args, piped);
    const { parameters, traits } = implementation;
    if (traits.changesData === true && this.#readings !== undefined) this.#readings.changesData = true;
    const entry = piped ? undefined : this.#entry(implementation, rest);
    const typedArgs = args.map((argument, index) => {
      // An excess argument causes an error before it is evaluated.
      const type = parameters[index] ?? implementation.rest ?? anyType;
      const evaluate: Evaluate = (execution, dot) => argument(execution, dot, type);
      return entry !== undefined && index === 0 ? recordingEntry(evaluate, entry) : evaluate;
    });
    const [operand] = rest;
    const callee = { toString: (): string => (operand === undefined ? 'value' : printNode(operand)) };
    return runFunction(
      node,
      whole,
      implementation,
      typedArgs,
      piped,
      isBuiltin && name === 'call' ? callee : undefined,
    );
  }

  /** Returns the map entry that a call reads, if the call reads nothing else from the map. */
  #entry({ traits }: GoFunction, [map, key, ...others]: readonly OperandNode[]): Entry | undefined {
    const { looksUp } = traits;
    if (looksUp === undefined || key?.type !== 'string' || others.length + 2 !== looksUp.operands) return undefined;
    const names =
      map?.type === 'field' ? map.names : map?.type === 'variable' && map.names[0] === '$' ? map.names.slice(1) : [];
    const slot = names.length === 0 ? undefined : this.#readings?.entry(names, looksUp.below, key.text);
    return slot === undefined ? undefined : { slot, fromDot: map?.type === 'field' };
  }

  /** Compiles an argument. A constant takes the parameter's type; other nodes must fit it. */
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
          return assignQuickly(execution, value(execution, dot), type);
        };
      }
    }
  }
}

/** A node that reads a chain of names. */
type NamesNode = OperandNode & { readonly type: 'field' | 'variable' | 'chain' };

interface Entry {
  readonly slot: number;
  /** Whether the map is a field of the dot rather than of `$`. */
  readonly fromDot: boolean;
}

/** Wraps a map expression so that it records the reading of one entry instead of the map. */
function recordingEntry(map: Evaluate, { slot, fromDot }: Entry): Evaluate {
  return (execution, dot) => {
    const { reads } = execution;
    if (reads === undefined || (fromDot ? dot : execution.variable('$').value) !== execution.data)
      return map(execution, dot);
    reads.add(slot);
    execution.reads = undefined;
    const value = map(execution, dot);
    execution.reads = reads;
    return value;
  };
}

/** Returns the cost of a pipeline's operands (perhaps thousands), not counting parentheses. */
function pipelineCost({ commands }: PipeNode): number {
  let units = cost.step as number;
  for (const { operands } of commands) {
    for (const operand of operands) units += 'names' in operand ? operand.names.length : 1;
  }
  return units;
}

function notAFunction(execution: Execution, node: OperandNode): Error {
  return execution.error(`can't give argument to non-function ${printNode(node)}`);
}
