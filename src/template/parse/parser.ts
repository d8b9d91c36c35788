import { edits } from '../edits.ts';
import { Lexer, type LexerOptions } from './lexer.ts';
import { printNode } from './nodes.ts';
import type { BranchNode, CommandNode, ListNode, OperandNode, PipeNode, StatementNode, TemplateNode } from './nodes.ts';
import { parseNumber, parseRune } from './number-literal.ts';
import { quoteString } from '../quote.ts';
import type { SourceText } from './source-text.ts';
import type { Steps } from '../../steps/steps.ts';
import type { TemplateError } from '../template-error.ts';
import { TokenStream } from './token-stream.ts';
import type { Token, TokenType } from './tokens.ts';
import { unquote } from './unquote.ts';

/** The number of statements per step: steps are short, but deep nesting does not need many. */
const statementsPerStep = 16;

/** The maximum nesting of actions and parentheses; protects the stack (Go allows 10,000). */
const maximumNesting = 400;

/** The maximum number of visible variables. Each use of a variable searches all of them. */
const mostVariables = 250;

/** The maximum number of operands per command. Operands and names become JavaScript arguments. */
const mostOperands = 10_000;
const mostNames = 1000;

export interface ParserOptions extends LexerOptions {
  /** Returns all function names, for suggestions if a function is unknown. */
  readonly functionNames: () => readonly string[];
  /** The reasons why functions of other implementations are missing. */
  readonly unavailable: Readonly<Record<string, string>>;
}

/** The end of a list of statements: {{end}}, {{else}}, {{else if}} or {{else with}}. */
interface Terminator {
  readonly type: 'end' | 'else';
  readonly position: number;
}

function isTerminator(node: StatementNode | Terminator): node is Terminator {
  return node.type === 'end' || node.type === 'else';
}

/** The state of one template's body; nested definitions have their own. */
interface Body {
  readonly variables: string[];
  rangeDepth: number;
}

/**
 * Parses a template and its definitions by the rules of Go's text/template/parse. Returns them by
 * name. The comments of methods are grammar productions.
 * @throws TemplateError of kind `syntax`
 */
export function parseTemplate(source: SourceText, options: ParserOptions): Steps<ReadonlyMap<string, ListNode>> {
  return new Parser(source, options).parse();
}

class Parser {
  readonly #source: SourceText;
  readonly #options: ParserOptions;
  readonly #tokens: TokenStream;
  readonly #definitions = new Map<string, ListNode>();
  #body: Body = { variables: ['$'], rangeDepth: 0 };
  #nesting = 0;
  #statements = 0;

  constructor(source: SourceText, options: ParserOptions) {
    this.#source = source;
    this.#options = options;
    this.#tokens = new TokenStream(source, new Lexer(source.text, options));
  }

  /** template: (definition | textOrAction)* */
  *parse(): Steps<ReadonlyMap<string, ListNode>> {
    const root: ListNode = { type: 'list', position: this.#tokens.peek().position, nodes: [] };
    while (this.#tokens.peek().type !== 'end of input') {
      if (this.#tokens.peek().type === 'left delimiter') {
        const delimiter = this.#tokens.next();
        const word = this.#tokens.nextNonSpace();
        if (word.type === 'define') {
          yield* this.#definition();
          continue;
        }
        this.#tokens.pushBack(word, delimiter);
      }
      const node = yield* this.#textOrAction();
      if (isTerminator(node)) throw this.#tokens.error(`unexpected {{${node.type}}}`, node.position);
      root.nodes.push(node);
    }
    this.#define(this.#source.name, root);
    return this.#definitions;
  }

  #descend(): void {
    if (this.#nesting >= maximumNesting) throw this.#tokens.error('max expression depth exceeded');
    this.#nesting += 1;
  }

  #ascend(): void {
    this.#nesting -= 1;
  }

