import type { NumberLiteral } from './number-literal.ts';
import { quoteString } from '../quote.ts';

/** The tree of a template. `position` is an index into the template's text. */
export type Node = StatementNode | ListNode | PipeNode | CommandNode | OperandNode;

export type StatementNode = TextNode | ActionNode | BranchNode | JumpNode | TemplateNode;

export interface TextNode {
  readonly type: 'text';
  readonly position: number;
  readonly text: string;
}

/** {{pipeline}} */
export interface ActionNode {
  readonly type: 'action';
  readonly position: number;
  readonly pipe: PipeNode;
}

/** {{if}}, {{with}}, {{range}} */
export interface BranchNode {
  readonly type: 'if' | 'with' | 'range';
  readonly position: number;
  readonly pipe: PipeNode;
  readonly list: ListNode;
  readonly elseList: ListNode | undefined;
}

/** {{break}}, {{continue}} */
export interface JumpNode {
  readonly type: 'break' | 'continue';
  readonly position: number;
}

/** {{template "name" pipeline}}, also the call that a {{block}} stands for. */
export interface TemplateNode {
  readonly type: 'template';
  readonly position: number;
  readonly name: string;
  readonly pipe: PipeNode | undefined;
}

export interface ListNode {
  readonly type: 'list';
  readonly position: number;
  readonly nodes: StatementNode[];
}

/** Declarations and commands: $x := a | b | c */
export interface PipeNode {
  readonly type: 'pipe';
  readonly position: number;
  /** `=` instead of `:=`. */
  isAssignment: boolean;
  readonly declarations: VariableNode[];
  readonly commands: CommandNode[];
}

/** operand operand* */
export interface CommandNode {
  readonly type: 'command';
  readonly position: number;
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
  | { readonly type: 'dot' | 'nil'; readonly position: number };

/** .X.Y.Z */
export interface FieldNode {
  readonly type: 'field';
  readonly position: number;
  readonly names: readonly string[];
}

/** $x.Y.Z: `names[0]` is `$x` */
export interface VariableNode {
  readonly type: 'variable';
  readonly position: number;
  readonly names: readonly string[];
}

/** (pipeline).X.Y */
export interface ChainNode {
  readonly type: 'chain';
  readonly position: number;
  readonly node: OperandNode;
  readonly names: string[];
}

/** A function's name. */
export interface IdentifierNode {
  readonly type: 'identifier';
  readonly position: number;
  readonly name: string;
}

export interface NumberNode {
  readonly type: 'number';
  readonly position: number;
  readonly text: string;
  readonly value: NumberLiteral;
}

export interface StringNode {
  readonly type: 'string';
  readonly position: number;
  /** With its quotes. */
  readonly quoted: string;
  readonly text: string;
}

export interface BooleanNode {
  readonly type: 'boolean';
  readonly position: number;
  readonly value: boolean;
}

/** What execution can fail at. */
export type PlacedNode = TextNode | ActionNode | TemplateNode | PipeNode | CommandNode | OperandNode;

/** The node in template syntax, as Go prints it in errors. */
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
