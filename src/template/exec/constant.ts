import type { Evaluate, Execution } from './execution.ts';
import { typeName } from '../go-type.ts';
import type { GoType } from '../go-type.ts';
import { int, Integer } from '../integer.ts';
import { printNode } from '../parse/nodes.ts';
import type { BooleanNode, NumberNode, StringNode } from '../parse/nodes.ts';

/** A number where nothing demands a type: its syntax decides, as for Go's untyped constants. */
export function idealConstant(node: NumberNode): Evaluate {
  const { integer, float, complex } = node.value;
  if (complex !== undefined) return () => complex;
  // A point or an exponent makes a float, but not in hexadecimal integers (0x1e3) or runes ('.').
  const isFloat = /[.eEpP]/.test(node.text) && !/^(?:0[xX][^pP]*$|')/.test(node.text);
  if (isFloat && float !== undefined) return () => float;
  if (integer === undefined) {
    return (execution) => {
      execution.node = node;
      throw execution.error(`${node.text} overflows int`);
    };
  }
  const value = integer >= -1024n && integer < 1024n ? int(Number(integer)) : integer;
  return (execution) => {
    execution.node = node;
    return value;
  };
}

/** A constant as an argument of a parameter's type. */
export function constantOf(execution: Execution, node: NumberNode | StringNode | BooleanNode, type: GoType): unknown {
  switch (type.kind) {
    case 'interface':
      if (type.accepts !== undefined)
        throw execution.error(`can't handle ${printNode(node)} for arg of type ${typeName(type)}`);
      return untyped(execution, node);
    case 'reflected':
      return untyped(execution, node);
    case 'string':
      if (node.type === 'string') return node.text;
      throw execution.error(`expected string; found ${printNode(node)}`);
    case 'bool':
      if (node.type === 'boolean') return node.value;
      throw execution.error(`expected bool; found ${printNode(node)}`);
    case 'float64':
      if (node.type === 'number' && node.value.float !== undefined) return node.value.float;
      throw execution.error(`expected float; found ${printNode(node)}`);
    case 'struct':
    case 'map':
    case 'slice':
    case 'pointer':
      throw execution.error(`can't handle ${printNode(node)} for arg of type ${typeName(type)}`);
    case 'int':
      if (node.type === 'number' && node.value.integer !== undefined) return node.value.integer;
      throw execution.error(`expected integer; found ${printNode(node)}`);
    default:
      if (node.type === 'number' && node.value.integer !== undefined) return new Integer(type.kind, node.value.integer);
      throw execution.error(`expected integer; found ${printNode(node)}`);
  }
}

function untyped(execution: Execution, node: NumberNode | StringNode | BooleanNode): unknown {
  if (node.type === 'number') return idealConstant(node)(execution, undefined);
  return node.type === 'string' ? node.text : node.value;
}