  /** Adds a definition. An empty definition never replaces another definition. */
  #define(name: string, list: ListNode): void {
    const known = this.#definitions.get(name);
    if (known === undefined || isEmpty(known)) this.#definitions.set(name, list);
    else if (!isEmpty(list)) throw this.#tokens.error(`template: multiple definition of template ${quoteString(name)}`);
  }

  /** definition: "define" string textOrAction* {{end}} */
  *#definition(): Steps<void> {
    const context = 'define clause';
    const name = this.#templateName(this.#tokens.nextNonSpace(), context);
    this.#tokens.expect('right delimiter', context);
    yield* this.#definitionBody(name, context);
  }

  *#definitionBody(name: string, context: string): Steps<void> {
    const outer = this.#body;
    this.#body = { variables: ['$'], rangeDepth: 0 };
    const [list, end] = yield* this.#itemList();
    if (end.type !== 'end') throw this.#tokens.error(`unexpected {{else}} in ${context}`, end.position);
    this.#define(name, list);
    this.#body = outer;
  }

  #templateName(token: Token, context: string): string {
    if (token.type !== 'string' && token.type !== 'raw string') throw this.#tokens.unexpected(token, context);
    return this.#unquoted(token);
  }

  #unquoted(token: Token): string {
    const text = unquote(token.value);
    if (text === undefined) throw this.#tokens.error('invalid syntax', token.position);
    return text;
  }

  /** itemList: textOrAction* ({{end}} | {{else}}) */
  *#itemList(): Steps<[ListNode, Terminator]> {
    const list: ListNode = { type: 'list', position: this.#tokens.peekNonSpace().position, nodes: [] };
    while (this.#tokens.peekNonSpace().type !== 'end of input') {
      const node = yield* this.#textOrAction();
      if (isTerminator(node)) return [list, node];
      list.nodes.push(node);
    }
    throw this.#tokens.error('unexpected EOF');
  }

  /** textOrAction: text | action */
  *#textOrAction(): Steps<StatementNode | Terminator> {
    this.#statements += 1;
    if (this.#statements % statementsPerStep === 0) yield;
    const token = this.#tokens.nextNonSpace();
    if (token.type === 'text') return { type: 'text', position: token.position, text: token.value };
    if (token.type !== 'left delimiter') throw this.#tokens.unexpected(token, 'input');
    this.#tokens.actionStart = token.position;
    const node = yield* this.#action();
    this.#tokens.actionStart = undefined;
    return node;
  }

  /** action: control | pipeline */
  *#action(): Steps<StatementNode | Terminator> {
    const token = this.#tokens.nextNonSpace();
    switch (token.type) {
      case 'block':
        return yield* this.#block();
      case 'break':
      case 'continue':
        return this.#jump(token.type, token.position);
      case 'else':
        return this.#else();
      case 'end':
        return { type: 'end', position: this.#tokens.expect('right delimiter', 'end').position };
      case 'if':
      case 'range':
      case 'with':
        return yield* this.#branch(token.type);
      case 'template':
        return this.#templateCall();
    }
    this.#tokens.pushBack(token);
    return { type: 'action', position: token.position, pipe: this.#pipeline('command', 'right delimiter') };
  }

  #jump(type: 'break' | 'continue', position: number): StatementNode {
    this.#tokens.expect('right delimiter', `{{${type}}}`);
    if (this.#body.rangeDepth === 0) throw this.#tokens.error(`{{${type}}} outside {{range}}`, position);
    return { type, position };
  }

  /** else: "else" (right delimiter | if … | with …); the `if` or `with` stays pending. */
  #else(): Terminator {
    const token = this.#tokens.peekNonSpace();
    if (token.type === 'if' || token.type === 'with') return { type: 'else', position: token.position };
    return { type: 'else', position: this.#tokens.expect('right delimiter', 'else').position };
  }

  /** branch: ("if" | "with" | "range") pipeline itemList ({{else}} itemList)? {{end}} */
  *#branch(type: BranchNode['type']): Steps<BranchNode> {
    const { variables } = this.#body;
    const visible = variables.length;
    const pipe = this.#pipeline(type, 'right delimiter');
    if (type === 'range') this.#body.rangeDepth += 1;
    this.#descend();
    const [list, end] = yield* this.#itemList();
    if (type === 'range') this.#body.rangeDepth -= 1;
    const elseList = end.type === 'else' ? yield* this.#elseList(type, end) : undefined;
    this.#ascend();
    variables.length = visible;
    return { type, position: pipe.position, pipe, list, elseList };
  }

  /** Parses {{else if}} or {{else with}} as an {{else}} whose branch shares the outer {{end}}. */
  *#elseList(type: BranchNode['type'], start: Terminator): Steps<ListNode> {
    if (type !== 'range' && this.#tokens.peek().type === type) {
      this.#tokens.next();
      return { type: 'list', position: start.position, nodes: [yield* this.#branch(type)] };
    }
    const [list, end] = yield* this.#itemList();
    if (end.type !== 'end') throw this.#tokens.error('expected end; found {{else}}', end.position);
    return list;
  }

  /** block: "block" string pipeline itemList {{end}}; a definition and its call. */
  *#block(): Steps<TemplateNode> {
    const context = 'block clause';
    const token = this.#tokens.nextNonSpace();
    const name = this.#templateName(token, context);
    const pipe = this.#pipeline(context, 'right delimiter');
    this.#descend();
    yield* this.#definitionBody(name, context);
    this.#ascend();
    return { type: 'template', position: token.position, name, pipe };
  }

  /** templateCall: "template" string pipeline? */
  #templateCall(): TemplateNode {
    const context = 'template clause';
    const token = this.#tokens.nextNonSpace();
    const name = this.#templateName(token, context);
    const isAlone = this.#tokens.peekNonSpace().type === 'right delimiter';
    if (isAlone) this.#tokens.next();
    const pipe = isAlone ? undefined : this.#pipeline(context, 'right delimiter');
    return { type: 'template', position: token.position, name, pipe };
  }

  /** pipeline: declarations? command ("|" command)* */
  #pipeline(context: string, end: TokenType): PipeNode {
    const pipe: PipeNode = {
      type: 'pipe',
      position: this.#tokens.peekNonSpace().position,
      isAssignment: false,
      declarations: [],
      commands: [],
    };
    this.#declarations(pipe, context);
    for (;;) {
      const token = this.#tokens.peekNonSpace();
      if (token.type === end) break;
      const operand = this.#operand();
      if (operand === undefined) throw this.#tokens.unexpected(token, context);
      pipe.commands.push(this.#command(token.position, operand));
    }
    this.#tokens.next();
    this.#checkPipeline(pipe, context);
    return pipe;
  }

  /** declarations: variable ("," variable)? (":=" | "=") */
  #declarations(pipe: PipeNode, context: string): void {
    while (this.#tokens.peekNonSpace().type === 'variable') {
      const variable = this.#tokens.next();
      const after = this.#tokens.peek();
      const next = this.#tokens.peekNonSpace();
      const assigns = next.type === 'assign' || next.type === 'declare';
      if (!assigns && !(next.type === 'char' && next.value === ',')) {
        // The variable is an argument. Keep the next space, which separates operands.
        if (after.type === 'space') this.#tokens.pushBack(after);
        this.#tokens.pushBack(variable);
        return;
      }
      this.#tokens.nextNonSpace();
      pipe.declarations.push({ type: 'variable', position: variable.position, names: [variable.value] });
      if (this.#body.variables.length >= mostVariables)
        throw this.#tokens.error(`more than ${mostVariables} variables`, variable.position);
      this.#body.variables.push(variable.value);
      if (assigns) {
        pipe.isAssignment = next.type === 'assign';
        return;
      }
      if (context !== 'range' || pipe.declarations.length > 1)
        throw this.#tokens.error(`too many declarations in ${context}`);
      if (!['variable', 'right delimiter', 'right parenthesis'].includes(this.#tokens.peekNonSpace().type)) {
        throw this.#tokens.error('range can only initialize variables');
      }
    }
  }

  #checkPipeline(pipe: PipeNode, context: string): void {
    if (pipe.commands.length === 0) throw this.#tokens.error(`missing value for ${context}`);
    const constant = pipe.commands.findIndex(
      ({ operands: [first] }, index) =>
        index > 0 && first !== undefined && ['boolean', 'dot', 'nil', 'number', 'string'].includes(first.type),
    );
    if (constant > 0) throw this.#tokens.error(`non executable command in pipeline stage ${constant + 1}`);
  }

  /** command: operand (space operand)* up to "|" (consumed), ")" or the right delimiter */
  #command(position: number, first: OperandNode): CommandNode {
    const operands = [first];
    let token = this.#tokens.next();
    for (; token.type === 'space'; token = this.#tokens.next()) {
      const operand = this.#operand();
      if (operand !== undefined) operands.push(operand);
      if (operands.length > mostOperands) throw this.#tokens.error(`more than ${mostOperands} operands`);
    }
    if (token.type === 'right delimiter' || token.type === 'right parenthesis') this.#tokens.pushBack(token);
    else if (token.type !== 'pipe') throw this.#tokens.unexpected(token, 'operand');
    return { type: 'command', position, operands };
  }

  /** operand: term field* */
  #operand(): OperandNode | undefined {
    const term = this.#term();
    if (term === undefined) return undefined;
    const { position, type } = this.#tokens.peek();
    if (type !== 'field') return term;
    const names: string[] = [];
    while (this.#tokens.peek().type === 'field') names.push(this.#tokens.next().value.slice(1));
    if (names.length > mostNames) throw this.#tokens.error(`more than ${mostNames} fields`, position);
    switch (term.type) {
      case 'field':
      case 'variable':
        return { type: term.type, position, names: [...term.names, ...names] };
      case 'boolean':
      case 'string':
      case 'number':
      case 'nil':
      case 'dot':
        throw this.#tokens.error(`unexpected . after term ${quoteString(printNode(term))}`, position);
      default:
        return { type: 'chain', position, node: term, names };
    }
  }

  /** term: literal | function | "." | field | variable | "(" pipeline ")" */
  #term(): OperandNode | undefined {
    const token = this.#tokens.nextNonSpace();
    const { position, value } = token;
    switch (token.type) {
      case 'identifier':
        if (!this.#options.isFunction(value)) throw this.#unknownFunction(token);
        return { type: 'identifier', position, name: value };
      case '.':
        return { type: 'dot', position };
      case 'nil':
        return { type: 'nil', position };
      case 'variable':
        if (!this.#body.variables.includes(value))
          throw this.#tokens.error(`undefined variable ${quoteString(value)}`, position);
        return { type: 'variable', position, names: [value] };
      case 'field':
        return { type: 'field', position, names: [value.slice(1)] };
      case 'boolean':
        return { type: 'boolean', position, value: value === 'true' };
      case 'characterConstant':
      case 'complex':
      case 'number':
        return this.#number(token);
      case 'left parenthesis':
        return this.#parenthesized();
      case 'string':
      case 'raw string':
        return { type: 'string', position, quoted: value, text: this.#unquoted(token) };
      default:
        this.#tokens.pushBack(token);
        return undefined;
    }
  }

  #parenthesized(): PipeNode {
    this.#descend();
    const pipe = this.#pipeline('parenthesized pipeline', 'right parenthesis');
    this.#ascend();
    return pipe;
  }

  #number(token: Token): OperandNode {
    const value = token.type === 'characterConstant' ? parseRune(token.value) : parseNumber(token.value);
    if (typeof value === 'string') throw this.#tokens.error(value, token.position);
    return { type: 'number', position: token.position, text: token.value, value };
  }

  #unknownFunction(token: Token): TemplateError {
    const { unavailable, functionNames } = this.#options;
    if (Object.hasOwn(unavailable, token.value)) {
      return this.#tokens.error(
        `function ${quoteString(token.value)} not defined: it ${String(unavailable[token.value])}`,
        token.position,
      );
    }
    const nearest = nearestName(token.value, functionNames());
    const hint = nearest === undefined ? '' : `; did you mean ${quoteString(nearest)}?`;
    return this.#tokens.error(`function ${quoteString(token.value)} not defined${hint}`, token.position);
  }
}

/** Reports whether a body has only white space (the lexer has removed comments). */
function isEmpty(list: ListNode): boolean {
  return list.nodes.every((node) => node.type === 'text' && node.text.trim() === '');
}

/** The maximum length of an unknown name for which the parser suggests a function. */
const longestName = 64;

/** Returns the most similar known name that differs in at most a third of the length. */
function nearestName(unknown: string, known: readonly string[]): string | undefined {
  // The comparison takes time proportional to both lengths, for hundreds of names.
  if (unknown.length > longestName) return undefined;
  const lowered = unknown.toLowerCase();
  let nearest: string | undefined;
  let least = Math.max(1, Math.floor(unknown.length / 3)) + 1;
  for (const name of known) {
    const distance = edits(lowered, name.toLowerCase());
    if (distance < least) {
      nearest = name;
      least = distance;
    }
  }
  return nearest;
}
