import type { Evaluate, Execution } from './execution.ts';
import { typeName, type GoType } from '../go-type.ts';
import { int, Integer } from '../integer.ts';
import { printNode, type BooleanNode, type NumberNode, type StringNode } from '../parse/nodes.ts';

/** A number where nothing demands a type: its syntax decides, as for Go's untyped constants. */
export function idealConstant(node: NumberNode): Evaluate {
  const { integer, float, complex } = node.value;
  if (complex !== undefined) return () => complex;
  // A point or an exponent makes a float, but not in hexadecimal integers (0x1e3) or runes ('.').
  const isFloat = /[.eEpP]/.test(node.text) && !/^(?:0[xX][^pP]*$|')/.test(node.text);
  if (isFloat && float !== undefined) return () => float;
  const value = integer !== undefined && integer >= -1024n && integer < 1024n ? int(Number(integer)) : integer;
  return (execution) => {
    execution.node = node;
    if (value === undefined) throw execution.error(`${node.text} overflows int`);
    return value;
  };
}

/** A constant as an argument of a parameter's type. */
export function constantOf(execution: Execution, node: NumberNode | StringNode | BooleanNode, type: GoType): unknown {
  if (type.kind === 'reflected' || (type.kind === 'interface' && type.accepts === undefined)) {
    if (node.type === 'number') return idealConstant(node)(execution, undefined);
    return node.type === 'string' ? node.text : node.value;
  }
  let wanted = 'integer';
  switch (type.kind) {
    case 'string':
      if (node.type === 'string') return node.text;
      wanted = 'string';
      break;
    case 'bool':
      if (node.type === 'boolean') return node.value;
      wanted = 'bool';
      break;
    case 'float64':
      if (node.type === 'number' && node.value.float !== undefined) return node.value.float;
      wanted = 'float';
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
  throw execution.error(`expected ${wanted}; found ${printNode(node)}`);
}
