import type { NumberLiteral } from './number-literal.ts';
import { quoteString } from '../quote.ts';

/** The syntax tree. `position` is an index into the template's text. */
export type Node = StatementNode | ListNode | PipeNode | CommandNode | OperandNode;

export type StatementNode = TextNode | ActionNode | BranchNode | NodeOf<'break' | 'continue'> | TemplateNode;

interface NodeOf<Type> {
  readonly type: Type;
  readonly position: number;
}

export interface TextNode extends NodeOf<'text'> {
  readonly text: string;
}

/** {{pipeline}} */
export interface ActionNode extends NodeOf<'action'> {
  readonly pipe: PipeNode;
}

/** {{if}}, {{with}}, {{range}} */
export interface BranchNode extends NodeOf<'if' | 'with' | 'range'> {
  readonly pipe: PipeNode;
  readonly list: ListNode;
  readonly elseList: ListNode | undefined;
}

/** {{template "name" pipeline}}, also the call in a {{block}}. */
export interface TemplateNode extends NodeOf<'template'> {
  readonly name: string;
  readonly pipe: PipeNode | undefined;
}

export interface ListNode extends NodeOf<'list'> {
  readonly nodes: StatementNode[];
}

/** Declarations and commands: $x := a | b | c */
export interface PipeNode extends NodeOf<'pipe'> {
  /** Whether the operator is `=` instead of `:=`. */
  isAssignment: boolean;
  readonly declarations: VariableNode[];
  readonly commands: CommandNode[];
}

/** operand operand* */
export interface CommandNode extends NodeOf<'command'> {
  readonly operands: OperandNode[];
}

export type OperandNode =
  | ChainNode
  | FieldNode
  | IdentifierNode
  | VariableNode
  | PipeNode
  | NumberNode
  | StringNode
  | BooleanNode
  | NodeOf<'dot' | 'nil'>;

/** .X.Y.Z */
export interface FieldNode extends NodeOf<'field'> {
  readonly names: readonly string[];
}

/** $x.Y.Z: `names[0]` is `$x` */
export interface VariableNode extends NodeOf<'variable'> {
  readonly names: readonly string[];
}

/** (pipeline).X.Y */
export interface ChainNode extends NodeOf<'chain'> {
  readonly node: OperandNode;
  readonly names: string[];
}

export interface IdentifierNode extends NodeOf<'identifier'> {
  readonly name: string;
}

export interface NumberNode extends NodeOf<'number'> {
  readonly text: string;
  readonly value: NumberLiteral;
}

export interface StringNode extends NodeOf<'string'> {
  /** The literal with its quotes. */
  readonly quoted: string;
  readonly text: string;
}

export interface BooleanNode extends NodeOf<'boolean'> {
  readonly value: boolean;
}

/** The nodes at which execution can fail. */
export type PlacedNode = TextNode | ActionNode | TemplateNode | PipeNode | CommandNode | OperandNode;

/** Formats the node in template syntax, as Go prints it in errors. */
export function printNode(node: PlacedNode): string {
  switch (node.type) {
    case 'text':
      return node.text;
    case 'action':
      return `{{${printNode(node.pipe)}}}`;
    case 'template':
      return `{{template ${quoteString(node.name)}${node.pipe === undefined ? '' : ` ${printNode(node.pipe)}`}}}`;
    case 'pipe':
      return printDeclarations(node) + node.commands.map(printNode).join(' | ');
    case 'command':
      return node.operands.map(printOperand).join(' ');
    case 'field':
      return node.names.map((name) => `.${name}`).join('');
    case 'variable':
      return node.names.join('.');
    case 'chain':
      return [printOperand(node.node), ...node.names].join('.');
    case 'identifier':
      return node.name;
    case 'number':
      return node.text;
    case 'string':
      return node.quoted;
    case 'boolean':
      return String(node.value);
    case 'dot':
      return '.';
    case 'nil':
      return 'nil';
  }
}

function printDeclarations(pipe: PipeNode): string {
  if (pipe.declarations.length === 0) return '';
  return `${pipe.declarations.map(printNode).join(', ')} ${pipe.isAssignment ? '=' : ':='} `;
}

function printOperand(operand: OperandNode): string {
  return operand.type === 'pipe' ? `(${printNode(operand)})` : printNode(operand);
}
